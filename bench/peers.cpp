// What is said of ranks that are slow, or have more work, in runs with a known truth:
//   peers laws [RUNS]         every mixture of both, RUNS (20) of each
//   peers trace FILE...       runs of others
// A line of a trace is `step rank seconds`, the time that a rank computed in a step, or `step - seconds`, how long the
// step took.
// A law draws the computing time of each rank and segment, and what others took in a few of them. Each rank of a run is
// recorded and merged like a real one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/merge/merger.hpp"
#include "libprofile/merge/names.hpp"
#include "libprofile/merge/peers.hpp"
#include "libprofile/merge/row.hpp"

namespace {

using namespace halcyon;

// One rank in one segment, s.
struct Did {
  double computing = 0.0;  // with the waits for a CPU
  double waited_for_cpu = 0.0;
  double work = 0.0;
  double longer = 0.0;  // of the computing, because the rank is slow
};

struct Run {
  std::string counter;
  std::vector<std::vector<Did>> ranks;  // (ranks) (segments)
  std::vector<double> durations;        // (segments) s
  std::vector<std::string> sites{"allreduce@program+0x10"};
  std::vector<std::uint8_t> site;  // (segments)
};

double longest(const Run& run, std::size_t segment, const std::function<double(const Did&)>& time) {
  double most = 0.0;
  for (const std::vector<Did>& rank : run.ranks) most = std::max(most, time(rank[segment]));
  return most;
}

// As recorded and merged.
Profile profile_of(const Run& run) {
  const std::size_t segments = run.durations.size();
  std::vector<std::unique_ptr<SegmentStore>> stores;
  std::vector<RankRecords> records;
  std::vector<SiteSums> sums;
  std::vector<std::uint32_t> numbers(run.ranks.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  OwnNames own;
  std::vector<double> waits;
  for (const std::vector<Did>& rank : run.ranks) {
    auto store = std::make_unique<SegmentStore>(segments, false);
    waits.push_back(0.0);
    for (std::size_t segment = 0; segment < segments; ++segment) {
      const Did& did = rank[segment];
      SegmentRow row;
      row[Measure::duration] = 1e9 * run.durations[segment];
      row[Measure::boundary] = 1e9 * std::max(0.0, run.durations[segment] - did.computing);
      row[Measure::off_cpu] = row[Measure::cpu_wait] = 1e9 * did.waited_for_cpu;
      row.features[index_of(Feature::compute)] = did.work;
      row.site = run.site[segment];
      store->push(row);
      waits.back() += did.waited_for_cpu;
    }
    store->settle();
    records.push_back({.store = store.get(),
                       .sites = run.sites,
                       .nanoseconds_per_tick = 1.0,
                       .compute_scale = compute_scale(run.counter, 1.0)});
    sums.push_back(sums_by_site(records.back(), segments));
    own.add(records.back());
    stores.push_back(std::move(store));
  }
  const Alone alone;
  const ProgramNames names = merge_names(alone, own);
  RankSections sections;
  const Peers peers = compare_ranks(sums, segments, sections);
  const RowLayout layout(false, names.active.size());
  Merger merger(names, numbers, peers, false, segments, segments);
  std::vector<std::byte> row(layout.bytes());
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const RowWriter writer(names, records[rank], layout);
    for (std::size_t segment = 0; segment < segments; ++segment) {
      writer.write(segment, row.data());
      merger.add(segment, rank, row.data(), layout);
    }
  }
  merger.close(segments);
  Profile profile = merger.finish(alone);
  profile.sections = sections;
  profile.ranks = static_cast<int>(run.ranks.size());
  profile.counter = run.counter;
  profile.exit_state = "finalized";
  profile.run_time_seconds = std::accumulate(run.durations.begin(), run.durations.end(), 0.0);
  profile.rank_host.assign(run.ranks.size(), "host");
  profile.rank_run_time.assign(run.ranks.size(), profile.run_time_seconds);
  profile.evidence[index_of(Evidence::cpus)].assign(run.ranks.size(), 4096.0);
  profile.evidence[index_of(Evidence::cpu_wait)] = waits;
  profile.evidence[index_of(Evidence::off_cpu)] = waits;
  return profile;
}

// -- laws

constexpr std::size_t ranks = 16;
constexpr std::size_t segments = 1600;
constexpr std::uint32_t slow_rank = 3;
constexpr std::uint32_t loaded_rank = 11;

struct Law {
  std::string counter;
  double slow;    // times as long for the same work
  double loaded;  // times the work
};

Run draw(const Law& law, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<> jitter(0.0, 0.02);
  std::uniform_real_distribution<> chance(0.0, 1.0);
  std::exponential_distribution<> delay(1.0);
  Run run{.counter = law.counter, .ranks = std::vector<std::vector<Did>>(ranks), .durations = {}, .site = {}};
  run.sites = {"allreduce@program+0x10", "barrier@program+0x20", "alltoall@program+0x30"};
  constexpr std::array usual{0.004, 0.009, 0.002};  // s, by site
  const bool is_cpu_time = law.counter == "cpu";
  for (std::size_t segment = 0; segment < segments; ++segment) {
    const auto site = static_cast<std::uint8_t>(segment % 7 == 0 ? 1 : segment % 3 == 0 ? 2 : 0);
    run.site.push_back(site);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const double work = usual[site] * (rank == loaded_rank ? law.loaded : 1.0) * std::exp(0.3 * jitter(engine));
      const double at_pace = work * std::exp(jitter(engine));
      const double longer = rank == slow_rank ? (law.slow - 1.0) * at_pace : 0.0;
      const double delayed = chance(engine) < 0.002 ? 0.003 * delay(engine) : 0.0;
      // With CPU time, a slow rank is one that waits for its CPU. A counter counts work.
      run.ranks[rank].push_back({.computing = at_pace + longer + delayed,
                                 .waited_for_cpu = is_cpu_time ? longer + delayed : delayed,
                                 .work = 1e9 * (is_cpu_time ? at_pace : work),
                                 .longer = longer});
    }
    run.durations.push_back(longest(run, segment, [](const Did& did) { return did.computing; }) + 5e-5);
  }
  return run;
}

double truly_lost_percent(const Run& run) {
  double lost = 0.0;
  double all = 0.0;
  for (std::size_t segment = 0; segment < run.durations.size(); ++segment) {
    lost += longest(run, segment, [](const Did& did) { return did.computing; }) -
            longest(run, segment, [](const Did& did) { return did.computing - did.longer; });
    all += run.durations[segment];
  }
  return 100.0 * lost / all;
}

struct Found {
  double percent = 0.0;
  Interval interval;
  bool blames_machine_for_work = false;
};

Found found_in(const Profile& profile, const PeerComparison& peers) {
  Found found;
  for (const RankBehind& rank : peers.slower) {
    const bool is_machine = rank.whose == Whose::machine;
    found.blames_machine_for_work = found.blames_machine_for_work || (is_machine && rank.rank != slow_rank);
    if (!is_machine) continue;
    const double of_run = 100.0 / profile.run_time_seconds;
    found.percent += of_run * rank.lost_seconds;
    found.interval.low += of_run * rank.lost_interval_seconds.low;
    found.interval.high += of_run * rank.lost_interval_seconds.high;
  }
  for (const RankBehind& rank : peers.more_work) {
    found.blames_machine_for_work = found.blames_machine_for_work || rank.whose == Whose::machine;
  }
  return found;
}

int laws(unsigned runs) {
  std::printf(
      "| counter | slow rank | own imbalance | lost to it, %% | said, %% | within 3 points, or in the interval | "
      "the machine blamed for work |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const char* counter : {"papi:PAPI_TOT_INS", "cpu"}) {
    for (const double slow : {1.0, 1.1, 1.3, 1.7, 2.5}) {
      for (const double loaded : {1.0, 1.1, 1.3, 1.7, 2.5}) {
        double truth = 0.0;
        double said = 0.0;
        unsigned good = 0;
        unsigned blamed = 0;
        for (unsigned seed = 1; seed <= runs; ++seed) {
          const Run run = draw({counter, slow, loaded}, seed);
          const Profile profile = profile_of(run);
          const Found found = found_in(profile, compare_with_peers(profile));
          const double lost = truly_lost_percent(run);
          truth += lost / runs;
          said += found.percent / runs;
          good += std::abs(lost - found.percent) <= 3.0 || (found.interval.low <= lost && lost <= found.interval.high);
          blamed += found.blames_machine_for_work;
        }
        std::printf("| %s | %.1f | %.1f | %.1f | %.1f | %u of %u | %u |\n", counter, slow, loaded, truth, said, good,
                    runs, blamed);
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

// -- traces

int trace(const char* file) {
  std::map<int, std::map<int, double>> computing;  // by step and rank
  std::map<int, double> durations;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int step = 0;
    std::string rank;
    double seconds = 0.0;
    words >> step >> rank >> seconds;
    (rank == "-" ? durations[step] : computing[step][std::atoi(rank.c_str())]) = seconds;
  }
  if (computing.empty()) {
    std::fprintf(stderr, "%s has no lines `step rank seconds`\n", file);
    return 1;
  }
  Run run{.counter = "cpu", .ranks = {}, .durations = {}, .site = {}};
  run.ranks.resize(computing.begin()->second.size());
  for (const auto& [step, of_ranks] : computing) {
    run.durations.push_back(durations[step]);
    run.site.push_back(0);
    std::size_t index = 0;
    for (const auto& [rank, seconds] : of_ranks) {
      run.ranks[index++].push_back({.computing = seconds, .waited_for_cpu = 0.0, .work = 1e9 * seconds, .longer = 0.0});
    }
  }
  const Profile profile = profile_of(run);
  const PeerComparison peers = compare_with_peers(profile);
  std::printf("%s: %zu ranks, %zu steps\n", file, run.ranks.size(), run.durations.size());
  const auto print = [&](const char* what, const std::vector<RankBehind>& behind) {
    for (std::size_t i = 0; i < std::min<std::size_t>(behind.size(), 4); ++i) {
      const RankBehind& rank = behind[i];
      std::printf("  %s: rank %u, %.2f (%.2f to %.2f) times, %.1f %% (%.1f to %.1f) of the run, %s\n", what, rank.rank,
                  rank.times, rank.times_interval.low, rank.times_interval.high,
                  100.0 * rank.lost_seconds / profile.run_time_seconds,
                  100.0 * rank.lost_interval_seconds.low / profile.run_time_seconds,
                  100.0 * rank.lost_interval_seconds.high / profile.run_time_seconds,
                  std::string(whose_names[static_cast<std::size_t>(rank.whose)]).c_str());
    }
    if (behind.size() > 4) std::printf("  %s: %zu more ranks\n", what, behind.size() - 4);
  };
  print("slower", peers.slower);
  print("more work", peers.more_work);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "laws") return laws(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 20);
  if (command == "trace" && argc > 2) {
    int status = 0;
    for (int i = 2; i < argc; ++i) status |= trace(argv[i]);
    return status;
  }
  std::fprintf(stderr, "usage: peers laws [RUNS] | peers trace FILE...\n");
  return 2;
}
