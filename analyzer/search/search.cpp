#include "analyzer/search/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

namespace halcyon {
namespace {

constexpr double confidence_of_a_look = 0.95;  // the workbench paper, section 3.3
constexpr double steps_of_a_range = 20.0;
constexpr double most_extrapolation = 4.0;  // from a load to the next by the model alone

struct Bracket {
  const TriedLoad* good = nullptr;  // the load nearest the limit that meets it, or is at it
  const TriedLoad* bad = nullptr;   // the one that does not meet it
  bool is_monotone = true;
};

Interval region_of(const SearchRequest& request) {
  const double inside = request.limit.value * request.region_inside;
  const double beyond = request.limit.value * request.region_beyond;
  if (request.limit.is_upper) return {request.limit.value - inside, request.limit.value + beyond};
  return {request.limit.value - beyond, request.limit.value + inside};
}

double middle_of(const Interval& interval) { return 0.5 * (interval.low + interval.high); }

bool is_better(const ResponseLimit& limit, double response, double other) {
  return limit.is_upper ? response < other : response > other;
}

// Decides where a load stands. `look` is the interval of its mean for that.
void judge(const SearchRequest& request, const Interval& look, TriedLoad& tried) {
  if (tried.failed > 0) {
    tried.standing = Standing::fails;
    return;
  }
  if (tried.trials < request.fewest_trials) return;
  const Interval region = region_of(request);
  const Standing outside = is_better(request.limit, tried.mean, middle_of(region)) ? Standing::meets : Standing::fails;
  const bool is_clear = look.low > region.high || look.high < region.low;
  const bool is_accurate = tried.accuracy >= request.accuracy;
  if (!is_clear && !is_accurate && tried.trials < request.most_trials) return;
  tried.is_sure = is_clear || is_accurate;
  const bool is_within = tried.mean >= region.low && tried.mean <= region.high;
  tried.standing = is_within && !is_clear ? Standing::reached : outside;
}

std::vector<TriedLoad> tried_loads(const SearchRequest& request, std::span<const Trial> trials) {
  std::vector<TriedLoad> tried;
  std::vector<std::vector<double>> responses;
  for (const Trial& trial : trials) {
    const auto known =
        std::find_if(tried.begin(), tried.end(), [&trial](const TriedLoad& each) { return each.load == trial.load; });
    const auto at = static_cast<std::size_t>(known - tried.begin());
    if (known == tried.end()) {
      tried.push_back({.load = trial.load});
      responses.emplace_back();
    }
    ++tried[at].trials;
    if (trial.response) {
      responses[at].push_back(*trial.response);
    } else {
      ++tried[at].failed;
    }
  }
  for (std::size_t i = 0; i < tried.size(); ++i) {
    Interval look{};
    if (!responses[i].empty()) {
      look = interval_of_mean(responses[i], confidence_of_a_look);
      tried[i].interval = interval_of_mean(responses[i], request.confidence);
      tried[i].accuracy = accuracy_of(tried[i].interval);
      for (const double response : responses[i]) {
        tried[i].mean += response / static_cast<double>(responses[i].size());
      }
    }
    judge(request, look, tried[i]);
  }
  return tried;
}

enum class Trend : std::uint8_t { unknown, better, worse };

// How the response changes with the load: as loads meet the limit or not, or as two loads differ beyond their noise.
Trend trend_of(const SearchRequest& request, const std::vector<TriedLoad>& tried) {
  Interval meet{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Interval fail = meet;
  const TriedLoad* least = nullptr;
  const TriedLoad* largest = nullptr;
  for (const TriedLoad& each : tried) {
    if (each.standing == Standing::open) continue;
    Interval& loads = each.standing == Standing::fails ? fail : meet;
    loads = {std::min(loads.low, each.load), std::max(loads.high, each.load)};
    if (each.failed > 0) continue;
    if (least == nullptr || each.load < least->load) least = &each;
    if (largest == nullptr || each.load > largest->load) largest = &each;
  }
  const bool has_both = meet.low <= meet.high && fail.low <= fail.high;
  if (has_both && fail.high < meet.low) return Trend::better;
  if (has_both && meet.high < fail.low) return Trend::worse;
  if (least == largest) return Trend::unknown;
  const bool differ = least->interval.high < largest->interval.low || largest->interval.high < least->interval.low;
  if (!differ) return Trend::unknown;
  return is_better(request.limit, largest->mean, least->mean) ? Trend::better : Trend::worse;
}

bool is_harder(Aim aim, const TriedLoad& a, const TriedLoad& b) {
  return aim == Aim::largest ? a.load > b.load : a.load < b.load;
}

// `easiest`: of the range. Where even it fails, the bracket is at the next loads that meet the limit, if any do.
Bracket bracket_of(const std::vector<TriedLoad>& tried, Aim aim, std::optional<double> easiest) {
  std::vector<const TriedLoad*> settled;  // the easiest first
  for (const TriedLoad& each : tried) {
    if (each.standing != Standing::open) settled.push_back(&each);
  }
  std::sort(settled.begin(), settled.end(),
            [aim](const TriedLoad* a, const TriedLoad* b) { return is_harder(aim, *b, *a); });
  const auto fails = [](const TriedLoad* each) { return each->standing == Standing::fails; };
  auto first = settled.begin();
  if (first != settled.end() && (*first)->load == easiest) first = std::find_if_not(first, settled.end(), fails);
  if (first == settled.end()) first = settled.begin();  // all fail
  const auto bad = std::find_if(first, settled.end(), fails);

  Bracket bracket;
  if (bad != first) bracket.good = *std::prev(bad);
  if (bad != settled.end()) bracket.bad = *bad;
  int crossings = 0;
  for (std::size_t i = 1; i < settled.size(); ++i) crossings += fails(settled[i]) != fails(settled[i - 1]) ? 1 : 0;
  bracket.is_monotone = crossings <= 1;
  return bracket;
}

// Chooses a load of a request.
class Picker {
 public:
  Picker(const SearchRequest& request, const std::vector<TriedLoad>& tried) : request_(request), tried_(tried) {}

  /// Beyond all loads tried, above or below `from`.
  double beyond(double from, bool above) const {
    const bool by_ratio = request_.pick != LoadPick::linear && from > 0.0 && (above || from > least_scale());
    double load = above ? from + step() : from - step();
    if (by_ratio) load = above ? 2.0 * from : from / 2.0;
    if (const auto predicted = by_ratio && request_.pick == LoadPick::model ? prediction() : std::nullopt) {
      const bool leads_on = above ? *predicted > from : *predicted < from;
      if (leads_on) {
        load =
            above ? std::min(*predicted, most_extrapolation * from) : std::max(*predicted, from / most_extrapolation);
      }
    }
    if (request_.whole_loads) load = above ? std::floor(load) : std::ceil(load);
    const double least = request_.whole_loads ? 1.0 : narrow(from, from);
    load = above ? std::max(load, from + least) : std::min(load, from - least);
    return std::clamp(load, request_.range.low, request_.range.high);
  }

  /// Between two loads; nothing if they are as near as asked.
  std::optional<double> between(double low, double high) const {
    const double nearest = narrow(low, high);
    if (high - low <= nearest) return std::nullopt;
    double load = 0.5 * (low + high);
    const auto predicted =
        request_.pick == LoadPick::model && !goes_on_one_side() ? prediction() : std::optional<double>();
    if (predicted && *predicted > low && *predicted < high) load = *predicted;
    if (request_.whole_loads) return std::clamp(std::round(load), low + 1.0, high - 1.0);
    const double margin = 0.25 * nearest;
    return std::clamp(load, low + margin, high - margin);
  }

 private:
  double step() const {
    const double step =
        request_.step > 0.0 ? request_.step : (request_.range.high - request_.range.low) / steps_of_a_range;
    return request_.whole_loads ? std::max(1.0, std::round(step)) : step;
  }

  // Ratios of loads never lead to 0. In a range that reaches it, smaller loads than this are told apart by their
  // distance.
  double least_scale() const { return request_.whole_loads || request_.range.low > 0.0 ? 0.0 : step(); }

  // The least distance of two loads there that is of interest.
  double narrow(double low, double high) const {
    const double scale = std::max({std::abs(low), std::abs(high), least_scale()});
    return std::max(request_.whole_loads ? 1.0 : 0.0, request_.resolution * scale);
  }

  // The model through the last load and the one whose response is nearest the limit (section 3.6). It aims at the
  // middle of the region at the limit.
  std::optional<double> prediction() const {
    const double wanted = middle_of(region_of(request_));
    if (tried_.size() < 2 || tried_.back().failed > 0) return std::nullopt;
    const TriedLoad& last = tried_.back();
    const TriedLoad* nearest = nullptr;
    for (const TriedLoad& each : tried_) {
      if (&each == &last || each.failed > 0) continue;
      if (nearest == nullptr || std::abs(each.mean - wanted) < std::abs(nearest->mean - wanted)) nearest = &each;
    }
    if (nearest == nullptr || last.mean <= 0.0 || nearest->mean <= 0.0) return std::nullopt;
    double load = std::numeric_limits<double>::quiet_NaN();
    if (request_.model == LoadModel::queue) {
      const double b = (1.0 / last.mean - 1.0 / nearest->mean) / (nearest->load - last.load);
      load = (1.0 / last.mean + b * last.load - 1.0 / wanted) / b;
    } else if (last.load > 0.0 && nearest->load > 0.0) {
      const double b = std::log(last.mean / nearest->mean) / std::log(last.load / nearest->load);
      load = last.load * std::pow(wanted / last.mean, 1.0 / b);
    }
    return std::isfinite(load) ? std::optional(load) : std::nullopt;
  }

  // A model that errs to one side moves one end of the bracket only, and may creep.
  bool goes_on_one_side() const {
    return tried_.size() >= 2 && tried_.back().standing == tried_[tried_.size() - 2].standing;
  }

  const SearchRequest& request_;
  const std::vector<TriedLoad>& tried_;
};

std::optional<TriedLoad> copy_of(const TriedLoad* tried) {
  return tried != nullptr ? std::optional(*tried) : std::nullopt;
}

}  // namespace

std::string_view name_of(Aim aim) { return aim == Aim::largest ? "largest" : "least"; }

std::string_view name_of(LoadPick pick) {
  constexpr std::array<std::string_view, 3> names{"linear", "binary", "model"};
  return names[static_cast<std::size_t>(pick)];
}

SearchState state_of(const SearchRequest& request, std::span<const Trial> trials) {
  SearchState state{.tried = tried_loads(request, trials)};
  const std::vector<TriedLoad>& tried = state.tried;
  const Trend trend = trend_of(request, tried);
  state.aim = request.aim.value_or(trend == Trend::better ? Aim::least : Aim::largest);
  if (tried.empty()) {
    const double start = request.start.value_or(request.range.low);
    state.next = std::clamp(request.whole_loads ? std::round(start) : start, request.range.low, request.range.high);
    return state;
  }
  const double easiest = state.aim == Aim::largest ? request.range.low : request.range.high;
  const double hardest = state.aim == Aim::largest ? request.range.high : request.range.low;
  const bool is_wrong_way = trend == (state.aim == Aim::largest ? Trend::better : Trend::worse);
  const Bracket bracket = bracket_of(tried, state.aim, is_wrong_way ? std::nullopt : std::optional(easiest));
  state.answer = copy_of(bracket.good);
  state.beyond = copy_of(bracket.bad);
  state.is_monotone = bracket.is_monotone;
  const auto end = [&](SearchEnd why) {
    state.end = why;
    return state;
  };
  if (state.answer && state.answer->standing == Standing::reached) {
    return end(state.answer->is_sure ? SearchEnd::reached : SearchEnd::noise);
  }
  // Loads nearer to the limit would be even less sure.
  if (std::any_of(tried.begin(), tried.end(), [](const TriedLoad& each) { return !each.is_sure; })) {
    return end(SearchEnd::noise);
  }
  const auto go_on = [&](double load) {
    if (trials.size() >= request.most_runs) return end(SearchEnd::too_many_runs);
    state.next = load;
    return state;
  };
  for (const TriedLoad& each : tried) {
    if (each.standing == Standing::open) return go_on(each.load);
  }

  const Picker picker(request, tried);
  if (bracket.good == nullptr) {
    if (bracket.bad->load != easiest) return go_on(picker.beyond(bracket.bad->load, state.aim == Aim::least));
    // The next load shows whether the limit comes nearer from here. Without an aim, it may also come nearer further on,
    // until the responses show a direction.
    const TriedLoad& furthest = *std::max_element(
        tried.begin(), tried.end(), [&](const TriedLoad& a, const TriedLoad& b) { return is_harder(state.aim, b, a); });
    const bool has_direction = tried.size() > 1 && (request.aim || trend != Trend::unknown);
    if (!has_direction && furthest.load != hardest) {
      return go_on(picker.beyond(furthest.load, state.aim == Aim::largest));
    }
    return end(is_wrong_way ? SearchEnd::wrong_way : SearchEnd::none_meets);
  }
  if (bracket.bad == nullptr) {
    if (bracket.good->load == hardest) return end(SearchEnd::all_meet);
    return go_on(picker.beyond(bracket.good->load, state.aim == Aim::largest));
  }
  const auto [low, high] = std::minmax(bracket.good->load, bracket.bad->load);
  const std::optional<double> middle = picker.between(low, high);
  return middle ? go_on(*middle) : end(SearchEnd::bracketed);
}

std::optional<double> start_from(std::span<const KnownPeak> known, std::span<const double> factors) {
  if (known.empty()) return std::nullopt;
  std::vector<double> ranges(factors.size(), 0.0);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    double least = factors[i];
    double most = factors[i];
    for (const KnownPeak& peak : known) {
      least = std::min(least, peak.factors[i]);
      most = std::max(most, peak.factors[i]);
    }
    ranges[i] = most > least ? most - least : 1.0;
  }
  const auto distance = [&](const KnownPeak& peak) {
    double sum = 0.0;
    for (std::size_t i = 0; i < factors.size(); ++i) sum += std::pow((peak.factors[i] - factors[i]) / ranges[i], 2);
    return sum;
  };
  return std::min_element(known.begin(), known.end(),
                          [&](const KnownPeak& a, const KnownPeak& b) { return distance(a) < distance(b); })
      ->load;
}

}  // namespace halcyon
