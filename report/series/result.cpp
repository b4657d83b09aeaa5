#include "report/series/result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/layout.hpp"

namespace halcyon {
namespace {

std::string line_of(const SeriesTable& table, const std::vector<std::size_t>& widths,
                    const std::vector<std::string>& cells) {
  std::string line = "  ";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string space(widths[i] - std::min(widths[i], columns_of(cells[i])), ' ');
    if (i > 0) line.append(table.gap, ' ');
    line += table.columns[i].is_number ? space + cells[i] : cells[i] + space;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string text_of(const SeriesTable& table) {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const SeriesTable::Column& column : table.columns) {
    widths.push_back(std::max(column.width, columns_of(column.title)));
    titles.push_back(column.title);
  }
  for (const SeriesTable::Row& row : table.rows) {
    if (row.cells.size() < table.columns.size()) continue;  // its last cell is a sentence
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], columns_of(row.cells[i]));
  }
  std::string text = table.heading.empty() ? "" : "  " + table.heading + "\n";
  text += line_of(table, widths, titles);
  for (const SeriesTable::Row& row : table.rows) text += line_of(table, widths, row.cells);
  for (const std::string& words : table.legend) text += filled("  ", 2, words);
  return text;
}

std::string text_of(const SeriesAnswer& answer) {
  if (answer.word.empty()) return filled("", 0, answer.sentence);
  return filled(answer.word + "  ", columns_of(answer.word) + 2, answer.sentence);
}

}  // namespace halcyon
