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
  virtual void attribute(std::string_view name, std::string_view value) = 0;
  virtual void attribute(std::string_view name, std::int64_t value) = 0;
  virtual void attribute(std::string_view name, double value) = 0;
  /// The next values of a column. Each text ends with a NUL.
  virtual void column(std::string_view name, ElementType type, const void* data, std::size_t bytes) = 0;

 protected:
  ~Sink() = default;
};

}  // namespace halcyon
