#include "intm/spec.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "libprofile/system/lists_of_names.hpp"

namespace halcyon {
namespace {

Failure bad(std::string_view spec, const std::string& why) { return {"bad SPEC '" + std::string(spec) + "': " + why}; }

std::optional<double> parse_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0.0)
    return std::nullopt;
  return value;
}

std::optional<int> parse_rank(std::string_view text) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank < 0) return std::nullopt;
  return rank;
}

/// Reads ranks such as 2, 0-3, or several of these joined by '+'.
std::optional<std::vector<RankRange>> parse_ranks(std::string_view text) {
  std::vector<RankRange> ranges;
  while (true) {
    const std::size_t plus = text.find('+');
    const std::string_view item = text.substr(0, plus);
    const std::size_t dash = item.find('-');
    const std::optional<int> first = parse_rank(item.substr(0, dash));
    const std::optional<int> last = dash == std::string_view::npos ? first : parse_rank(item.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    ranges.push_back({*first, *last});
    if (plus == std::string_view::npos) return ranges;
    text.remove_prefix(plus + 1);
  }
}

// 0 if it is none.
unsigned parse_class(std::string_view text) {
  if (text == injected_class_names.back()) return inject_all;
  for (std::size_t i = 0; i + 1 < injected_class_names.size(); ++i) {
    if (text == injected_class_names[i]) return 1u << i;
  }
  return 0;
}

}  // namespace

std::optional<double> parse_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr Unit units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  constexpr double longest = 1e15;  // eleven days: anything longer is a typing error
  for (const Unit& unit : units) {
    if (text.size() <= unit.name.size() || text.substr(text.size() - unit.name.size()) != unit.name) continue;
    const std::optional<double> value = parse_number(text.substr(0, text.size() - unit.name.size()));
    if (value && *value * unit.nanoseconds <= longest) return *value * unit.nanoseconds;
  }
  return std::nullopt;
}

bool InjectionSpec::concerns(int rank) const {
  return ranks.empty() ||
         std::any_of(ranks.begin(), ranks.end(), [rank](RankRange r) { return rank >= r.first && rank <= r.last; });
}

bool InjectionSpec::active_at(std::uint64_t now) const {
  if (now < after || (until && now >= *until)) return false;
  return every == 0 || (now - after) % every < burst;
}

Outcome<InjectionSpec> parse_spec(std::string_view text) {
  InjectionSpec spec;
  std::vector<std::string_view> seen;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return bad(text, "'" + std::string(item) + "' is not KEY=VALUE");
    const std::string_view key = item.substr(0, equals);
    const std::string_view value = item.substr(equals + 1);
    const std::string shown(value);
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return bad(text, "'" + std::string(key) + "' is given twice");
    seen.push_back(key);

    const auto time = [&](auto& target) -> std::optional<Failure> {
      const std::optional<double> nanoseconds = parse_time(value);
      if (!nanoseconds)
        return bad(text, std::string(key) + "=" + shown + " is not a time such as 5ms, 0.3s, 200us or 50ns");
      target = static_cast<std::remove_reference_t<decltype(target)>>(*nanoseconds);
      return std::nullopt;
    };
    std::optional<Failure> failure;
    if (key == "class") {
      spec.classes = parse_class(value);
      if (spec.classes == 0) failure = bad(text, "class=" + shown + " is not " + one_of(injected_class_names));
    } else if (key == "prob") {
      const std::optional<double> probability = parse_number(value);
      if (!probability || *probability > 1.0)
        failure = bad(text, "prob=" + shown + " is not a probability from 0 to 1");
      spec.probability = probability.value_or(0.0);
    } else if (key == "mean") {
      failure = time(spec.mean);
    } else if (key == "sd") {
      failure = time(spec.deviation);
    } else if (key == "ranks") {
      const std::optional<std::vector<RankRange>> ranks = parse_ranks(value);
      if (!ranks) failure = bad(text, "ranks=" + shown + " does not look like 2, 0-3 or 0-3+7");
      spec.ranks = ranks.value_or(std::vector<RankRange>());
    } else if (key == "after") {
      failure = time(spec.after);
    } else if (key == "until") {
      std::uint64_t until = 0;
      failure = time(until);
      spec.until = until;
    } else if (key == "every") {
      failure = time(spec.every);
    } else if (key == "for") {
      failure = time(spec.burst);
    } else {
      failure = bad(text, "'" + std::string(key) + "' is not class, prob, mean, sd, ranks, after, until, every or for");
    }
    if (failure) return *failure;
  }
  const auto has = [&seen](std::string_view key) { return std::find(seen.begin(), seen.end(), key) != seen.end(); };
  for (const std::string_view key : {"class", "prob", "mean"}) {
    if (!has(key)) return bad(text, std::string(key) + "= is missing");
  }
  if (has("every") != has("for")) return bad(text, "every= and for= go together");
  if (spec.every != 0 && spec.burst > spec.every) return bad(text, "for= is longer than every=");
  if (has("every") && spec.every == 0) return bad(text, "every= is zero");
  if (spec.until && *spec.until <= spec.after) return bad(text, "until= is not later than after=");
  return spec;
}

Outcome<std::vector<InjectionSpec>> parse_specs(std::string_view text) {
  std::vector<InjectionSpec> specs;
  constexpr std::string_view blanks = " \t\n";
  for (std::size_t from = text.find_first_not_of(blanks); from != std::string_view::npos;) {
    const std::size_t to = std::min(text.find_first_of(blanks, from), text.size());
    Outcome<InjectionSpec> spec = parse_spec(text.substr(from, to - from));
    if (!spec) return spec.failure();
    specs.push_back(std::move(*spec));
    from = text.find_first_not_of(blanks, to);
  }
  return specs;
}

}  // namespace halcyon
