// The records kept of earlier runs of a work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/matching/group_description.hpp"
#include "analyzer/groups/grouping.hpp"
#include "analyzer/known/known_parts.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Numerics: if there are more groups, those with the fewest segments are not kept.
inline constexpr std::size_t most_known_groups = 256;

/// The circumstances under which times may be compared. If the same command runs on other input, the groups do not
/// match.
struct Circumstances {
  std::string command;
  int ranks = 0;
  std::size_t hosts = 0;
  std::string cpus;  // models of the ranks' processors, each once
  std::string mpi;
  std::string counter;
  int threads = 1;  // busy ones of the rank that has most of them
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

/// What is known of a work.
struct KnownWork {
  Circumstances circumstances;
  std::uint64_t runs = 0;
  std::vector<KnownGroup> groups;
  std::optional<KnownParts> parts;  // none for a run of fewer segments than parts

  /// (groups)
  std::vector<GroupDescription> descriptions() const;
  /// The number of segments of one known run. A group that only some runs had counts by its share of the runs.
  double segments_of_a_run() const;
};

/// Whether a run becomes known. `has_medians`: enough of it repeats to have medians. A run that ended early, was
/// composed, or was disturbed on purpose does not become known.
bool is_learnt_from(const Profile& profile, bool has_medians);

/// Compares the circumstances, and asks for partners with the same signature for nine tenths of the segments. Records
/// hold no runs, so the time in matched groups cannot be compared.
bool is_same_work(const KnownWork& a, const KnownWork& b);

/// Adds one more run. `known` must be of the same work.
KnownWork with_run(KnownWork known, const Profile& profile, const Grouping& grouping);
/// The record of one run.
KnownWork known_by(const Profile& profile, const Grouping& grouping);

}  // namespace halcyon
