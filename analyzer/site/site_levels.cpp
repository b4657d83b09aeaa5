#include "analyzer/site/site_levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/repeat/stopping.hpp"
#include "analyzer/statistics/levels.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr std::size_t runs_of_a_bin = 25;  // Numerics: the error of a bin is a fifth of that of a run
constexpr int backfits = 3;                // Numerics: more do not change what is found
constexpr double normal_quartile = 0.6745;

std::size_t works_of(std::span<const SiteRun> runs) {
  std::size_t works = 0;
  for (const SiteRun& run : runs) works = std::max<std::size_t>(works, run.work + std::size_t{1});
  return works;
}

// The places of the usable runs of each work, along the calendar.
std::vector<std::vector<std::size_t>> by_work(std::span<const SiteRun> runs, std::span<const std::size_t> order) {
  std::vector<std::vector<std::size_t>> places(works_of(runs));
  for (const std::size_t i : order) places[runs[i].work].push_back(i);
  return places;
}

std::vector<double> picked(std::span<const double> values, std::span<const std::size_t> places) {
  std::vector<double> some;
  for (const std::size_t i : places) some.push_back(values[i]);
  return some;
}

struct Vote {
  double value = 0.0;
  double weight = 0.0;
  double deviation = 0.0;
  double own_error = 0.0;
};

double weighted_median(std::vector<Vote>& votes) {
  std::ranges::sort(votes, {}, &Vote::value);
  double all = 0.0;
  for (const Vote& vote : votes) all += vote.weight;
  double below = 0.0;
  for (const Vote& vote : votes) {
    below += vote.weight;
    if (below >= 0.5 * all) return vote.value;
  }
  return votes.back().value;
}

void add_bin(CommonTime& common, std::vector<Vote>& votes, double begin) {
  const double median = weighted_median(votes);
  double sum = 0.0;
  double weights = 0.0;
  double variance = 0.0;
  double own_errors = 0.0;
  for (const Vote& vote : votes) {
    if (std::abs(vote.value - median) > most_distance * vote.deviation) continue;
    sum += vote.weight * vote.value;
    weights += vote.weight;
    variance += vote.weight * vote.weight * vote.deviation * vote.deviation;
    own_errors += vote.weight * vote.own_error;
  }
  common.begins.push_back(begin);
  common.values.push_back(weights > 0.0 ? sum / weights : median);
  common.own_errors.push_back(weights > 0.0 ? own_errors / weights : 0.0);
  common.errors.push_back(weights > 0.0 ? std::sqrt(variance) / weights : votes.front().deviation);
}

}  // namespace

bool is_usable(const SiteRun& run) {
  const auto is_finite = [](double value) { return std::isfinite(value * value); };  // squares are added
  return !run.hosts.empty() && is_finite(run.day) && is_finite(run.log_seconds) && is_finite(run.log_error) &&
         run.log_error >= 0.0 && is_finite(run.lost_share) &&
         (run.log_host_seconds.empty() ||
          (run.log_host_seconds.size() == run.hosts.size() && std::ranges::all_of(run.log_host_seconds, is_finite)));
}

std::vector<std::size_t> parts_of_site(std::span<const SiteRun> runs) {
  std::vector<std::size_t> joined(works_of(runs));  // (works) another one of its part, or itself
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  const auto root_of = [&joined](std::size_t work) {
    while (joined[work] != work) work = joined[work] = joined[joined[work]];
    return work;
  };
  std::vector<std::optional<std::uint32_t>> user;  // (hosts) a work that used it
  for (const SiteRun& run : runs) {
    for (const std::uint32_t host : run.hosts) {
      if (user.size() <= host) user.resize(host + std::size_t{1});
      if (user[host]) joined[root_of(run.work)] = root_of(*user[host]);
      user[host] = run.work;
    }
  }
  std::vector<std::size_t> works(joined.size(), 0);  // (roots)
  for (std::size_t work = 0; work < joined.size(); ++work) ++works[root_of(work)];
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(works) - works.begin());
  std::vector<std::size_t> number(joined.size(), joined.size());  // (roots)
  std::vector<std::size_t> parts;
  std::size_t count = 0;
  for (std::size_t work = 0; work < joined.size(); ++work) {
    const std::size_t root = works[root_of(work)] < default_least_runs ? largest : root_of(work);
    if (number[root] == joined.size()) number[root] = count++;
    parts.push_back(number[root]);
  }
  return parts;
}

std::size_t CommonTime::bin_of(double day) const {
  const auto after = static_cast<std::size_t>(std::ranges::upper_bound(begins, day) - begins.begin());
  return after > 0 ? after - 1 : 0;
}

double CommonTime::change_near(std::size_t bin) const {
  double change = 0.0;
  if (bin > 0) change = std::abs(values[bin] - values[bin - 1]);
  if (bin + 1 < values.size()) change = std::max(change, std::abs(values[bin + 1] - values[bin]));
  return 0.5 * change;
}

std::optional<double> scatter_of_steps(std::span<const double> values, std::span<const double> errors) {
  if (values.size() < 3) return std::nullopt;
  const auto middle_step = [&](double scatter) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < values.size(); ++i) {
      const double variance = errors[i - 1] * errors[i - 1] + errors[i] * errors[i] + 2.0 * scatter * scatter;
      steps.push_back(std::abs(values[i] - values[i - 1]) / std::sqrt(variance));
    }
    return median_in_place(steps);
  };
  double low = 0.0;
  double high = least_noise;
  while (middle_step(high) > normal_quartile) high *= 2.0;
  constexpr double accuracy = 1e-3;  // Numerics
  while (high - low > accuracy * high && high > accuracy * least_noise) {
    const double scatter = 0.5 * (low + high);
    (middle_step(scatter) > normal_quartile ? low : high) = scatter;
  }
  return high;
}

CommonTime common_time(std::span<const SiteRun> runs, const SiteLevels& levels, std::span<const double> left,
                       std::size_t part, std::optional<std::uint32_t> without_work) {
  std::vector<std::size_t> order;
  for (const std::size_t i : levels.order)
    if (levels.part[runs[i].work] == part && runs[i].work != without_work) order.push_back(i);
  CommonTime common;
  std::vector<double> runs_of_work(levels.scatter.size(), 0.0);
  const std::size_t bins = std::max<std::size_t>(1, order.size() / runs_of_a_bin);
  for (std::size_t bin = 0; bin < bins && !order.empty(); ++bin) {
    const std::span<const std::size_t> members = std::span(order).subspan(
        bin * order.size() / bins, (bin + 1) * order.size() / bins - bin * order.size() / bins);
    for (const std::size_t i : members) runs_of_work[runs[i].work] += 1.0;
    std::vector<Vote> votes;
    for (const std::size_t i : members)
      votes.push_back({left[i], 1.0 / runs_of_work[runs[i].work], levels.deviation[i], runs[i].log_error});
    for (const std::size_t i : members) runs_of_work[runs[i].work] = 0.0;
    add_bin(common, votes, runs[members.front()].day);
  }
  return common;
}

SiteLevels site_levels(std::span<const SiteRun> runs, std::span<const double> values, std::span<const double> errors) {
  SiteLevels levels;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (is_usable(runs[i])) levels.order.push_back(i);
  std::ranges::stable_sort(levels.order, {}, [&](std::size_t i) { return runs[i].day; });
  const std::vector<std::vector<std::size_t>> works = by_work(runs, levels.order);
  for (auto* of_runs : {&levels.level, &levels.common, &levels.deviation}) of_runs->assign(runs.size(), 0.0);
  levels.stretch.assign(runs.size(), 0);
  levels.bin.assign(runs.size(), 0);
  levels.part = parts_of_site(runs);
  const std::size_t parts = levels.part.empty() ? 0 : std::ranges::max(levels.part) + 1;
  levels.scatter.assign(works.size(), 0.0);

  std::vector<double> left(values.begin(), values.end());  // less what works have in common
  for (int round = 0; round <= backfits; ++round) {
    std::vector<double> known;
    std::vector<bool> is_known(works.size(), false);
    for (std::size_t work = 0; work < works.size(); ++work) {
      const auto scatter = scatter_of_steps(picked(left, works[work]), picked(errors, works[work]));
      if (!scatter) continue;
      is_known[work] = true;
      levels.scatter[work] = known.emplace_back(*scatter);
    }
    const double usual_scatter = known.empty() ? least_noise : median_in_place(known);
    levels.stretches = 0;
    for (std::size_t work = 0; work < works.size(); ++work) {
      if (!is_known[work]) levels.scatter[work] = usual_scatter;
      if (works[work].empty()) continue;
      std::vector<double> series = picked(left, works[work]);
      std::vector<double> deviations;
      for (const std::size_t i : works[work])
        deviations.push_back(std::max(least_noise, std::hypot(errors[i], levels.scatter[work])));
      Division division;
      if (round == 0) {  // one level, or what all works share would be divided among them
        division.stretches = {{{0, series.size()}, median_in_place(series)}};
      } else {
        const std::vector<double> costs(series.size(), usual_cost_of_change(series.size()));
        division = divided_at_least_cost(series, deviations, costs);
      }
      for (const auto& [stretch, level] : division.stretches) {
        for (std::size_t k = stretch.begin; k < stretch.end; ++k) {
          const std::size_t i = works[work][k];
          levels.level[i] = level;
          levels.stretch[i] = levels.stretches;
          levels.deviation[i] = deviations[k] * division.noise;
        }
        ++levels.stretches;
      }
    }
    if (round == backfits) break;
    std::vector<double> beyond(values.size(), 0.0);
    for (const std::size_t i : levels.order) beyond[i] = values[i] - levels.level[i];
    levels.bins = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const CommonTime common = common_time(runs, levels, beyond, part);
      for (const std::size_t i : levels.order) {
        if (levels.part[runs[i].work] != part) continue;
        const std::size_t bin = common.bin_of(runs[i].day);
        levels.bin[i] = levels.bins + bin;
        levels.common[i] = common.values[bin];
        left[i] = values[i] - levels.common[i];
      }
      levels.bins += common.values.size();
    }
  }
  return levels;
}

}  // namespace halcyon
