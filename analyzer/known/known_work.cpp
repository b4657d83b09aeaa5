#include "analyzer/known/known_work.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "analyzer/matching/group_match.hpp"
#include "analyzer/known/judged_groups.hpp"

namespace halcyon {
namespace {

KnownGroup known_group(const GroupedRun& run, std::uint32_t group, const GroupDescription& description) {
  const MedianDuration median = median_duration(run, group);
  return {.description = description, .best_median = median.seconds, .best_error = median.error, .runs = 1};
}

// Where the clock stood still, a group teaches nothing.
bool has_a_duration(const KnownGroup& group) { return group.best_median > 0.0; }

// What is known of a group, with one run more.
void learn(KnownGroup& group, KnownGroup now) {
  if (!has_a_duration(now)) return;
  ++group.runs;
  if (now.best_median < group.best_median) {
    now.second_median = group.best_median;
    now.runs = group.runs;
    group = std::move(now);
  } else if (!group.second_median || now.best_median < *group.second_median) {
    group.second_median = now.best_median;
  }
}

void keep_the_largest(std::vector<KnownGroup>& groups) {
  std::erase_if(groups, std::not_fn(has_a_duration));
  std::stable_sort(groups.begin(), groups.end(), [](const KnownGroup& x, const KnownGroup& y) {
    return x.description.segments > y.description.segments;
  });
  if (groups.size() > most_known_groups) groups.resize(most_known_groups);
}

}  // namespace

Circumstances circumstances_of(const Profile& profile) {
  const std::set<std::string> models(profile.rank_cpu.begin(), profile.rank_cpu.end());
  std::string cpus;
  for (const std::string& model : models) cpus += (cpus.empty() || model.empty() ? "" : ", ") + model;
  double threads = 1.0;
  for (const double of_rank : profile.evidence[index_of(Evidence::busy_threads)]) {
    threads = of_rank > threads ? of_rank : threads;  // NaN is not above
  }
  return {.command = profile.command,
          .ranks = profile.ranks,
          .hosts = profile.hosts().size(),
          .cpus = cpus,
          .mpi = profile.mpi,
          .counter = profile.counter,
          .threads = static_cast<int>(std::lround(threads))};
}

bool is_learnt_from(const Profile& profile, bool has_medians) {
  return has_medians && profile.exit_state == "finalized" && profile.composed_of.empty() && profile.inject.empty() &&
         !profile.rank_cpu.empty();
}

std::vector<GroupDescription> KnownWork::descriptions() const {
  std::vector<GroupDescription> descriptions;
  for (const KnownGroup& group : groups) descriptions.push_back(group.description);
  return descriptions;
}

double KnownWork::segments_of_a_run() const {
  double segments = 0.0;
  for (const KnownGroup& group : groups) {
    segments += static_cast<double>(group.description.segments) * static_cast<double>(group.runs);
  }
  return segments / static_cast<double>(runs);
}

bool is_same_work(const KnownWork& a, const KnownWork& b) {
  const auto shared = static_cast<double>(shared_segments(a.descriptions(), b.descriptions()));
  return a.circumstances == b.circumstances &&
         100.0 * shared >= least_shared_percent * std::max(a.segments_of_a_run(), b.segments_of_a_run());
}

KnownWork known_by(const Profile& profile, const Grouping& grouping) {
  KnownWork known{.circumstances = circumstances_of(profile), .runs = 1, .parts = parts_of(profile)};
  const GroupedRun run{profile, grouping};
  const JudgedGroups judged = judged_groups(run);
  for (std::size_t i = 0; i < judged.groups.size(); ++i) {
    known.groups.push_back(known_group(run, judged.groups[i], judged.descriptions[i]));
  }
  keep_the_largest(known.groups);
  return known;
}

KnownWork with_run(KnownWork known, const Profile& profile, const Grouping& grouping) {
  const GroupedRun run{profile, grouping};
  const JudgedGroups judged = judged_groups(run);
  std::set<Signature> signatures;
  for (const KnownGroup& group : known.groups) signatures.insert(group.description.signature);
  const std::vector<GroupDescription> of_known = known.descriptions();
  const bool by_cpu_time = profile.counter == "cpu";
  const bool has_parts_of_same_work = is_as_much_work(judged.descriptions, of_known, by_cpu_time);
  for (const KnownPair& pair : pairs_of(judged, of_known, by_cpu_time)) {
    learn(known.groups[pair.known], known_group(run, judged.groups[pair.judged], judged.descriptions[pair.judged]));
  }
  for (std::size_t i = 0; i < judged.groups.size(); ++i) {
    // Another cluster of known calls comes from how this run's work was cut: it is no other work.
    if (signatures.count(judged.descriptions[i].signature) == 0) {
      known.groups.push_back(known_group(run, judged.groups[i], judged.descriptions[i]));
    }
  }
  ++known.runs;
  if (known.parts && known.parts->segments == profile.segments) {
    if (has_parts_of_same_work) add_run(*known.parts, profile);
  } else if (!known.parts || known.parts->runs == 1) {
    known.parts = parts_of(profile);  // of the later run: the work may have changed since
  }
  keep_the_largest(known.groups);
  return known;
}

}  // namespace halcyon
