#include "cli/console/quantity.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

namespace halcyon::cli {
namespace {

struct Quantity {
  double number = 0.0;
  std::string_view unit;
};

std::optional<Quantity> quantity_in(std::string_view text) {
  Quantity quantity;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.number);
  if (error != std::errc() || !std::isfinite(quantity.number)) return std::nullopt;
  quantity.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (quantity.unit.starts_with(' ')) quantity.unit.remove_prefix(1);
  return quantity;
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  const std::optional<Quantity> quantity = quantity_in(text);
  return quantity && quantity->unit.empty() && !text.ends_with(' ') ? std::optional(quantity->number) : std::nullopt;
}

std::optional<double> percent_in(const std::string& text) {
  const std::optional<Quantity> quantity = quantity_in(text);
  if (!quantity || (quantity->unit != "%" && !quantity->unit.empty())) return std::nullopt;
  return quantity->number;
}

std::optional<double> seconds_in(const std::string& text) {
  const std::optional<Quantity> quantity = quantity_in(text);
  if (!quantity || quantity->number <= 0.0) return std::nullopt;
  if (quantity->unit.empty() || quantity->unit == "s") return quantity->number;
  if (quantity->unit == "min") return 60.0 * quantity->number;
  if (quantity->unit == "h") return 3600.0 * quantity->number;
  return std::nullopt;
}

std::optional<std::uint64_t> whole_number_in(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace halcyon::cli
