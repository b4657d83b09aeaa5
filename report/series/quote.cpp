#include "report/series/quote.hpp"

#include <fmt/format.h>

#include "report/words.hpp"

namespace halcyon {

std::string quote_of_series(const SeriesSummary& summary, const Precision& precision, QuoteForm form) {
  const MeanTime& mean = summary.undisturbed;
  if (!mean.interval_seconds) {
    return quoted("not known",
                  fmt::format(": an interval of the mean needs two runs with an estimate, n = {}", mean.runs), form);
  }
  const double half_width = 0.01 * *mean.half_width_percent() * mean.mean_seconds;
  const bool is_known = *mean.half_width_percent() <= precision.within_percent;
  const std::string but = summary.contradiction ? ", which the measured times contradict"
                          : is_known            ? ""
                                                : fmt::format(", not yet known to ±{:g} %", precision.within_percent);
  const std::string runs = summary.quiet.runs == 0 ? ", none of them green or yellow" : "";
  return quoted(with_half_width(mean.mean_seconds, half_width),
                fmt::format(", n = {}{}, undisturbed, {} confidence{}", mean.runs, runs,
                            confidence_words(precision.confidence), but),
                form);
}

}  // namespace halcyon
