#include "cli/console/former_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace halcyon::cli {
namespace {

struct Renamed {
  std::string_view command;
  std::string_view former;
  std::string_view now;
};
constexpr std::array<Renamed, 4> renamed{{{"repeat", "--export-json", "--json"},
                                          {"repeat", "--export-csv", "--csv"},
                                          {"search", "--export-json", "--json"},
                                          {"map", "--export-json", "--json"}}};

/// It wrote to standard output, or to the file behind -o if the command had that option.
struct WasFlag {
  std::string_view command;
  std::string_view option;
};
constexpr std::array<WasFlag, 5> were_flags{{{"info", "--json"},
                                             {"doctor", "--json"},
                                             {"export", "--csv"},
                                             {"export", "--openmetrics"},
                                             {"export", "--perfetto"}}};

// Takes "-o FILE" out of the words, in any of its spellings; its value, or "-".
std::string taken_output(std::vector<std::string>& words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    const bool has_value_behind = *word == "-o" || *word == "--output";
    if (has_value_behind && word + 1 == words.end()) break;
    const std::size_t length = word->starts_with("--output=")                 ? std::string_view("--output=").size()
                               : word->starts_with("-o") && !has_value_behind ? 2
                                                                              : 0;
    if (!has_value_behind && length == 0) continue;
    const std::string value = has_value_behind ? *(word + 1) : word->substr(length);
    words.erase(word, word + (has_value_behind ? 2 : 1));
    return value;
  }
  return "-";
}

}  // namespace

std::vector<std::string> with_new_names(std::string_view command, std::vector<std::string> words,
                                        const std::function<void(const std::string& line)>& warn) {
  for (std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const auto found =
        std::ranges::find_if(renamed, [&](const Renamed& one) { return one.command == command && one.former == name; });
    if (found == renamed.end()) continue;
    warn(fmt::format("{} is now {}: the old name will not work in the next version", found->former, found->now));
    word.replace(0, name.size(), found->now);
  }
  return words;
}

std::optional<ValuedWords> with_values_of_flags(std::string_view command, const std::vector<std::string>& words) {
  std::vector<std::string> left = words;
  const std::string value = command == "export" ? taken_output(left) : "-";
  ValuedWords valued;
  std::vector<std::string> now;
  for (const std::string& word : left) {
    valued.words.push_back(word);
    if (std::ranges::none_of(were_flags,
                             [&](const WasFlag& one) { return one.command == command && one.option == word; }))
      continue;
    valued.words.push_back(value);
    now.push_back(word + " " + value);
  }
  if (now.empty()) return std::nullopt;
  valued.warning =
      fmt::format("type {}: without a place to write to, it will not work in the next version", fmt::join(now, " "));
  return valued;
}

}  // namespace halcyon::cli
