// The profile of one run, in memory: only what was recorded, nothing derived.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/format/evidence.hpp"
#include "libprofile/format/features.hpp"
#include "libprofile/format/module.hpp"
#include "libprofile/format/probes.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/format/time_kinds.hpp"
#include "libprofile/format/witnessed.hpp"

namespace halcyon {

inline constexpr int newest_schema_version = 10;

/// One feature of all segments: values by bin, and the bin of each segment. Without indices every segment is in bin 0.
struct FeatureColumn {
  std::vector<double> bins;          // over ranks: the median for compute, else the sum
  std::vector<std::uint16_t> index;  // (segments) or empty
  /// False: two segments share a bin only if every rank had the same value. True: only the value over ranks is kept.
  bool reduced = false;

  std::uint16_t bin_of(std::size_t segment) const { return index.empty() ? std::uint16_t{0} : index[segment]; }
};

/// The delays that intM added to each segment, in seconds; all empty if it was not loaded.
struct InjectedTruth {
  std::vector<float> requested;  // (segments), sum over ranks
  std::vector<float> actual;     // (segments), sum over ranks
  std::vector<float> critical;   // (segments), largest of any rank: upper limit of the segment's delay
};

/// Times of a fixed quantum of work on each rank's core; both empty if they were not measured.
struct FixedWorkTimes {
  std::vector<double> quantum;  // (ranks) s, 1 % quantile
  std::vector<double> mean;     // (ranks) s
};

/// Times of a probe of the machine; all empty if it was not measured.
struct ProbeColumns {
  // (ranks) s each; NaN if it could not be measured
  std::vector<double> best_before;
  std::vector<double> mean_before;
  std::vector<double> best_after;
  std::vector<double> mean_after;
  std::vector<double> known;  // best known of the rank's host when the run was judged
};

/// How far the run lay above the best earlier runs of the same work, when it was judged.
struct KnownRuns {
  std::uint64_t runs = 0;             // earlier runs
  double displacement_seconds = 0.0;  // of its groups' medians, above the best known
  double low_seconds = 0.0;           // its 90 % interval
  double high_seconds = 0.0;
  double matched_seconds = 0.0;  // run time in groups that earlier runs had, too

  /// The same for the whole run, against the best times of its parts.
  struct OfParts {
    std::uint64_t runs = 0;  // earlier runs with as many segments
    double beyond_seconds = 0.0;
    double low_seconds = 0.0;  // its 90 % interval
    double high_seconds = 0.0;
  };
  std::optional<OfParts> of_parts;  // none if earlier runs had another number of segments, or other work
};

/// Suspensions of the program at boundaries, while it ran.
struct Suspension {
  double seconds = 0.0;  // in all, mean over ranks
  std::uint64_t times = 0;
};

/// What each rank did in each section of the run: in the segments that one place of the program ended in one eighth of
/// the run. All empty in older profiles. What is missing to the time of the run, a rank slept.
struct RankSections {
  static constexpr std::size_t eighths = 8;

  std::vector<std::string> place;  // (sections) the call site; empty for all further ones. Its eighths are in order
  // (ranks x sections), those of a rank one after the other; NaN for a rank without a part
  std::vector<float> computing;  // s outside calls of MPI and of files, on a CPU or ready for one
  std::vector<float> work;       // of the compute feature
  std::vector<float> waiting;    // s in calls of MPI
  std::vector<float> file_io;    // s in calls of files
  std::vector<float> device;     // s in calls of devices; 0 in older profiles

  static constexpr std::array columns{&RankSections::computing, &RankSections::work, &RankSections::waiting,
                                      &RankSections::file_io, &RankSections::device};

  std::size_t count() const { return place.size(); }
};

/// How many segments an operation ended.
struct BoundaryCount {
  std::string operation;
  std::uint64_t segments = 0;
};

/// A place in the program's source.
struct SourcePlace {
  std::string function;
  std::string source;  // "file:line", or empty
};

struct Profile : RunFacts {
  int schema_version = newest_schema_version;
  int ranks = 0;
  std::string clock;
  // "finalized"; "composed" of several runs; or how a recovered run ended: "aborted" by MPI_Abort, "exited" without
  // MPI_Finalize, "killed", "signal N"
  std::string exit_state;
  std::string incomplete;              // empty, or what is missing of a recovered run
  std::string disagreement;            // empty, or how the ranks' boundaries differ; there are no segments then
  std::uint64_t dropped_segments = 0;  // beyond the memory setting, per rank
  double run_time_seconds = 0.0;       // MPI_Init to MPI_Finalize without suspended time, mean over ranks
  double boundary_cost_seconds = 0.0;  // of recording one boundary, as the recorder measured it
  double clock_resolution_seconds = 0.0;

  // per rank
  std::vector<std::string> rank_host;                            // (ranks) empty for a rank without a part
  std::vector<double> rank_run_time;                             // (ranks) s; NaN for a rank without a part
  std::vector<std::string> rank_cpu;                             // (ranks) model; empty in older profiles
  std::array<std::vector<std::uint64_t>, feature_count> totals;  // (ranks) each, exact; compute stays empty
  FixedWorkTimes background_before;                              // just before the run
  FixedWorkTimes background_after;                               // just after
  std::array<ProbeColumns, probe_count> probes;                  // in the order of format/probes.hpp
  // (ranks) each, in the order of format/evidence.hpp; NaN if the kernel does not provide it, or the rank ended before
  // it was asked; empty in older profiles
  std::array<std::vector<double>, evidence_count> evidence;

  RankSections sections;

  std::optional<Suspension> suspension;  // none if the program was not suspended
  std::optional<KnownRuns> known_runs;   // none if no run of the same work was known
  Witnessed witnessed;                   // `by` is empty without a witness

  // per segment
  std::uint64_t segments = 0;
  std::vector<float> duration;  // (segments) s, mean over ranks
  // (segments) s between the end of the segment before and its own start, in no segment; empty in older profiles
  std::vector<float> gap_before;
  std::array<FeatureColumn, feature_count> features;
  // Where ranks may differ, beside the median: the compute feature of the rank that has most of it, and of the one that
  // held the others up. Without bins for one rank, and in older profiles.
  FeatureColumn largest_work;
  FeatureColumn last_rank_work;
  std::vector<std::string> sites;  // text of each bin of `site`
  std::vector<Module> modules;     // modules of the sites, on the first rank; empty in older profiles
  // by the text of a call site; not in the file, but looked up when a profile is read (report/source_places.hpp)
  std::map<std::string, SourcePlace> places;
  std::vector<std::uint16_t> site;       // (segments) or empty: the boundary's call site, on all ranks together
  std::vector<std::uint32_t> last_rank;  // (segments) rank that held the others up (merge/last_rank.hpp)
  std::array<std::vector<float>, time_kind_count> last_rank_times;  // (segments) s, of that rank
  std::vector<float> last_rank_off_cpu;  // (segments) s, of that rank; empty in older profiles
  // (segments) s by which each was longer, at least, because ranks waited for a CPU; empty in older profiles
  std::vector<float> lost_to_cpu_wait;
  // (segments) s by which each was longer because ranks took longer than their peers for the same work, and because
  // they had more work (merge/peers.hpp); empty for one rank, and in older profiles
  std::vector<float> lost_to_slower_ranks;
  std::vector<float> lost_to_more_work;
  std::vector<float> boundary_wait;   // (segments) s in the boundary operation, mean over ranks
  std::vector<float> least_mpi_time;  // (segments) s in calls of MPI, least of any rank; empty in older profiles
  // (segments) s that calls took beyond the usual at their place, least of any rank; empty in older profiles. The
  // least, since ranks that wait for others do so in calls, but the rank that they wait for does not.
  std::vector<float> calls_beyond_usual;
  InjectedTruth injected;

  // only in a composed profile: its counts are those of one run, its times those of several
  std::vector<std::string> composed_of;  // files of those runs
  std::vector<std::uint16_t> source;     // (segments) run that the times are from: index into composed_of

  std::vector<BoundaryCount> boundaries() const;      // most frequent first; all but MPI_Finalize
  bool left_nothing(std::size_t rank) const;          // no part of the rank was found: nothing of it was measured
  std::string where_it_ran(std::size_t rank) const;   // "rank 3 on node1", or "rank 3" if its host is not known
  std::vector<std::string> hosts() const;             // that are known, distinct, in order of rank
  std::vector<double> by_host(Evidence which) const;  // (hosts) value of one rank of each; empty if not recorded
};

}  // namespace halcyon
