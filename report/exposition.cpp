#include "report/exposition.hpp"

#include <fmt/format.h>

#include <array>

#include "libprofile/system/legible.hpp"

namespace halcyon {
namespace {

// The units that OpenMetrics requires at the end of a name.
constexpr std::array<std::string_view, 3> units{"seconds", "ratio", "hertz"};

std::string escaped_label(const std::string& text) {
  std::string result;
  for (const char c : legible(text)) {
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

void Exposition::begin(std::string_view metric, std::string_view description) {
  metric_ = "halcyon_" + std::string(metric);
  text_ += fmt::format("# TYPE {} gauge\n", metric_);
  for (const std::string_view unit : units) {
    if (metric_.ends_with("_" + std::string(unit))) text_ += fmt::format("# UNIT {} {}\n", metric_, unit);
  }
  text_ += fmt::format("# HELP {} {}\n", metric_, description);
}

void Exposition::sample(double value, const Labels& labels) {
  std::string all;
  for (const auto& [name, content] : labels) {
    all += fmt::format("{}{}=\"{}\"", all.empty() ? "" : ",", name, escaped_label(content));
  }
  text_ += fmt::format("{}{{{}}} {}\n", metric_, all, value);
}

}  // namespace halcyon
