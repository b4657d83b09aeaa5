// The result of a series of runs in words and tables: a terminal and a page show the same.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon {

/// What stands first: a word, if there is one, and a sentence.
struct SeriesAnswer {
  std::string word;  // "KNOWN"; may be empty
  std::string sentence;
  std::string_view verdict;  // the class of its colour: green, yellow, red; empty: none
};

/// A line below: what it is about, and what is said.
struct SeriesFact {
  std::string label;  // may be empty
  std::string words;
};

struct SeriesTable {
  struct Column {
    std::string title;
    std::size_t width = 0;  // at least, on a terminal
    bool is_number = true;  // to the right
  };
  struct Row {
    std::vector<std::string> cells;                     // as many as there are columns, or fewer: the last one says why
    std::optional<std::size_t> program = std::nullopt;  // whose row it is, where there are several
  };
  std::string heading;                                // may be empty
  std::optional<std::size_t> program = std::nullopt;  // whose table it is, where there are several
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<std::string> legend;  // below it
  std::size_t gap = 2;              // between columns, on a terminal
};

/// In as many columns as the cells need, two spaces from the left.
std::string text_of(const SeriesTable& table);
/// "KNOWN  undisturbed, a run takes …"
std::string text_of(const SeriesAnswer& answer);

}  // namespace halcyon
