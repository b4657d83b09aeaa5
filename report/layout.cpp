#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libprofile/system/outcome.hpp"

namespace halcyon {
namespace {

constexpr std::size_t page_width = 80;

// "%" or "ms", also with punctuation after it.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 5> units{"%", "s", "ms", "µs", "ns"};
  while (!word.empty() && std::string_view(",;:.)").find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  return std::find(units.begin(), units.end(), word) != units.end();
}

}  // namespace

std::size_t columns_of(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string filled(std::string_view beginning, std::size_t indent, std::string content) {
  content = one_line(std::move(content));
  std::string lines(beginning);
  std::size_t used = columns_of(beginning);
  bool begins_line = true;
  for (std::size_t at = 0; at < content.size();) {
    // A word, with the units that follow it.
    std::size_t end = std::min(content.find(' ', at), content.size());
    while (end < content.size()) {
      const std::size_t next = std::min(content.find(' ', end + 1), content.size());
      if (!is_unit(std::string_view(content).substr(end + 1, next - end - 1))) break;
      end = next;
    }
    const std::size_t width = columns_of(std::string_view(content).substr(at, end - at));
    if (!begins_line && used + 1 + width > page_width) {
      lines += fmt::format("\n{:{}}", "", indent);
      used = indent;
      begins_line = true;
    }
    if (!begins_line) {
      lines += ' ';
      ++used;
    }
    lines.append(content, at, end - at);
    used += width;
    begins_line = false;
    at = end + 1;
  }
  return lines + "\n";
}

std::string wrapped(std::string_view label, std::string content) {
  return filled(fmt::format("  {:<{}}", label, label_width), label_width + 2, std::move(content));
}

}  // namespace halcyon
