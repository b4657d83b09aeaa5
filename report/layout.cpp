#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "libprofile/format/outcome.hpp"

namespace halcyon {
namespace {

constexpr std::size_t content_width = 100 - label_width;

// Columns on a terminal, of texts that have no wide characters.
std::size_t columns_of(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

}  // namespace

std::string wrapped(std::string_view label, std::string content) {
  content = one_line(std::move(content));
  std::string lines = fmt::format("  {:<{}}", label, label_width);
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < content.size()) {
    const std::size_t space = std::min(content.find(' ', at), content.size());
    const std::size_t width = columns_of(std::string_view(content).substr(at, space - at));
    if (used > 0 && used + 1 + width > content_width) {
      lines += fmt::format("\n  {:<{}}", "", label_width);
      used = 0;
    }
    if (used > 0) {
      lines += ' ';
      ++used;
    }
    lines.append(content, at, space - at);
    used += width;
    at = space + 1;
  }
  return lines + "\n";
}

}  // namespace halcyon
