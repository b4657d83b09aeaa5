#include "cli/console/suggestion.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <numeric>

namespace halcyon::cli {
namespace {

// Number of letters to insert, delete or replace and of neighbours to swap (optimal string alignment).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> next{i};
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t least = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) least = std::min(least, last[j - 2] + 1);
      next.push_back(least);
    }
    last = std::move(row);
    row = std::move(next);
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t longest_word = 40;
  const std::string typed = word.substr(0, word.find('='));
  if (typed.size() < 4 || typed.size() > longest_word) return "";
  std::size_t least = 3;
  std::string nearest;
  for (const std::string& name : names) {
    const std::size_t letters = distance(typed, name);
    if (letters >= least) continue;
    least = letters;
    nearest = name;
  }
  return nearest.empty() ? "" : ". Did you mean: " + nearest + "?";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace halcyon::cli
