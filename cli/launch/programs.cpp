#include "cli/launch/programs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/launch/srun.hpp"

namespace halcyon::cli {
namespace {

// LD_LIBRARY_PATH that options of a launcher set; empty if they set none.
std::string library_path_of(const Words& words) {
  constexpr std::string_view name = "LD_LIBRARY_PATH";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(std::string(name) + "=")) return words[i].substr(name.size() + 1);
    // Hydra's -genv NAME VALUE
    if (words[i] == name && i > 0 && words[i - 1].ends_with("env") && i + 1 < words.size()) return words[i + 1];
  }
  return "";
}

// Whether this word is certainly the program that the launcher starts.
bool is_program(const Words& words, std::size_t at) {
  const OptionValue value = option_value(words, at);
  const bool may_be_program = value == OptionValue::no || (value == OptionValue::perhaps && is_path(words[at]));
  return may_be_program && found_program(words[at]);
}

bool lists_programs(const std::string& file) {
  const std::vector<Words> lines = lines_of(file);
  return std::any_of(lines.begin(), lines.end(), [](const Words& line) {
    return std::any_of(line.begin(), line.end(),
                       [](const std::string& word) { return found_program(word).has_value(); });
  });
}

std::vector<Words> between_colons(const Words& launch) {
  std::vector<Words> programs{{}};
  for (auto word = launch.begin() + 1; word != launch.end(); ++word) {
    if (*word == ":") {
      programs.emplace_back();
    } else {
      programs.back().push_back(*word);
    }
  }
  return programs;
}

std::vector<Words> words_of_programs(const Words& launch) {
  if (is_srun(launch)) return programs_of_srun(launch);
  const std::optional<std::string> file = file_of_programs(launch);
  return file ? lines_of(*file) : between_colons(launch);
}

}  // namespace

bool is_path(const std::string& word) { return word.find('/') != std::string::npos; }

OptionValue option_value(const Words& words, std::size_t at) {
  constexpr std::array<std::string_view, 6> with_two{"--mca", "-mca", "--gmca", "-gmca", "-env", "-genv"};
  const auto takes_two = [&](const std::string& option) {
    return std::find(with_two.begin(), with_two.end(), option) != with_two.end();
  };
  if (at >= 1 && takes_two(words[at - 1])) return OptionValue::surely;
  const bool is_pair = at >= 2 && words[at - 1].find('=') != std::string::npos;  // Hydra's -genv NAME=VALUE
  if (at >= 2 && takes_two(words[at - 2]) && !is_pair) return OptionValue::surely;
  return at >= 1 && words[at - 1].starts_with("-") ? OptionValue::perhaps : OptionValue::no;
}

Started started_by(const Words& words) {
  Started started;
  std::optional<std::string> named_like_a_command;  // the value of an option, or the program behind one without a value
  std::size_t place_of_that = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_first = started.files.empty();
    const OptionValue value = is_first ? option_value(words, i) : OptionValue::no;
    if (word.starts_with("-") || value == OptionValue::surely) continue;
    const std::optional<std::string> file = found_program(word);
    if (file && is_first && value == OptionValue::perhaps && !is_path(word)) {
      if (!named_like_a_command) {
        named_like_a_command = file;
        place_of_that = i;
      }
    } else if (file) {
      if (is_first) started.at = i;
      started.files.push_back(*file);
    } else if (is_first && value == OptionValue::no && is_path(word)) {
      started.missing = word;
      return started;
    }
  }
  if (started.files.empty() && named_like_a_command) {
    started.files.push_back(*named_like_a_command);
    started.at = place_of_that;
  }
  return started;
}

std::optional<std::size_t> option_of_program_file(const Words& launch) {
  constexpr std::array<std::string_view, 4> options{"--app", "-app",                 // Open MPI
                                                    "--configfile", "-configfile"};  // Hydra
  bool may_be_behind_program = false;  // one that is named like the value of an option
  for (std::size_t i = 1; i + 1 < launch.size(); ++i) {
    if (std::find(options.begin(), options.end(), launch[i]) != options.end()) {
      return may_be_behind_program && !lists_programs(launch[i + 1]) ? std::nullopt : std::optional(i);
    }
    if (is_program(launch, i)) return std::nullopt;
    may_be_behind_program = may_be_behind_program || (!launch[i].starts_with("-") && found_program(launch[i]));
  }
  return std::nullopt;
}

std::optional<std::string> file_of_programs(const Words& launch) {
  if (is_srun(launch)) return multi_prog_file(launch);
  const std::optional<std::size_t> option = option_of_program_file(launch);
  return option ? std::optional(launch[*option + 1]) : std::nullopt;
}

std::vector<LaunchedProgram> programs_of(const Words& launch) {
  const std::string of_all = library_path_of(launch);
  std::vector<LaunchedProgram> programs;
  for (const Words& words : words_of_programs(launch)) {
    const std::string own = library_path_of(words);
    programs.push_back({words, own.empty() ? of_all : own});
  }
  return programs;
}

}  // namespace halcyon::cli
