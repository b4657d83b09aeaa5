// What a mistyped word was probably meant to be.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace halcyon::cli {

/// ". Did you mean: NAME?", or nothing where no name is near: two letters that differ, in a word of four or more.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

std::vector<std::string> command_names(const CLI::App& app);
/// As they are typed, with their dashes.
std::vector<std::string> option_names(const CLI::App& command);

}  // namespace halcyon::cli
