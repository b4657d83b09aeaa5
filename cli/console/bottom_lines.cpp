#include "cli/console/bottom_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/terminal.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t least_rows_of_program = 8;
constexpr std::string_view keep_cursor =
    "\x1b"
    "7";
constexpr std::string_view back_to_cursor =
    "\x1b"
    "8";
constexpr std::string_view whole_terminal_scrolls = "\x1b[r";
constexpr std::string_view clear_below = "\x1b[J";

}  // namespace

void BottomLines::clear() {
  if (count_ == 0) return;
  count_ = 0;
  put(output_, fmt::format("{}{}{}{}", keep_cursor, whole_terminal_scrolls, back_to_cursor, clear_below));
}

std::size_t BottomLines::room() const {
  const std::size_t rows = size_of_terminal(output_).rows;
  return rows > least_rows_of_program ? rows - least_rows_of_program : 0;
}

// New lines push up what is at the bottom of the screen. To set the rows that scroll moves the cursor, so it is kept.
void BottomLines::reserve(std::size_t count) {
  rows_ = size_of_terminal(output_).rows;
  count_ = count;
  put(output_, fmt::format("{:\n>{}}\x1b[{}A{}\x1b[1;{}r{}{}", "", count, count, keep_cursor, rows_ - count,
                           back_to_cursor, clear_below));
}

void BottomLines::show(const std::vector<std::string>& lines) {
  const std::size_t count = std::min(std::max(count_, lines.size()), room());
  if (count == 0) return;
  if (count != count_ || size_of_terminal(output_).rows != rows_) reserve(count);
  std::string text(keep_cursor);
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("\x1b[{};1H{}\x1b[K", rows_ - count + i + 1, i < lines.size() ? lines[i] : "");
  }
  put(output_, text.append(back_to_cursor));
}

}  // namespace halcyon::cli
