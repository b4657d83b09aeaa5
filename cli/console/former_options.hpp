// Options that were called differently, or had no value, in version 0.1: they still work in this version, with a
// warning that names the new form.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon::cli {

/// The words of a command, with the new names of options. `warn` gets a line for each that was changed.
std::vector<std::string> with_new_names(std::string_view command, std::vector<std::string> words,
                                        const std::function<void(const std::string& line)>& warn);

/// The words with values behind options that had none. Nothing if there are none. Try it if the words make no sense as
/// they are: the word behind such an option may be its value, or a file to read.
struct ValuedWords {
  std::vector<std::string> words;
  std::string warning;
};
std::optional<ValuedWords> with_values_of_flags(std::string_view command, const std::vector<std::string>& words);

}  // namespace halcyon::cli
