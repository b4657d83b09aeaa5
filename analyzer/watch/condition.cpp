#include "analyzer/watch/condition.hpp"

#include <fmt/format.h>

namespace halcyon {

bool Condition::holds(const JobView& view) const {
  const auto is_beyond = [this](double low, double high) { return is_above ? low > limit : high < limit; };
  switch (watched) {
    case Watched::interference:
      return view.interference &&
             is_beyond(view.interference->interval_percent.low, view.interference->interval_percent.high);
    case Watched::rate:
      return view.progress_rate && is_beyond(100.0 * *view.progress_rate, 100.0 * *view.progress_rate);
    case Watched::standstill: break;
  }
  return view.last_boundary_seconds_ago && is_beyond(*view.last_boundary_seconds_ago, *view.last_boundary_seconds_ago);
}

std::string text_of(const Condition& condition) {
  std::string text = fmt::format("{} {} {:g} {}", watched_names[static_cast<std::size_t>(condition.watched)],
                                 condition.is_above ? '>' : '<', condition.limit,
                                 condition.watched == Watched::standstill ? "s" : "%");
  if (condition.for_seconds > 0.0) text += fmt::format(" for {:g} s", condition.for_seconds);
  return text;
}

std::string value_text(Watched watched, const JobView& view) {
  switch (watched) {
    case Watched::interference:
      if (!view.interference) return "interference not known yet";
      return fmt::format("interference {:.1f} % ({:.1f} to {:.1f})", view.interference->percent,
                         view.interference->interval_percent.low, view.interference->interval_percent.high);
    case Watched::rate:
      if (!view.progress_rate) return "rate not known yet";
      return fmt::format("rate {:.0f} %", 100.0 * *view.progress_rate);
    case Watched::standstill: break;
  }
  if (!view.last_boundary_seconds_ago) return "no boundary yet";
  return fmt::format("standstill {:.0f} s", *view.last_boundary_seconds_ago);
}

bool ConditionWatch::look(const JobView& view) {
  if (!condition_.holds(view)) {
    since_.reset();
    return false;
  }
  if (!since_) since_ = view.elapsed_seconds;
  if (is_told_ || view.elapsed_seconds - *since_ < condition_.for_seconds) return false;
  is_told_ = true;
  return true;
}

}  // namespace halcyon
