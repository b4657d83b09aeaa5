#include "analyzer/phases/repeated_work.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/durations.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double judged_outweighs = 9.0;        // time that is not judged, up to nine tenths of an interval
constexpr double least_share_of_judged = 0.5;   // with less of the judged time, no part of the run is the repeated work
constexpr double compared_share = 0.9;          // of the repeated time
constexpr std::size_t compared_with_last = 15;  // repeated segments, with the segment before them
// Of a segment: with this share of it at their baseline, several repetitions are all that it holds.
constexpr double least_share_of_several = 0.5;
constexpr double multiple_tolerance = 0.1;  // of volumes, and of less work, where calls are a multiple
constexpr std::size_t most_compared = 500'000;
constexpr std::size_t golden_ratio_of_32_bits = 2'654'435'769;  // 2^32 / phi, odd
constexpr std::size_t sample_of_level = 255;
constexpr std::size_t sample_of_group_levels = 2048;

bool is_collective(Feature feature) {
  return feature == Feature::collectives_one_to_all || feature == Feature::collectives_all_to_one ||
         feature == Feature::collectives_all_to_all || feature == Feature::bytes_collective;
}

// The values of a segment and of a repetition in one feature.
struct FeatureValues {
  FeatureKind kind;
  Feature feature;
  double segment;
  double repetition;
};
// CPU time counted as work varies, so the repetition's is the least of several.
std::vector<FeatureValues> values_of(const Profile& profile, const Grouping& grouping, std::size_t segment,
                                     std::size_t repetition, std::span<const std::size_t> several) {
  std::vector<FeatureValues> values;
  for (const FeatureInfo& info : features) {
    const bool is_work = info.kind == FeatureKind::work;
    const FeatureColumn& column = is_work ? work_of(profile, grouping) : profile.features[index_of(info.feature)];
    if (column.bins.empty()) continue;
    const auto value_of = [&column](std::size_t at) { return column.bins[column.bin_of(at)]; };
    double of_repetition = value_of(repetition);
    for (const std::size_t one : several) {
      const bool is_alike = is_work && grouping.groups.of[one] == grouping.groups.of[repetition];
      if (is_alike) of_repetition = std::min(of_repetition, value_of(one));
    }
    values.push_back({info.kind, info.feature, value_of(segment), of_repetition});
  }
  return values;
}

// What multiple of a repetition's calls and volumes the segment has; 0 if it has no multiple. Collectives may be fewer,
// since boundaries are among them.
double multiple_of(const std::vector<FeatureValues>& values) {
  double multiple = 0.0;
  for (const FeatureValues& one : values) {
    if (one.kind != FeatureKind::count || is_collective(one.feature) || !(one.repetition > 0.0)) continue;
    const double ratio = one.segment / one.repetition;
    if (std::round(ratio) != ratio || (multiple > 0.0 && ratio != multiple)) return 0.0;
    multiple = ratio;
  }
  const bool fits = std::all_of(values.begin(), values.end(), [multiple](const FeatureValues& one) {
    if (one.kind == FeatureKind::work) return one.segment >= (1.0 - multiple_tolerance) * multiple * one.repetition;
    if (is_collective(one.feature)) return one.segment >= one.repetition && one.segment <= multiple * one.repetition;
    const double tolerance = one.kind == FeatureKind::volume ? multiple_tolerance : 0.0;
    return std::abs(one.segment - multiple * one.repetition) <= tolerance * multiple * one.repetition;
  });
  return fits ? multiple : 0.0;
}

// How many repetitions the segment holds. One, if it has no fewer calls and no less work, or several, if its calls are
// a multiple. Volumes alone tell less, since they change slowly in many programs.
double repetitions_in(const std::vector<FeatureValues>& values) {
  const bool holds_one = std::all_of(values.begin(), values.end(), [](const FeatureValues& one) {
    return one.kind == FeatureKind::volume || one.segment >= one.repetition;
  });
  return holds_one ? std::max(1.0, multiple_of(values)) : 0.0;
}

}  // namespace

// The interval with the largest sum (J. Bentley, "Programming pearls", Comm. ACM 27, 1984).
std::optional<Stretch> repeated_part(const Profile& profile, const Grouping& grouping,
                                     const GroupBaselines& baselines) {
  if (std::all_of(baselines.begin(), baselines.end(), [](double baseline) { return !(baseline > 0.0); })) {
    return std::nullopt;
  }
  Stretch part;
  double largest = 0.0;
  double judged_seconds_of_part = 0.0;
  double lead = 0.0;            // of judged time in the best interval that ends here
  double judged_seconds = 0.0;  // of the run so far
  double before = 0.0;          // the judged time when the best interval that ends here began
  std::size_t begin = 0;
  for (std::size_t segment = 0; segment < profile.duration.size(); ++segment) {
    const double duration = static_cast<double>(profile.duration[segment]);
    const double baseline = baselines[grouping.groups.of[segment]];
    const double judged = baseline > 0.0 ? std::min(duration, baseline) : 0.0;
    judged_seconds += judged;
    // No judged segment is against the interval, however disturbed it is.
    lead += baseline > 0.0 ? std::max(judged_outweighs * judged - (duration - judged), 0.0) : -duration;
    if (lead < 0.0) {
      lead = 0.0;
      before = judged_seconds;
      begin = segment + 1;
    } else if (lead >= largest) {
      largest = lead;
      judged_seconds_of_part = judged_seconds - before;
      part = {begin, segment + 1};
    }
  }
  if (judged_seconds_of_part < least_share_of_judged * judged_seconds) return std::nullopt;
  return part;
}

double first_repetitions_before(const Profile& profile, const Grouping& grouping, const GroupBaselines& baselines,
                                Stretch part) {
  if (part.begin == 0) return 0.0;
  const std::size_t last = part.begin - 1;
  const auto duration = static_cast<double>(profile.duration[last]);
  std::vector<std::size_t> next;  // the first repeated segments that end at the same site
  for (std::size_t i = part.begin; i < part.end && next.size() < compared_with_last; ++i) {
    if (baselines[grouping.groups.of[i]] > 0.0 && site_of(profile, i) == site_of(profile, last)) next.push_back(i);
  }
  std::vector<double> seconds;  // of what `last` holds, going by each of them
  for (const std::size_t repetition : next) {
    const double repetitions = repetitions_in(values_of(profile, grouping, last, repetition, next));
    if (!(repetitions > 0.0)) continue;
    const double of_repetitions = repetitions * baselines[grouping.groups.of[repetition]];
    // The first repetitions often take longer.
    const bool is_all = repetitions > 1.0 && of_repetitions >= least_share_of_several * duration;
    seconds.push_back(is_all ? duration : std::min(of_repetitions, duration));
  }
  return seconds.empty() ? 0.0 : median_in_place(seconds);
}

ComparedSegments::ComparedSegments(const Profile& profile, const Grouping& grouping, const GroupBaselines& baselines,
                                   Stretch part)
    : profile_(profile), grouping_(grouping), baselines_(baselines.size(), 0.0) {
  std::vector<std::pair<double, std::uint32_t>> groups;  // s, number
  double all = 0.0;
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    if (!(baselines[group] > 0.0)) continue;
    groups.emplace_back(baselines[group] * static_cast<double>(grouping.members(group).size()), group);
    all += groups.back().first;
  }
  std::sort(groups.begin(), groups.end(), std::greater<>());
  double compared = 0.0;
  std::size_t count = 0;
  for (const auto& [seconds, group] : groups) {
    if (compared >= compared_share * all) break;
    compared += seconds;
    baselines_[group] = baselines[group];
    count += grouping.members(group).size();
  }
  segments_.reserve(std::min(count, 2 * most_compared));
  // Of many, some are enough. Multiples of the golden ratio choose them evenly.
  segments_for_each_ = 1 + count / most_compared;
  const std::uint64_t kept_below = (std::uint64_t{1} << 32) / segments_for_each_;
  for (std::size_t segment = part.begin; segment < part.end; ++segment) {
    if (static_cast<std::uint32_t>(segment * golden_ratio_of_32_bits) >= kept_below) continue;
    if (baselines_[grouping.groups.of[segment]] > 0.0) segments_.push_back(static_cast<std::uint32_t>(segment));
  }
  count_work();
}

void ComparedSegments::count_work() {
  const FeatureColumn& work = work_of(profile_, grouping_);
  if (profile_.counter == "cpu" || work.index.empty()) return;
  work_factors_.assign(size(), 1.0F);
  std::vector<std::size_t> by_group(size());
  std::iota(by_group.begin(), by_group.end(), std::size_t{0});
  std::stable_sort(by_group.begin(), by_group.end(),
                   [this](std::size_t a, std::size_t b) { return group(a) < group(b); });
  std::vector<std::uint32_t> members;
  for (std::size_t first = 0; first < size(); first += members.size()) {
    members.clear();
    for (std::size_t i = first; i < size() && group(by_group[i]) == group(by_group[first]); ++i) {
      members.push_back(segment(by_group[i]));
    }
    const std::optional<Durations> factors = work_factors(profile_, work, members);
    for (std::size_t i = 0; factors && i < members.size(); ++i) {
      work_factors_[by_group[first + i]] = static_cast<float>((*factors)[static_cast<Eigen::Index>(i)]);
    }
  }
}

double ComparedSegments::relative(std::size_t at) const { return seconds(at) / baseline(at); }

// Multiples of the golden ratio fill an interval evenly, and have no period that a program could have, too.
std::vector<std::size_t> ComparedSegments::sample(Stretch stretch, std::size_t most) {
  std::vector<std::size_t> places(std::min(stretch.size(), most));
  if (stretch.size() <= most) {
    std::iota(places.begin(), places.end(), stretch.begin);
    return places;
  }
  for (std::size_t i = 0; i < most; ++i) {
    const double turns = (static_cast<double>(i) + 0.5) * std::numbers::phi;
    const double share = turns - std::floor(turns);
    places[i] = stretch.begin +
                std::min(static_cast<std::size_t>(share * static_cast<double>(stretch.size())), stretch.size() - 1);
  }
  return places;
}

double ComparedSegments::level(Stretch stretch) const {
  std::vector<double> values;
  for (const std::size_t at : sample(stretch, sample_of_level)) values.push_back(relative(at));
  return median_in_place(values);
}

std::vector<GroupLevel> ComparedSegments::group_levels(Stretch stretch) const {
  std::vector<std::size_t> places = sample(stretch, sample_of_group_levels);
  std::vector<double> values;
  for (const std::size_t at : places) values.push_back(relative(at));
  const double of_all = median_in_place(values);
  std::sort(places.begin(), places.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(group(a), relative(a)) < std::pair(group(b), relative(b));
  });
  std::vector<GroupLevel> levels;
  for (std::size_t first = 0; first < places.size();) {
    double seconds = 0.0;
    std::size_t next = first;
    for (; next < places.size() && group(places[next]) == group(places[first]); ++next)
      seconds += baseline(places[next]);
    const std::size_t count = next - first;
    const double level = count >= fewest_for_median ? relative(places[first + count / 2]) : of_all;
    levels.push_back({group(places[first]), level, seconds, count >= fewest_for_median});
    first = next;
  }
  return levels;
}

}  // namespace halcyon
