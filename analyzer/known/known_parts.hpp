// The parts of a run, and the best times of earlier runs for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Numerics: number of parts of a run along its timeline, with equal numbers of segments.
inline constexpr std::size_t known_part_count = 100;

/// The best times of one part, each from a different run; s.
struct KnownPart {
  double best = 0.0;
  double second = 0.0;  // the same as the best if only one run is known
};

/// The parts, as known from runs of the same number of segments, which do the same in the same order.
struct KnownParts {
  std::uint64_t segments = 0;
  std::uint64_t runs = 0;
  std::vector<KnownPart> parts;  // known_part_count
};

/// The parts from one run. None if it has fewer segments than parts.
std::optional<KnownParts> parts_of(const Profile& profile);

/// Adds a run with the same number of segments.
void add_run(KnownParts& known, const Profile& profile);

/// The best known time of all segments after the first `segments`, in s. None if the known runs had fewer segments.
std::optional<double> best_seconds_after(const KnownParts& known, std::uint64_t segments);

/// The time of a run beyond the best known time of each part, its own included. The best of several times is below
/// their mean by chance, and that is subtracted. The interval covers this random effect, and the random error of the
/// sum. None for a run with another number of segments.
std::optional<KnownRuns::OfParts> beyond_parts(const Profile& profile, const std::optional<KnownParts>& known);

}  // namespace halcyon
