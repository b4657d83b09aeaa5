// Runs work on untrusted files in a limited process: libraries may crash, loop or take all memory on damaged ones.
#pragma once

#include <cstdint>
#include <functional>

namespace halcyon {

struct ProcessLimits {
  std::uint64_t memory_bytes = 0;  // beyond those of this process
  std::uint64_t cpu_seconds = 0;
  unsigned seconds = 0;  // wall time; 0: no limit
};

/// Calls `work` in a separate process with the write end of a pipe, and `receive` in this one with the read end.
/// However the process ends, `receive` sees the end of its output. Returns 0, or errno if no process can be started;
/// `receive` is not called then.
int in_limited_process(const ProcessLimits& limits, const std::function<void(int to)>& work,
                       const std::function<void(int from)>& receive);

}  // namespace halcyon
