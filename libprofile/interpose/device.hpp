// What device.table uses of OpenCL, CUDA and HIP, without their headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace halcyon {

/// CUDA's and HIP's dim3.
struct DeviceDimensions {
  unsigned x, y, z;
};
/// How cudaLaunchConfig_t and CUlaunchConfig begin.
struct DeviceLaunch {
  DeviceDimensions grid, block;
};

/// CL_EVENT_COMMAND_EXECUTION_STATUS. The status is CL_COMPLETE (0) at the end, or negative after an error.
constexpr unsigned cl_event_status = 0x11D3;
inline bool is_complete(const void* status) { return status != nullptr && *static_cast<const int*>(status) <= 0; }

/// Work items of a launch.
constexpr std::uint64_t items(DeviceDimensions grid, DeviceDimensions block) {
  return std::uint64_t{1} * grid.x * grid.y * grid.z * block.x * block.y * block.z;
}
inline std::uint64_t items(unsigned dimensions, const std::size_t* sizes) {
  std::uint64_t product = 1;
  for (unsigned i = 0; i < dimensions && sizes != nullptr; ++i) product *= sizes[i];
  return product;
}

/// Whether a call succeeded, by its result: an error code, or what was mapped.
template <class Result>
bool device_succeeded(Result result) {
  if constexpr (std::is_pointer_v<Result>)
    return result != nullptr;
  else
    return result == 0;
}

}  // namespace halcyon
