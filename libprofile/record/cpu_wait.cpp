#include "libprofile/record/cpu_wait.hpp"

#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/thread_times.hpp"

namespace halcyon {

void CpuWait::begin(double ticks_per_nanosecond) {
  ticks_per_nanosecond_ = ticks_per_nanosecond;
  const auto ticks = [=](double nanoseconds) {
    return Ticks{static_cast<std::uint64_t>(nanoseconds * ticks_per_nanosecond)};
  };
  least_off_cpu_ = ticks(off_cpu_for_asking * reading_schedstat_ns);
  least_off_cpu_to_open_ = ticks(off_cpu_for_asking * opening_schedstat_ns);
}

void CpuWait::restart(CpuWaitOfThread& thread, Ticks off_cpu) {
  thread.off_cpu = off_cpu;
  thread.was_asked = true;
  if (const std::optional<std::uint64_t> now = waited()) thread.waited = *now;
}

Ticks CpuWait::ask(CpuWaitOfThread& thread, Ticks off_cpu) {
  if (direct::thread_id() != thread_ && least_off_cpu_to_open_ > off_cpu - thread.off_cpu) return {};
  const std::uint64_t before = thread.waited;
  restart(thread, off_cpu);
  return {static_cast<std::uint64_t>(static_cast<double>(thread.waited - before) * ticks_per_nanosecond_)};
}

std::optional<std::uint64_t> CpuWait::waited() {
  if (const int thread = direct::thread_id(); thread != thread_ || !file_.is_still_ours()) {
    file_ = OwnDescriptor(direct::open("/proc/thread-self/schedstat", O_RDONLY));
    thread_ = thread;
  }
  return cpu_wait_in(file_.number());
}

}  // namespace halcyon
