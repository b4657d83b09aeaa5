// A thin layer over HDF5's C API: handles that close themselves. Nothing outside libprofile/format includes it.
#pragma once

#include <hdf5.h>

#include <utility>

#include "libprofile/format/stream.hpp"

namespace halcyon::hdf5 {

template <herr_t (*close)(hid_t)>
class Handle {
 public:
  explicit Handle(hid_t id = H5I_INVALID_HID) : id_(id) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  /// Closes; false if HDF5 could not flush what the handle held.
  bool reset() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close(id) >= 0;
  }

 private:
  hid_t id_;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Dataspace = Handle<H5Sclose>;
using Datatype = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using PropertyList = Handle<H5Pclose>;

/// The HDF5 type of a column's numbers; invalid for texts.
inline hid_t memory_type(ElementType type) {
  switch (type) {
    case ElementType::u8: return H5T_NATIVE_UINT8;
    case ElementType::u16: return H5T_NATIVE_UINT16;
    case ElementType::u32: return H5T_NATIVE_UINT32;
    case ElementType::u64: return H5T_NATIVE_UINT64;
    case ElementType::f32: return H5T_NATIVE_FLOAT;
    case ElementType::f64: return H5T_NATIVE_DOUBLE;
    case ElementType::text: break;
  }
  return H5I_INVALID_HID;
}

/// Called before the first use. Turns off HDF5's printed error stacks, since Halcyon reports an error in one line. Also
/// turns off HDF5's exit handler, which crashes on a file whose last flush failed (a full disk); Halcyon closes
/// everything itself.
inline void prepare() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace halcyon::hdf5
