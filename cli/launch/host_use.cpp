#include "cli/launch/host_use.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>

#include "cli/launch/kernel_counts.hpp"
#include "libprofile/system/legible.hpp"

namespace halcyon::cli {
namespace {

// Of a look. The kernel counts in steps of 10 ms.
constexpr auto shortest = std::chrono::milliseconds(50);
constexpr std::size_t most_named = 3;
constexpr double least_named = 0.1;  // cores

using std::chrono::steady_clock;

double seconds_between(steady_clock::time_point then, steady_clock::time_point now) {
  return std::chrono::duration<double>(now - then).count();
}

double own_seconds() {
  double seconds = 0.0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return seconds;
}

// Whether another thread than this one runs now, or some did in the last minute: an idle host is not worth a wait.
bool others_run() {
  std::ifstream file("/proc/loadavg");
  double in_last_minute = 0.0;
  double in_last_five = 0.0;
  double in_last_fifteen = 0.0;
  int now = 0;
  if (!(file >> in_last_minute >> in_last_five >> in_last_fifteen >> now)) return true;
  return now > 1 || in_last_minute >= least_worth_telling;
}

std::vector<ProgramUse> programs_that_run() {
  const auto nobody = [](pid_t) { return false; };
  const auto began = steady_clock::now();
  std::map<pid_t, double> before;
  for (const Sample& sample : samples_now(nobody)) before[sample.process] = sample.cpu_seconds;
  std::this_thread::sleep_for(shortest);
  std::map<std::string, double> used;
  for (const Sample& sample : samples_now(nobody)) {
    const auto then = before.find(sample.process);
    if (sample.process == getpid() || then == before.end()) continue;
    used[sample.name] += sample.cpu_seconds - then->second;
  }
  const double seconds = seconds_between(began, steady_clock::now());
  std::vector<ProgramUse> programs;
  for (const auto& [program, by_program] : used) {
    if (by_program >= least_named * seconds) programs.push_back({program, by_program / seconds});
  }
  std::ranges::stable_sort(programs, std::ranges::greater(), &ProgramUse::cores);
  return programs;
}

}  // namespace

std::string in_words(const HostUse& use) {
  if (use.cpus == 0) return "how busy it is cannot be seen without /proc";
  std::string words = fmt::format("{:.1f} of {} cores are in use", use.cores, use.cpus);
  for (std::size_t i = 0; i < std::min(most_named, use.programs.size()); ++i) {
    words += fmt::format("{}{} {:.1f}", i == 0 ? ": " : ", ", legible(use.programs[i].program), use.programs[i].cores);
  }
  return use.programs.size() > most_named ? words + fmt::format(", and {} more", use.programs.size() - most_named)
                                          : words;
}

LookAtHost::Counted LookAtHost::counted() {
  Counted counted{.own_seconds = own_seconds()};
  const std::map<int, CpuUse> use = use_of_cpus("/proc");
  counted.at = steady_clock::now();  // a busy host may have kept this process waiting until here
  counted.cpus = static_cast<int>(use.size());
  for (const auto& [cpu, of_cpu] : use) counted.used_seconds += of_cpu.used + of_cpu.stolen;
  return counted;
}

LookAtHost::LookAtHost() : before_(counted()) {}

HostUse LookAtHost::use() const {
  if (!others_run()) return {.cpus = before_.cpus};
  std::this_thread::sleep_until(before_.at + shortest);
  const Counted now = counted();
  if (now.cpus == 0) return {};
  const double used = (now.used_seconds - before_.used_seconds) - (now.own_seconds - before_.own_seconds);
  HostUse use{.cores = std::clamp(used / seconds_between(before_.at, now.at), 0.0, static_cast<double>(now.cpus)),
              .cpus = now.cpus};
  if (use.is_busy()) use.programs = programs_that_run();
  return use;
}

}  // namespace halcyon::cli
