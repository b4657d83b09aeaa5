// Lines that stay at the bottom of a terminal while a program writes above them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace halcyon::cli {

/// The program's output scrolls in the rows above. The destructor gives the whole terminal back.
class BottomLines {
 public:
  /// `output`: a terminal. A stop of this process (Ctrl-Z) gives all rows back until it goes on.
  explicit BottomLines(int output);
  ~BottomLines();
  BottomLines(const BottomLines&) = delete;
  BottomLines& operator=(const BottomLines&) = delete;

  /// The number of lines with room, so that the program keeps most of the rows.
  std::size_t room() const;
  /// Replaces the lines shown; each line is at most as wide as the terminal.
  void show(const std::vector<std::string>& lines);
  /// Gives all rows back to the program.
  void clear();

 private:
  void reserve(std::size_t count);

  int output_;
  bool answers_stops_ = false;
  std::size_t rows_ = 0;   // of the terminal, when the lines were reserved
  std::size_t count_ = 0;  // of reserved lines
};

}  // namespace halcyon::cli
