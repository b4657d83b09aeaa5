#include "cli/describe/columns_page.hpp"

#include <fmt/format.h>

#include "libprofile/format/schema.hpp"

namespace halcyon::cli {
namespace {

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::u8: return "u8";
    case ElementType::u16: return "u16";
    case ElementType::u32: return "u32";
    case ElementType::u64: return "u64";
    case ElementType::f32: return "f32";
    case ElementType::f64: return "f64";
    case ElementType::text: return "text";
  }
  return "";
}

template <class T>
std::string_view type_of(const T&) {
  if (std::is_floating_point_v<T>) return "f64";
  return std::is_arithmetic_v<T> ? "i64" : "text";
}

std::string attributes_table() {
  std::string rows = "| attribute | type | description | since |\n|---|---|---|---|\n";
  const auto add = [&rows](const Attribute& attribute, const auto& value) {
    rows += fmt::format("| `{}` | {} | {} | {} |\n", attribute.name, type_of(value), attribute.description,
                        attribute.since);
  };
  add(Attribute{"schema_version", "version of this format"}, std::int64_t{});
  const Profile profile;
  for_each_attribute(profile, add);
  const Suspension suspension;
  for_each_attribute_of_suspension(suspension, add);
  const KnownRuns known;
  for_each_attribute_of_known_runs(known, add);
  const KnownRuns::OfParts parts;
  for_each_attribute_of_known_parts(parts, add);
  for_each_attribute_of_witness(profile.witnessed, add);
  return rows;
}

template <class IsWanted>
std::string columns_table(IsWanted is_wanted) {
  std::string rows = "| column | over | type | unit | description | since |\n|---|---|---|---|---|---|\n";
  for (const Variable& variable : schema_variables()) {
    const Column& column = variable.column;
    if (!is_wanted(column)) continue;
    rows += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", column.name, column.over, name_of(variable.type),
                        column.units, column.description, column.since);
  }
  return rows;
}

}  // namespace

std::string columns_page() {
  return fmt::format(
      "# Every attribute and column of a profile\n\n"
      "For those who read a profile themselves.\n\n"
      "The build writes this page from `libprofile/format/columns.hpp`; [profile.md](profile.md) explains the file.\n"
      "*Since* is the first schema version whose profiles all have the value; the newest version is {}.\n\n"
      "## Attributes of the run\n\n{}\n## Over segments\n\n{}\n## Over ranks\n\n{}\n## Tables that columns point "
      "into\n\n{}",
      newest_schema_version, attributes_table(),
      columns_table([](const Column& column) { return column.over == over_segments; }),
      columns_table([](const Column& column) { return column.over == over_ranks; }),
      columns_table([](const Column& column) { return column.over != over_segments && column.over != over_ranks; }));
}

}  // namespace halcyon::cli
