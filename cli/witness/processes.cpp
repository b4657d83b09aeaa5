#include "cli/witness/processes.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>

#include "cli/launch/kernel_counts.hpp"
#include "libprofile/system/legible.hpp"

namespace halcyon::cli {
namespace {

// Empty if it has ended, also while it is read.
std::string contents_of(pid_t process, const char* name) {
  const std::ifstream file(fmt::format("/proc/{}/{}", process, name));
  std::ostringstream contents;
  contents << file.rdbuf();
  return std::move(contents).str();
}

std::string_view digits_after(std::string_view text, std::string_view beginning) {
  const std::size_t found = text.find(beginning);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = text.substr(found + beginning.size());
  return rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
}

bool has_rank(const std::string& environment) {
  constexpr std::array names{"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK="};
  return std::ranges::any_of(names, [&](std::string_view name) {
    const std::size_t at = environment.find(name);
    return at != std::string::npos && (at == 0 || environment[at - 1] == '\0');
  });
}

std::string user_of(pid_t process) {
  struct stat state {};
  if (stat(fmt::format("/proc/{}", process).c_str(), &state) != 0) return {};
  const passwd* const entry = getpwuid(state.st_uid);
  return entry != nullptr ? entry->pw_name : std::to_string(state.st_uid);
}

}  // namespace

std::string job_in(std::string_view control_group) {
  for (const std::string_view beginning : {"/job_", "/slurm-", "/pbs_jobs/", "/pbs_jobs.service/jobid/", "/sge_"}) {
    const std::string_view job = digits_after(control_group, beginning);
    if (!job.empty()) return std::string(job);
  }
  return {};
}

std::string service_in(std::string_view control_group) {
  constexpr std::string_view ending = ".service";
  const std::size_t end = control_group.rfind(ending);
  if (end == std::string_view::npos) return {};
  const std::size_t begin = control_group.rfind('/', end);
  return std::string(control_group.substr(begin + 1, end - begin - 1));
}

Processes::Known Processes::read(pid_t process) {
  Known known;
  const std::string state = contents_of(process, "stat");
  const std::size_t name_ends = state.rfind(')');
  if (name_ends == std::string::npos) return known;
  known.is_new = false;
  known.program = legible(state.substr(state.find('(') + 1, name_ends - state.find('(') - 1));
  std::istringstream rest(state.substr(name_ends + 1));
  char letter = 0;
  pid_t group = 0;
  pid_t session = 0;
  int terminal = 0;
  int terminal_group = 0;
  unsigned flags = 0;
  rest >> letter >> known.parent >> group >> session >> terminal >> terminal_group >> flags;
  constexpr unsigned kernel_thread = 0x00200000;  // PF_KTHREAD
  known.is_kernel = (flags & kernel_thread) != 0;
  if (known.is_kernel) return known;
  known.user = user_of(process);
  const std::string groups = contents_of(process, "cgroup");
  known.job = job_in(groups);
  known.service = service_in(groups);
  known.is_rank = has_rank(contents_of(process, "environ"));
  return known;
}

Processes::Processes(pid_t ancestor) : ancestor_(ancestor) {
  for (const pid_t process : processes_now()) known_[process] = read(process);
  if (ancestor_ == 0) return;
  for (auto& [process, one] : known_) {
    for (pid_t above = one.parent; above > 0 && !one.is_below;) {
      one.is_below = above == ancestor_;
      const auto parent = known_.find(above);
      above = parent == known_.end() ? 0 : parent->second.parent;
    }
  }
}

void Processes::add(const Forked& forked) {
  const auto parent = known_.find(forked.parent);
  Known& one = known_[forked.process];
  one = parent != known_.end() ? parent->second : Known{};
  one.is_below = one.is_below || forked.parent == ancestor_;
}

void Processes::add(const Renamed& renamed) {
  Known& one = known_[renamed.process];
  one.program = legible(renamed.name);
  one.is_new = true;
}

void Processes::see(pid_t process, const std::string& name) {
  if (known_[process].program != legible(name)) add(Renamed{process, name});
}

// What has ended meanwhile keeps what its parent had.
Processes::Known& Processes::known(pid_t process) {
  Known& one = known_[process];
  if (!one.is_new) return one;
  one.is_new = false;
  Known now = read(process);
  if (now.program.empty()) return one;
  const auto parent = known_.find(now.parent);
  now.is_below = one.is_below ||
                 (ancestor_ != 0 && (now.parent == ancestor_ || (parent != known_.end() && parent->second.is_below)));
  one = std::move(now);
  return one;
}

void Processes::forget_ended() {
  std::erase_if(known_, [](const auto& entry) { return kill(entry.first, 0) != 0 && errno == ESRCH; });
  jobs_of_ranks_.reset();
}

bool Processes::is_watched(pid_t process) { return process > 0 && is_watched(known(process)); }

// Of the batch system; found once, when it is first asked.
const std::set<std::string>& Processes::jobs_of_ranks() {
  if (jobs_of_ranks_) return *jobs_of_ranks_;
  jobs_of_ranks_.emplace();
  for (const auto& [process, one] : known_) {
    if (is_watched(one) && !one.job.empty()) jobs_of_ranks_->insert(one.job);
  }
  return *jobs_of_ranks_;
}

Party Processes::party_of(pid_t process) {
  if (process == 0) return {.whose = PartyKind::nobody};
  const Known& one = known(process);
  Party party{.program = one.program, .user = one.user, .job = one.job, .service = one.service};
  if (one.is_kernel) {
    party.whose = PartyKind::kernel;
  } else if (is_watched(one)) {
    party.whose = PartyKind::ranks;
  } else if (one.is_below || process == ancestor_ || jobs_of_ranks().contains(one.job)) {
    party.whose = PartyKind::own_job;
  } else if (!one.job.empty()) {
    party.whose = PartyKind::other_job;
  } else if (!one.service.empty()) {
    party.whose = PartyKind::service;
  }
  return party;
}

}  // namespace halcyon::cli
