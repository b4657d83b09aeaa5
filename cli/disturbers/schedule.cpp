#include "cli/disturbers/schedule.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "intm/spec.hpp"

namespace halcyon::cli {
namespace {

std::optional<double> seconds_in(std::string_view text) {
  const std::optional<double> nanoseconds = parse_time(text);
  return nanoseconds ? std::optional(*nanoseconds * 1e-9) : std::nullopt;
}

// 25% -> 0.25
std::optional<double> share_in(std::string_view text) {
  if (text.empty() || text.back() != '%') return std::nullopt;
  text.remove_suffix(1);
  double percent = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool good = error == std::errc() && end == text.data() + text.size() && percent >= 0.0 && percent <= 100.0;
  return good ? std::optional(percent / 100.0) : std::nullopt;
}

using Pair = std::optional<std::pair<double, double>>;

Pair pair_in(std::string_view text, std::string_view between, std::optional<double> (*read)(std::string_view)) {
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const std::optional<double> first = read(text.substr(0, at));
  const std::optional<double> second = read(text.substr(at + between.size()));
  return first && second ? Pair({*first, *second}) : std::nullopt;
}

Outcome<Schedule> part_from(std::string_view text, const std::string& shown) {
  const Pair shares = pair_in(text, "..", share_in);
  const Pair times = shares ? std::nullopt : pair_in(text, "..", seconds_in);
  const Pair& ends = shares ? shares : times;
  if (!ends) return Failure{shown + ": FROM..TO must look like 2s..5s or 25%..75%"};
  if (ends->second <= ends->first) return Failure{shown + ": TO is not later than FROM"};
  return Schedule(PartOfRun{ends->first, ends->second, shares.has_value()});
}

template <class OnOff>
Outcome<Schedule> on_off_from(std::string_view text, const std::string& shown) {
  const Pair times = pair_in(text, ",", seconds_in);
  if (!times) return Failure{shown + ": ON,OFF must be two times such as 1s,500ms"};
  if (times->first <= 0.0 || times->second <= 0.0) return Failure{shown + ": ON and OFF must be longer than zero"};
  return Schedule(OnOff{times->first, times->second});
}

std::string time_text(double seconds) {
  return seconds == 0.0 || seconds >= 1.0 ? fmt::format("{:.4g}s", seconds) : fmt::format("{:.4g}ms", 1e3 * seconds);
}

// Uniform in [0, 1), from the highest 53 bits. The standard library's distribution may differ between implementations.
double even(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

double exponential(std::mt19937_64& random, double mean) { return -mean * std::log1p(-even(random)); }

}  // namespace

Outcome<Schedule> parse_schedule(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool has_figures = colon != std::string_view::npos;
  const std::string_view figures = has_figures ? text.substr(colon + 1) : std::string_view();
  const std::string shown = "'" + std::string(text) + "'";
  if (name == "throughout" && !has_figures) return Schedule(Throughout{});
  if (name == "part") return has_figures ? part_from(figures, shown) : Schedule(PartOfRun{});
  if (name == "periodic") return has_figures ? on_off_from<Periodic>(figures, shown) : Schedule(Periodic{});
  if (name == "bursts") return has_figures ? on_off_from<Bursts>(figures, shown) : Schedule(Bursts{});
  return Failure{shown + " is not throughout, part[:FROM..TO], periodic[:ON,OFF] or bursts[:ON,OFF]"};
}

std::string text_of(const Schedule& schedule) {
  struct Text {
    std::string operator()(const Throughout&) const { return "throughout"; }
    std::string operator()(const PartOfRun& part) const {
      if (part.in_shares) return fmt::format("part:{:.4g}%..{:.4g}%", 100.0 * part.from, 100.0 * part.to);
      return "part:" + time_text(part.from) + ".." + time_text(part.to);
    }
    std::string operator()(const Periodic& times) const {
      return "periodic:" + time_text(times.on) + "," + time_text(times.off);
    }
    std::string operator()(const Bursts& means) const {
      return "bursts:" + time_text(means.on) + "," + time_text(means.off);
    }
  };
  return std::visit(Text{}, schedule);
}

bool needs_length(const Schedule& schedule) {
  const PartOfRun* part = std::get_if<PartOfRun>(&schedule);
  return part != nullptr && part->in_shares;
}

std::optional<Stretch> Stretches::next() {
  if (is_over_) return std::nullopt;
  if (const PartOfRun* part = std::get_if<PartOfRun>(&schedule_)) {
    is_over_ = true;
    const double unit = part->in_shares ? run_seconds_ : 1.0;
    return Stretch{part->from * unit, part->to * unit};
  }
  if (std::holds_alternative<Throughout>(schedule_)) {
    is_over_ = true;
    return Stretch{0.0, std::numeric_limits<double>::infinity()};
  }
  double rest = 0.0;
  double work = 0.0;
  if (const Periodic* times = std::get_if<Periodic>(&schedule_)) {
    rest = reached_ > 0.0 ? times->off : 0.0;
    work = times->on;
  } else if (const Bursts* means = std::get_if<Bursts>(&schedule_)) {
    rest = exponential(random_, means->off);
    work = exponential(random_, means->on);
  }
  const double from = reached_ + rest;
  reached_ = from + work;
  return Stretch{from, reached_};
}

}  // namespace halcyon::cli
