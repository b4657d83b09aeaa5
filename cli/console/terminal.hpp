// A terminal that shows a screen and reads keys. The old state is restored when the object ends, however the command
// ends.
#pragma once

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon::cli {

enum class Key : std::uint8_t { none, quit, up, down, sort, delay, help };

struct TerminalEvent {
  Key key = Key::none;
  bool is_resized = false;
  int asked_to_end = 0;  // the signal
};

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};
/// 80 columns and 24 rows if the terminal does not say.
TerminalSize size_of_terminal(int file);
/// Whether it is a terminal that moves its cursor when asked to.
bool can_be_rewritten(int file);
/// Writes to a terminal. Ignores failure: a closed terminal must not end the command.
void put(int terminal, std::string_view text);

/// While it lives, signals that would end or stop this process arrive as events, and it uses the second screen of the
/// terminal.
class Terminal {
 public:
  Terminal(int input, int output);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  TerminalSize size() const { return size_of_terminal(output_); }

  /// Replaces the lines shown.
  void show(const std::vector<std::string>& lines) const;
  /// The next event; an empty one after `seconds`.
  TerminalEvent wait(double seconds);

 private:
  void enter();
  void leave() const;
  Key read_key();
  void stop();

  int input_;
  int output_;
  int signals_ = -1;
  sigset_t mask_before_{};
  termios before_{};
  std::string pressed_;  // not yet interpreted
};

}  // namespace halcyon::cli
