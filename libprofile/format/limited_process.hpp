// Work on files that come from elsewhere, by libraries that crash, loop or take all memory on damaged ones.
#pragma once

#include <cstdint>
#include <functional>

namespace halcyon {

struct ProcessLimits {
  std::uint64_t memory_bytes = 0;  // beyond what this process has
  std::uint64_t cpu_seconds = 0;
  unsigned seconds = 0;  // in all; 0: as long as it takes
};

/// Calls `work` in a process of its own, with the end of a pipe to write to, and `receive` in this one with the other end.
/// However the process ends, `receive` sees the end of what it wrote. Returns errno where no process can be started, and
/// `receive` is not called then; else 0.
int in_limited_process(const ProcessLimits& limits, const std::function<void(int to)>& work,
                       const std::function<void(int from)>& receive);

}  // namespace halcyon
