#include "analyzer/groups/explaining_work.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/statistics/durations.hpp"
#include "analyzer/statistics/parabola.hpp"

namespace halcyon {
namespace {

constexpr std::size_t fewest_in_part = 12;  // for quartiles worth their name
constexpr std::size_t most_parts = 32;
// With ranks that do the same work, both explain alike, but for chance.
constexpr double much_less = 0.5;

// Mean distance from the lower quartile to the median of the durations at about the same work, relative to these: what
// the work does not explain, without the delays.
double spread_at_equal_work(const Profile& profile, const Grouping& kinds, const FeatureColumn& work) {
  double spread = 0.0;
  double weight = 0.0;
  for (std::uint32_t kind = 0; kind < kinds.groups.count; ++kind) {
    const std::span<const std::uint32_t> members = kinds.members(kind);
    if (members.size() < 2 * fewest_in_part) continue;
    std::vector<std::uint32_t> by_work(members.begin(), members.end());
    std::stable_sort(by_work.begin(), by_work.end(), [&work](std::uint32_t a, std::uint32_t b) {
      return work.bins[work.bin_of(a)] < work.bins[work.bin_of(b)];
    });
    const std::size_t parts = std::min(most_parts, by_work.size() / fewest_in_part);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t from = by_work.size() * part / parts;
      const std::size_t size = by_work.size() * (part + 1) / parts - from;
      Durations durations(static_cast<Eigen::Index>(size));
      for (std::size_t i = 0; i < size; ++i) {
        durations[static_cast<Eigen::Index>(i)] = static_cast<double>(profile.duration[by_work[from + i]]);
      }
      const double middle = median(durations);
      spread += static_cast<double>(size) * (middle - lower_quartile(durations));
      weight += static_cast<double>(size) * middle;
    }
  }
  return weight > 0.0 ? spread / weight : std::numeric_limits<double>::infinity();
}

}  // namespace

const FeatureColumn& explaining_work(const Profile& profile) {
  const FeatureColumn& median_work = profile.features[index_of(Feature::compute)];
  if (profile.largest_work.index.empty()) return median_work;
  const Grouping kinds = group_by_signature(profile);
  const double with_median = spread_at_equal_work(profile, kinds, median_work);
  const double with_largest = spread_at_equal_work(profile, kinds, profile.largest_work);
  return with_largest < much_less * with_median ? profile.largest_work : median_work;
}

}  // namespace halcyon
