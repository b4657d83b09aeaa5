// Suggestions for mistyped words.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace halcyon::cli {

/// ". Did you mean: NAME?" for a word of four letters or more and a name that differs in at most two; else nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

std::vector<std::string> command_names(const CLI::App& app);
/// The names with their dashes.
std::vector<std::string> option_names(const CLI::App& command);

}  // namespace halcyon::cli
