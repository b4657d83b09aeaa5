// Errors of files that are read again and again: each message is printed once.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace halcyon::cli {

class Complaints {
 public:
  void add(const std::string& about) {
    if (std::find(told_.begin(), told_.end(), about) != told_.end()) return;
    told_.push_back(about);
    new_.push_back(about);
  }
  /// The messages added since the last call.
  std::vector<std::string> take() { return std::exchange(new_, {}); }

 private:
  std::vector<std::string> told_;
  std::vector<std::string> new_;
};

}  // namespace halcyon::cli
