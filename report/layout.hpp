// The layout of texts for a terminal: a label, then its content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon {

inline constexpr std::size_t page_width = 80;
inline constexpr std::size_t label_width = 18;

/// Columns that a text without wide characters takes on a terminal.
std::size_t columns_of(std::string_view utf8);

/// Legible, and short enough to be read: for lines that are not filled. A longer text loses its middle, since messages
/// begin with what failed, and end with why and with what to do.
std::string briefly(std::string_view text, std::size_t most_columns = 2000);
/// The command line of a program, in the few lines that it is worth.
std::string command_words(std::string_view command);

/// The beginning and the content, legible and in short, in lines of at most 80 columns where the words allow that;
/// continuation lines begin at column `indent`. A number stays on a line with its unit.
std::string filled(std::string_view beginning, std::size_t indent, std::string_view content);
/// Rows of cells, as lines of columns that are as wide as their widest cell. `sides` has a character for each column: <
/// if its cells begin on the left, > if they end on the right.
std::string aligned(std::string_view sides, const std::vector<std::vector<std::string>>& rows);
/// A line "  label   content", and continuation lines that begin below the content.
std::string wrapped(std::string_view label, std::string_view content);

}  // namespace halcyon
