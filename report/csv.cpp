#include "report/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "libprofile/system/legible.hpp"

namespace halcyon {
namespace {

constexpr std::string_view end_of_row = "\r\n";

// A spreadsheet computes what begins with one of these, the wide ones, too; an apostrophe makes it a text.
bool looks_like_formula(std::string_view text) {
  constexpr std::array<std::string_view, 8> signs{"=", "+", "-", "@", "＝", "＋", "－", "＠"};
  return std::any_of(signs.begin(), signs.end(), [text](std::string_view sign) { return text.starts_with(sign); });
}

// What is not known gives an empty cell.
void append_cell(fmt::memory_buffer& out, const SegmentValue& value) {
  std::visit(
      [&out](const auto& known) {
        using T = std::decay_t<decltype(known)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
          out.append(csv_text(known));
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          fmt::format_to(std::back_inserter(out), "{}", known);
        }
      },
      value);
}

// One cell per field, two for an interval: `cells` gives both, ready, and the second is used for intervals only.
std::string row_of_runs(auto cells) {
  fmt::memory_buffer row;
  const auto append = [&row](const std::string& cell) {
    if (row.size() > 0) row.push_back(',');
    row.append(cell);
  };
  for (const RunField& field : run_fields()) {
    if (field.shape == RunField::Shape::nested) continue;
    const auto [first, second] = cells(field);
    append(first);
    if (field.shape == RunField::Shape::interval) append(second);
  }
  row.append(end_of_row);
  return fmt::to_string(row);
}

}  // namespace

// RFC 4180, section 2: in quotes if necessary, with quotes doubled.
std::string csv_text(std::string_view text) {
  const std::string cell = (looks_like_formula(text) ? "'" : "") + legible(text);
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string runs_csv_header() {
  return row_of_runs([](const RunField& field) {
    const std::string name(field.name);
    return field.shape == RunField::Shape::interval ? std::pair(name + "_low", name + "_high")
                                                    : std::pair(name, std::string());
  });
}

std::string run_csv(const AnalyzedFile& run) {
  const auto in_words = [](const nlohmann::ordered_json& value) {
    if (value.is_null()) return std::string();
    return value.is_string() ? csv_text(value.get<std::string>()) : value.dump();
  };
  return row_of_runs([&](const RunField& field) {
    const nlohmann::ordered_json value = field.value(run);
    return value.is_array() ? std::pair(in_words(value[0]), in_words(value[1]))
                            : std::pair(in_words(value), std::string());
  });
}

void write_segments_csv(std::ostream& out, const AnalyzedFile& run, const Grouping& grouping,
                        const SegmentsDone& done) {
  const std::vector<SegmentField> fields = segment_fields(run.profile);
  fmt::memory_buffer rows;
  const auto write_piece = [&] {
    out.write(rows.data(), static_cast<std::streamsize>(rows.size()));
    rows.clear();
  };
  for (const SegmentField& field : fields) {
    if (rows.size() > 0) rows.push_back(',');
    rows.append(field.name);
  }
  rows.append(end_of_row);
  JudgedSegments segments(run.profile, grouping, run.analysis);
  while (const std::optional<JudgedSegment> segment = segments.next()) {
    bool is_first = true;
    for (const SegmentField& field : fields) {
      if (!is_first) rows.push_back(',');
      is_first = false;
      append_cell(rows, field.value(*segment));
    }
    rows.append(end_of_row);
    if (rows.size() < piece_bytes) continue;
    write_piece();
    if (!out) return;
    done(segment->number + 1);
  }
  write_piece();
}

}  // namespace halcyon
