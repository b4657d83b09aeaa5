#include "cli/disturbers/two_hosts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/memfd.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/disturbers/bound_process.hpp"
#include "cli/launch/job.hpp"
#include "cli/launch/program.hpp"

namespace halcyon::cli {
namespace {

constexpr std::array host_names{"host-a", "host-b"};
constexpr std::array addresses{"10.0.0.1", "10.0.0.2"};
// The longest time that a message waits behind a stream: the length of the link's queue.
constexpr const char* link_speed = "1gbit";
constexpr const char* longest_wait_in_queue = "1ms";

Outcome<pid_t> make_host(const char* name) {
  return start_bound(
      [name]() -> Status {
        if (unshare(CLONE_NEWNET | CLONE_NEWUTS) != 0 || sethostname(name, std::strlen(name)) != 0) {
          return Failure{std::string("cannot make a network namespace: ") + std::strerror(errno) +
                         (errno == EPERM ? " (needs root)" : "")};
        }
        return Done{};
      },
      [] {
        for (;;) pause();
      });
}

std::string namespaces_of(pid_t process, const char* kind) { return fmt::format("/proc/{}/ns/{}", process, kind); }

std::vector<std::string> in_host(pid_t keeper, std::vector<std::string> command) {
  std::vector<std::string> words{"nsenter", "--net=" + namespaces_of(keeper, "net"),
                                 "--uts=" + namespaces_of(keeper, "uts"), "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// ip and tc print nothing on success.
Status run_silently(const std::vector<std::string>& command) {
  const std::string said = output_of(command);
  return said.empty() ? Status(Done{}) : Status(Failure{"cannot make a network link: " + said});
}

Status join(pid_t first, pid_t second) {
  const auto number = [](pid_t process) { return std::to_string(process); };
  if (Status made = run_silently({"ip", "link", "add", "name", "wire", "netns", number(first), "type", "veth", "peer",
                                  "name", "wire", "netns", number(second)});
      !made) {
    return made;
  }
  for (std::size_t host = 0; host < 2; ++host) {
    const pid_t keeper = host == 0 ? first : second;
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"ip", "link", "set", "lo", "up"},
          {"ip", "address", "add", std::string(addresses[host]) + "/24", "dev", "wire"},
          {"ip", "link", "set", "wire", "up"},
          {"tc", "qdisc", "add", "dev", "wire", "root", "tbf", "rate", link_speed, "burst", "128kb", "latency",
           longest_wait_in_queue}}) {
      if (Status done = run_silently(in_host(keeper, command)); !done) return done;
    }
  }
  return Done{};
}

// A file in memory, so that nothing is left behind. Other processes find it below /proc as long as this one lives.
int file_in_memory(const std::string& text) {
  // By its system call, since glibc has a function for it only since 2.27.
  const int made = static_cast<int>(syscall(SYS_memfd_create, "halcyon", MFD_CLOEXEC));
  if (made < 0) return -1;
  const bool written = write(made, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  // A file that is open for writing cannot be executed, so it is opened again.
  const std::string itself = "/proc/self/fd/" + std::to_string(made);
  const int readable = written ? open(itself.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  close(made);
  return readable;
}

std::string path_for_others(int file) { return fmt::format("/proc/{}/fd/{}", getpid(), file); }

}  // namespace

Outcome<TwoHosts> TwoHosts::make() {
  for (const char* needed : {"ip", "tc", "nsenter"}) {
    if (!found_program(needed)) {
      return Failure{fmt::format(
          "the network cannot be disturbed here: there is no '{}' (Debian: iproute2 and util-linux)", needed)};
    }
  }
  const auto failed = [](const Failure& why) {
    return Failure{"the network cannot be disturbed here: " + why.message};
  };
  TwoHosts hosts;
  for (std::size_t host = 0; host < 2; ++host) {
    const Outcome<pid_t> keeper = make_host(host_names[host]);
    if (!keeper) return failed(keeper.failure());
    hosts.keepers_[host] = *keeper;
  }
  if (const Status joined = join(hosts.keepers_[0], hosts.keepers_[1]); !joined) return failed(joined.failure());
  // mpirun calls the script as it would call ssh: HOST COMMAND...
  hosts.agent_ = file_in_memory(
      fmt::format("#!/bin/sh\nshift\nexec {} sh -c \"$*\"\n", fmt::join(in_host(hosts.keepers_[1], {}), " ")));
  hosts.host_list_ = file_in_memory(fmt::format("{} slots=512\n{} slots=512\n", addresses[0], addresses[1]));
  if (hosts.agent_ < 0 || hosts.host_list_ < 0) return failed({std::string("memfd_create: ") + std::strerror(errno)});
  return hosts;
}

TwoHosts::TwoHosts(TwoHosts&& other) noexcept
    : keepers_{std::exchange(other.keepers_[0], -1), std::exchange(other.keepers_[1], -1)},
      agent_(std::exchange(other.agent_, -1)),
      host_list_(std::exchange(other.host_list_, -1)) {}

TwoHosts::~TwoHosts() {
  for (const pid_t keeper : keepers_) end_bound(keeper);
  for (const int file : {agent_, host_list_}) {
    if (file >= 0) close(file);
  }
}

std::vector<std::string> TwoHosts::launch_prefix() const {
  return in_host(keepers_[0], {"env", "OMPI_MCA_plm_rsh_agent=" + path_for_others(agent_),
                               "OMPI_MCA_orte_default_hostfile=" + path_for_others(host_list_),
                               // Ranks alternate between the hosts. No binding: each host would bind its first rank to
                               // the same core.
                               "OMPI_MCA_rmaps_base_mapping_policy=node", "OMPI_MCA_hwloc_base_binding_policy=none",
                               // These layers only: others would find a way past the namespaces.
                               "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,vader,self"});
}

std::string TwoHosts::network_of(int host) const { return namespaces_of(keepers_[host], "net"); }

const char* TwoHosts::address_of(int host) { return addresses[static_cast<std::size_t>(host)]; }

}  // namespace halcyon::cli
