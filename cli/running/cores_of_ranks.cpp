#include "cli/running/cores_of_ranks.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace halcyon::cli {
namespace {

// "0-3,8": see cpuset(7).
std::set<int> cpus_in(const std::string& list) {
  std::set<int> cpus;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    int last = 0;
    char dash = 0;
    std::istringstream words(range);
    if (!(words >> first)) continue;
    if (!(words >> dash >> last)) last = first;
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

double sum_of(const std::map<int, double>& values) {
  double sum = 0.0;
  for (const auto& [key, value] : values) sum += value;
  return sum;
}

}  // namespace

CoresOfRanks::CoresOfRanks(const std::vector<pid_t>& ranks, double now, std::string proc)
    : proc_(std::move(proc)), looked_(now) {
  for (const pid_t process : ranks) is_nice_ = is_nice_ || getpriority(PRIO_PROCESS, static_cast<id_t>(process)) > 0;
  for (const pid_t process : ranks) {
    Rank rank{.process = process, .cpus = {}, .threads = {}};
    rank.threads = times_of_threads(proc_, process);
    rank.cpus = cpus_of(rank);
    ranks_.push_back(std::move(rank));
  }
  used_of_cpu_ = used_of_cpus();
}

std::set<int> CoresOfRanks::cpus_of(const Rank& rank) const {
  constexpr std::string_view key = "Cpus_allowed_list:";
  std::set<int> cpus;
  for (const std::filesystem::path& thread : threads_in(proc_, rank.process)) {
    std::ifstream file(thread / "status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(key)) cpus.merge(cpus_in(line.substr(key.size())));
    }
  }
  return cpus;
}

std::set<int> CoresOfRanks::cpus() const {
  std::set<int> all;
  for (const Rank& rank : ranks_) all.insert(rank.cpus.begin(), rank.cpus.end());
  return all;
}

double CoresOfRanks::waited_share(double now) {
  struct OnTheSameCores {
    double ran = 0.0;
    double longest_wait = 0.0;
  };
  const double seconds = now - std::exchange(looked_, now);
  std::map<std::set<int>, OnTheSameCores> shared;
  double demanded = 0.0;
  for (Rank& rank : ranks_) {
    const auto before = std::exchange(rank.threads, times_of_threads(proc_, rank.process));
    if (rank.threads.size() != before.size()) rank.cpus = cpus_of(rank);
    OnTheSameCores& one = shared[rank.cpus];
    for (const auto& [thread, times] : rank.threads) {
      const auto found = before.find(thread);
      if (found == before.end()) continue;
      const double ran = times.ran - found->second.ran;
      const double waited = times.waited - found->second.waited;
      one.ran += ran;
      one.longest_wait = std::max(one.longest_wait, waited);
      demanded += ran + waited;
    }
  }
  const std::map<int, double> used_before = std::exchange(used_of_cpu_, used_of_cpus());
  if (!(seconds > 0.0)) return 0.0;
  demand_ = std::min(demanded / seconds, static_cast<double>(cpus().size()));
  double share = 0.0;
  for (const auto& [cpus, one] : shared) {
    double used = 0.0;
    for (const int cpu : cpus) {
      if (used_before.contains(cpu)) used += used_of_cpu_[cpu] - used_before.at(cpu);
    }
    const double left = static_cast<double>(cpus.size()) - one.ran / seconds;
    share = std::max(share, std::min({one.longest_wait / seconds, left, (used - one.ran) / seconds}));
  }
  return share;
}

// A program of lower priority than the ranks leaves the cores to them.
std::map<int, double> CoresOfRanks::used_of_cpus() const {
  const std::set<int> wanted = cpus();
  std::map<int, double> seconds;
  for (const auto& [cpu, use] : use_of_cpus(proc_)) {
    if (wanted.contains(cpu)) seconds[cpu] = use.used - (is_nice_ ? 0.0 : use.nice);
  }
  return seconds;
}

void CoresOfRanks::stand_still(double now) {
  used_of_cpu_ = used_of_cpus();
  looked_ = now;
  are_wanted_ = true;
}

bool CoresOfRanks::are_wanted(double now, double tolerance, double window) {
  const double seconds = now - looked_;
  if (seconds < window) return are_wanted_;
  const double before = sum_of(std::exchange(used_of_cpu_, used_of_cpus()));
  looked_ = now;
  const double free_without_waiting = static_cast<double>(cpus().size()) - demand_;
  are_wanted_ = (sum_of(used_of_cpu_) - before) / seconds > free_without_waiting + tolerance * demand_;
  return are_wanted_;
}

}  // namespace halcyon::cli
