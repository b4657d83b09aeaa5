#include "report/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "report/words.hpp"

namespace halcyon {
namespace {

// Numbers stay with their units, and signs are as LaTeX writes them.
std::string in_latex(std::string text) {
  using Sign = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Sign, 2> signs{{{"±", "$\\pm$"}, {"n = ", "$n$ = "}}};
  constexpr std::array<Sign, 4> units{{{" %", "\\,\\%"}, {" s", "\\,s"}, {" ms", "\\,ms"}, {" µs", "\\,$\\mu$s"}}};
  const auto replace = [&text](const Sign& sign, auto&& is_it) {
    for (std::size_t at = 0; (at = text.find(sign.first, at)) != std::string::npos;) {
      const std::size_t end = at + sign.first.size();
      const bool is_replaced = is_it(at, end);
      if (is_replaced) text.replace(at, sign.first.size(), sign.second);
      at += is_replaced ? sign.second.size() : 1;
    }
  };
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const Sign& sign : signs) replace(sign, [](std::size_t, std::size_t) { return true; });
  for (const Sign& unit : units) {
    replace(unit, [&](std::size_t at, std::size_t end) {
      return at > 0 && is_digit(text[at - 1]) && (end == text.size() || !is_letter(text[end]));
    });
  }
  return text;
}

}  // namespace

QuoteForm quote_form_of(std::string_view name) {
  return static_cast<QuoteForm>(std::ranges::find(quote_form_names, name) - quote_form_names.begin());
}

std::string with_half_width(double seconds, double half_width) {
  const Unit unit = unit_of(seconds);
  const double width = half_width / unit.seconds;
  constexpr int most_digits = 6;
  const int digits =
      width > 0.0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(width))), 0, most_digits) : unit.digits;
  return fmt::format("{:.{}f} ± {:.{}f} {}", seconds / unit.seconds, digits, width, digits, unit.name);
}

std::string quoted(std::string_view number, std::string_view rest, QuoteForm form) {
  const std::string_view mark = form == QuoteForm::markdown ? "**" : "";
  const std::string text = fmt::format("{0}{1}{0}{2}, Halcyon {3}\n", mark, number, rest, HALCYON_VERSION);
  return form == QuoteForm::latex ? in_latex(text) : text;
}

std::string quote_of_run(const Profile& profile, const Analysis& analysis, QuoteForm form) {
  const MethodResult& result = analysis.result();
  if (!profile.composed_of.empty()) {
    return quoted(seconds(analysis.run_time_seconds),
                  fmt::format(" undisturbed, composed of {}, not measured", plural(profile.composed_of.size(), "run")),
                  form);
  }
  const std::string run = profile.exit_state == "finalized" ? "one run" : "one run that did not come to its end";
  if (result.verdict == Verdict::unknown) {
    return quoted(seconds(analysis.run_time_seconds),
                  fmt::format(" as measured in {}, and how much of it came from outside is not known", run), form);
  }
  const Interval interval = analysis.undisturbed_interval_seconds();
  const std::string but = result.verdict == Verdict::green
                              ? ""
                              : fmt::format(", of which {} % {} ({})", decimal(result.interference_percent, 1),
                                            origin_words(result), name_of(result.verdict));
  const Unit unit = unit_of(analysis.run_time_seconds);
  const auto in_unit = [&unit](double value) { return fmt::format("{:.{}f}", value / unit.seconds, unit.digits); };
  return quoted(fmt::format("{} {}", in_unit(analysis.undisturbed_time_seconds()), unit.name),
                fmt::format(" undisturbed (90 % interval {} to {}), {} of {}{}", in_unit(interval.low),
                            in_unit(interval.high), run, seconds(analysis.run_time_seconds), but),
                form);
}

}  // namespace halcyon
