// One recorded call of a device's library in libhalcyon.so. The notes of device.table are its member functions.
#pragma once

#include <algorithm>

#include "libprofile/interpose/device.hpp"
#include "libprofile/wrappers/recorded_call.hpp"

namespace halcyon {

/// Only calls of the application's threads count, not those of threads that MPI has started. The library may run what
/// it is given on threads of its own in this process, which make no such calls.
class RecordedDeviceCall : public RecordedCall {
 public:
  explicit RecordedDeviceCall(Caller caller) noexcept
      : RecordedCall(CallClass::device, caller, [](const ThreadState& thread) { return thread.is_application; }) {}

  // -- the notes of the table

  void launched(std::uint64_t items) {
    note(Feature::device_launches, 1);
    give(Feature::device_items, items);
  }
  void copied(std::uint64_t bytes) { give(Feature::device_bytes, std::min(bytes, most_of_a_call)); }
  void waited(bool is_over = true) {
    if (is_over) wait_for_given();
  }
};

}  // namespace halcyon
