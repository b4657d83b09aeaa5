// Where a profile goes, value by value: to another process (stream.hpp), into a file, or into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libprofile/format/element.hpp"

namespace halcyon {

/// A sink that has failed ignores further values; its owner asks it for the failure at the end.
class Sink {
 public:
  void attribute(std::string_view name, std::string_view value) {
    put(FrameKind::text, ElementType::text, name, value.data(), value.size());
  }
  void attribute(std::string_view name, std::int64_t value) {
    put(FrameKind::integer, ElementType::u64, name, &value, sizeof value);
  }
  void attribute(std::string_view name, double value) {
    put(FrameKind::real, ElementType::f64, name, &value, sizeof value);
  }
  /// The next values of a column. Texts are each ended by a NUL.
  void column(std::string_view name, ElementType type, const void* data, std::size_t bytes) {
    put(FrameKind::column, type, name, data, bytes);
  }

 protected:
  ~Sink() = default;

 private:
  virtual void put(FrameKind kind, ElementType element, std::string_view name, const void* data, std::size_t bytes) = 0;
};

}  // namespace halcyon
