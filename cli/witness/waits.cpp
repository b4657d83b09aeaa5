#include "cli/witness/waits.hpp"

#include <algorithm>

namespace halcyon::cli {

// What has run since the last count had the CPU.
void WaitsForCpus::count(Cpu& cpu, std::uint64_t now) {
  for (Waiting& waiting : cpu.waiting) {
    const std::uint64_t since = std::max(waiting.since, cpu.running.since);
    if (now > since) seconds_[cpu.running.thread.process] += 1e-9 * static_cast<double>(now - since);
    waiting.since = std::max(waiting.since, now);
  }
  cpu.running.since = std::max(cpu.running.since, now);
}

void WaitsForCpus::stop_waiting(pid_t thread, std::uint64_t now) {
  const auto found = waits_on_.find(thread);
  if (found == waits_on_.end()) return;
  Cpu& cpu = cpus_[found->second];
  count(cpu, now);
  std::erase_if(cpu.waiting, [thread](const Waiting& one) { return one.thread.number == thread; });
  waits_on_.erase(found);
}

void WaitsForCpus::add(const Switch& one) {
  Cpu& cpu = cpus_[one.cpu];
  const bool is_first = cpu.running.since == 0;
  if (is_first) cpu.running = {one.before, one.nanoseconds};
  count(cpu, one.nanoseconds);
  stop_waiting(one.after.number, one.nanoseconds);
  cpu.running = {one.after, one.nanoseconds};
  if (!one.is_preempted || !is_watched_(one.before.process)) return;
  stop_waiting(one.before.number, one.nanoseconds);
  cpu.waiting.push_back({one.before, one.nanoseconds});
  waits_on_[one.before.number] = one.cpu;
}

void WaitsForCpus::end(std::uint64_t nanoseconds) {
  for (auto& [number, cpu] : cpus_) count(cpu, nanoseconds);
}

}  // namespace halcyon::cli
