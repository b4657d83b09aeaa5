#include "cli/console/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace halcyon::cli {
namespace {

constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
// The second screen, without a cursor, and back again.
constexpr std::string_view begin_screen = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view end_screen = "\x1b[?25h\x1b[?1049l";

sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : handled) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

TerminalSize size_of_terminal(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

bool can_be_rewritten(int file) {
  const char* const kind = std::getenv("TERM");
  return isatty(file) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

void put(int terminal, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(terminal, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Terminal::Terminal(int input, int output) : input_(input), output_(output) {
  const sigset_t signals = handled_signals();
  sigprocmask(SIG_BLOCK, &signals, &mask_before_);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  tcgetattr(input_, &before_);
  enter();
}

Terminal::~Terminal() {
  leave();
  close(signals_);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void Terminal::enter() {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(input_, TCSANOW, &raw);
  put(output_, begin_screen);
}

void Terminal::leave() const {
  put(output_, end_screen);
  tcsetattr(input_, TCSANOW, &before_);
}

void Terminal::stop() {
  leave();
  kill(getpid(), SIGSTOP);
  enter();
}

void Terminal::show(const std::vector<std::string>& lines) const {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += "\r\n";
    text += lines[i] + "\x1b[K";
  }
  put(output_, text + "\x1b[J");
}

Key Terminal::read_key() {
  using Binding = std::pair<std::string_view, Key>;
  constexpr std::array<Binding, 15> bindings{{{"\x1b[A", Key::up},
                                              {"\x1bOA", Key::up},
                                              {"\x1b[B", Key::down},
                                              {"\x1bOB", Key::down},
                                              {"k", Key::up},
                                              {"j", Key::down},
                                              {"q", Key::quit},
                                              {"Q", Key::quit},
                                              {"s", Key::sort},
                                              {"d", Key::delay},
                                              {"h", Key::help},
                                              {"?", Key::help},
                                              {"\x03", Key::quit},
                                              {"\x04", Key::quit},
                                              {"\x1b\x1b", Key::quit}}};
  while (!pressed_.empty()) {
    for (const auto& [sequence, key] : bindings) {
      if (!pressed_.starts_with(sequence)) continue;
      pressed_.erase(0, sequence.size());
      return key;
    }
    pressed_.erase(0, 1);
  }
  return Key::none;
}

TerminalEvent Terminal::wait(double seconds) {
  if (const Key key = read_key(); key != Key::none) return {.key = key};
  std::array<pollfd, 2> files{{{input_, POLLIN, 0}, {signals_, POLLIN, 0}}};
  if (poll(files.data(), files.size(), static_cast<int>(std::ceil(1e3 * seconds))) <= 0) return {};
  if (files[1].revents != 0) {
    signalfd_siginfo signal{};
    if (read(signals_, &signal, sizeof signal) != sizeof signal) return {};
    const auto number = static_cast<int>(signal.ssi_signo);
    if (number == SIGWINCH) return {.is_resized = true};
    if (number != SIGTSTP) return {.asked_to_end = number};
    stop();
    return {.is_resized = true};
  }
  if (files[0].revents == 0) return {};
  std::array<char, 64> bytes;
  const ssize_t got = read(input_, bytes.data(), bytes.size());
  if (got <= 0) return {.key = Key::quit};  // the terminal is gone
  pressed_.append(bytes.data(), static_cast<std::size_t>(got));
  return {.key = read_key()};
}

}  // namespace halcyon::cli
