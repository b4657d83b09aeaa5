#include "cli/console/bottom_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "cli/console/terminal.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t least_rows_of_program = 8;
constexpr std::string_view keep_cursor = "\0337";
constexpr std::string_view back_to_cursor = "\0338";
constexpr std::string_view clear_below = "\033[J";
constexpr std::string_view all_rows_back = "\0337\033[r\0338\033[J";

void give_back_and_stop(int signal);

void give_back_when_stopped() {
  struct sigaction action {};
  action.sa_handler = give_back_and_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_RESTART);
  sigaction(SIGTSTP, &action, nullptr);
}

// What the handler must see.
volatile std::sig_atomic_t terminal_with_lines = -1;
volatile std::sig_atomic_t were_given_back = 0;

// A shell that stops this process (Ctrl-Z) goes on in the same terminal. Flags of the handler: it is reset, and the
// signal is not held back, so that the second one stops the process here.
void give_back_and_stop(int signal) {
  if (terminal_with_lines >= 0) {
    were_given_back = 1;
    [[maybe_unused]] const auto written = ::write(terminal_with_lines, all_rows_back.data(), all_rows_back.size());
  }
  std::raise(signal);
  give_back_when_stopped();
}

}  // namespace

BottomLines::BottomLines(int output) : output_(output) {
  struct sigaction usual {};
  sigaction(SIGTSTP, nullptr, &usual);
  answers_stops_ = usual.sa_handler == SIG_DFL;
  if (answers_stops_) give_back_when_stopped();
}

BottomLines::~BottomLines() {
  clear();
  if (answers_stops_) std::signal(SIGTSTP, SIG_DFL);
}

void BottomLines::clear() {
  terminal_with_lines = -1;
  if (count_ == 0) return;
  count_ = 0;
  put(output_, all_rows_back);
}

std::size_t BottomLines::room() const {
  const std::size_t rows = size_of_terminal(output_).rows;
  return rows > least_rows_of_program ? rows - least_rows_of_program : 0;
}

// New lines push up what is at the bottom of the screen. To set the rows that scroll moves the cursor, so it is kept.
void BottomLines::reserve(std::size_t count) {
  rows_ = size_of_terminal(output_).rows;
  count_ = count;
  terminal_with_lines = output_;
  put(output_, fmt::format("{:\n>{}}\x1b[{}A{}\x1b[1;{}r{}{}", "", count, count, keep_cursor, rows_ - count,
                           back_to_cursor, clear_below));
}

void BottomLines::show(const std::vector<std::string>& lines) {
  const std::size_t count = std::min(std::max(count_, lines.size()), room());
  if (count == 0) return;
  if (were_given_back != 0) count_ = 0;
  were_given_back = 0;
  if (count != count_ || size_of_terminal(output_).rows != rows_) reserve(count);
  std::string text(keep_cursor);
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("\x1b[{};1H{}\x1b[K", rows_ - count + i + 1, i < lines.size() ? lines[i] : "");
  }
  put(output_, text.append(back_to_cursor));
}

}  // namespace halcyon::cli
