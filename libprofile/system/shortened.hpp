// Long texts in messages and in names.
#pragma once

#include <cstddef>
#include <string>

namespace halcyon {

/// The text, or its beginning and "…" if it has more than `most` bytes. A letter of UTF-8 is not divided.
inline std::string shortened(std::string text, std::size_t most) {
  constexpr char dots[] = " …";
  if (text.size() <= most) return text;
  std::size_t end = most - (sizeof dots - 1);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + dots;
}

}  // namespace halcyon
