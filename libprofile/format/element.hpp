// The types of a column's values, in files and between processes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halcyon {

/// A sender that has to give up sends `failure` last, instead of `end`.
enum class FrameKind : std::uint8_t { text, integer, real, column, end, failure };
enum class ElementType : std::uint8_t { u8, u16, u32, u64, f32, f64, text };

constexpr std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::u8:
    case ElementType::text: return 1;
    case ElementType::u16: return 2;
    case ElementType::u32:
    case ElementType::f32: return 4;
    case ElementType::u64:
    case ElementType::f64: return 8;
  }
  return 1;
}

template <class T>
constexpr ElementType element_type_of();
template <>
constexpr ElementType element_type_of<std::uint8_t>() {
  return ElementType::u8;
}
template <>
constexpr ElementType element_type_of<std::uint16_t>() {
  return ElementType::u16;
}
template <>
constexpr ElementType element_type_of<std::uint32_t>() {
  return ElementType::u32;
}
template <>
constexpr ElementType element_type_of<std::uint64_t>() {
  return ElementType::u64;
}
template <>
constexpr ElementType element_type_of<float>() {
  return ElementType::f32;
}
template <>
constexpr ElementType element_type_of<double>() {
  return ElementType::f64;
}

}  // namespace halcyon
