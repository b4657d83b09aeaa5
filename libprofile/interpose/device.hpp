// What device.table uses of OpenCL, CUDA and HIP, without their headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
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

/// What one call gives to a device at most; more is a mistake of the program. So their sums do not overflow.
constexpr std::uint64_t most_of_a_call = std::uint64_t{1} << 48;

/// The product of some sizes.
template <class Size>
constexpr std::uint64_t product_of(const Size* sizes, std::size_t count) {
  double product = 1.0;
  for (std::size_t i = 0; i < count; ++i) product *= static_cast<double>(sizes[i]);
  return product < static_cast<double>(most_of_a_call) ? static_cast<std::uint64_t>(product) : most_of_a_call;
}

/// Work items of a launch.
constexpr std::uint64_t items(DeviceDimensions grid, DeviceDimensions block) {
  const unsigned sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  return product_of(sizes, std::size(sizes));
}
inline std::uint64_t items(unsigned dimensions, const std::size_t* sizes) {
  return sizes != nullptr && dimensions <= 3 ? product_of(sizes, dimensions) : 0;
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
