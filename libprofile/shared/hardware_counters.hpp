// Whether the kernel lets this process use the processor's counters.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace halcyon {

/// 0, or the error of counting instructions: EACCES and EPERM where the user may not, others where the machine cannot.
inline int error_of_hardware_counters() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  const long file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL);
  if (file < 0) return errno;
  syscall(SYS_close, file);
  return 0;
}

}  // namespace halcyon
