// What is kept of earlier runs of a work, and how far a run lies above the best of them: that is what one run by itself
// cannot see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/groups/group_match.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Beyond, the groups of the fewest segments are not kept.
inline constexpr std::size_t most_known_groups = 256;

/// The circumstances under which times may be compared. Of the same command on other input, the groups do not match.
struct Circumstances {
  std::string command;
  int ranks = 0;
  std::size_t hosts = 0;
  std::string cpus;  // models of the ranks' processors, each once
  std::string mpi;
  std::string counter;
  bool operator==(const Circumstances&) const = default;
};
Circumstances circumstances_of(const Profile& profile);

/// A group, as known from the run in which it was fastest.
struct KnownGroup {
  GroupDescription description;
  double best_median = 0.0;             // s
  double best_error = 0.0;              // s, standard error of that median
  std::optional<double> second_median;  // s, the next best of another run
  std::uint64_t runs = 0;               // that had the group
};

/// A run is cut into so many parts of as many segments each, in the order of time.
inline constexpr std::size_t known_part_count = 100;

/// The best times of one part, each from another run; s.
struct KnownPart {
  double best = 0.0;
  double second = 0.0;  // of one run, the same
};

/// The parts, as known from runs of the same number of segments: these do the same in the same order.
struct KnownParts {
  std::uint64_t segments = 0;
  std::uint64_t runs = 0;
  std::vector<KnownPart> parts;  // known_part_count
};

/// What is known of a work.
struct KnownWork {
  Circumstances circumstances;
  std::uint64_t runs = 0;
  std::vector<KnownGroup> groups;
  std::optional<KnownParts> parts;  // none of a run of fewer segments than parts
};

/// Whether something is learnt from a run of which enough repeats to have medians: not if it was no whole one, was
/// composed, or was disturbed on purpose.
bool is_learnt_from(const Profile& profile, bool has_medians);

/// By the test of `compare` (comparison.hpp): nine tenths of the judged segments of either have one of the same
/// signature in the other, and either half of the run time lies in matched groups, or there are as many segments with
/// as much work and volume. None: it is other work. The displacement is the sum over the matched judged groups of n
/// (median - best known median). Its interval is that of the medians' errors, and reaches further down by what the best
/// of k medians is below their mean by chance alone. Of the parts: the sum over them of what the run took beyond the
/// best time known of each, its own included, less what the best of so many is below their mean by chance. The interval
/// reaches as far as that, and what chance does to a sum.
std::optional<KnownRuns> displacement_from(const Profile& profile, const Grouping& grouping, const KnownWork& known);

/// Whether half of the run time lies in matched groups; else the displacement is of too little.
bool knows_groups(const KnownRuns& known, const Profile& profile);

/// By nine tenths of their segments, where no run is at hand.
bool is_same_work(const KnownWork& a, const KnownWork& b);

/// With one run more; `known` is of the same work.
KnownWork with_run(KnownWork known, const Profile& profile, const Grouping& grouping);
/// Of one run.
KnownWork known_by(const Profile& profile, const Grouping& grouping);

}  // namespace halcyon
