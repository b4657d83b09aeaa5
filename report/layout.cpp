#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libprofile/system/legible.hpp"

namespace halcyon {
namespace {

// "%" or "ms", also with punctuation after it.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 5> units{"%", "s", "ms", "µs", "ns"};
  while (!word.empty() && std::string_view(",;:.)").find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  return std::find(units.begin(), units.end(), word) != units.end();
}

// Where the character begins before which so many columns are.
std::size_t place_of_column(std::string_view utf8, std::size_t column) {
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    if ((static_cast<unsigned char>(utf8[at]) & 0xc0u) != 0x80u && column-- == 0) return at;
  }
  return utf8.size();
}

}  // namespace

std::size_t columns_of(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string briefly(std::string_view text, std::size_t most_columns) {
  const std::string whole = legible(text);
  const std::size_t columns = columns_of(whole);
  if (columns <= most_columns) return whole;
  constexpr std::string_view omission = " … ";
  const std::size_t kept = most_columns - std::min(most_columns, columns_of(omission));
  const std::size_t at_the_end = kept / 4;
  return whole.substr(0, place_of_column(whole, kept - at_the_end))
      .append(omission)
      .append(whole, place_of_column(whole, columns - at_the_end));
}

std::string command_words(std::string_view command) { return briefly(command, 5 * page_width); }

std::string filled(std::string_view beginning, std::size_t indent, std::string_view text) {
  const std::string content = briefly(text);
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

std::string aligned(std::string_view sides, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(sides.size(), 0);
  for (const std::vector<std::string>& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns_of(cells[i]));
  }
  std::string text;
  for (const std::vector<std::string>& cells : rows) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string room(widths[i] - columns_of(cells[i]), ' ');
      line += (i == 0 ? "" : "  ") + (sides[i] == '<' ? cells[i] + room : room + cells[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string wrapped(std::string_view label, std::string_view content) {
  return filled(fmt::format("  {:<{}}", label, label_width), label_width + 2, content);
}

}  // namespace halcyon
