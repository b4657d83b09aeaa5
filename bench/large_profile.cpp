// large_profile SEGMENTS FILE [GROUPS [RANKS]]: writes a profile of that many segments, of which a quarter of the time
// came from outside. Without GROUPS there are two, of which one holds five eighths of the time; else all hold as much.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <type_traits>

#include "libprofile/format/profile_writer.hpp"
#include "tests/truth/truth.hpp"

namespace {

using namespace halcyon;

constexpr std::size_t ranks_of_host = 128;

std::vector<truth::Phase> phases(std::size_t groups) {
  if (groups == 0) return {{3, 1e-3}, {1, 5e-3}};
  std::vector<truth::Phase> result;
  for (std::size_t i = 0; i < groups; ++i) {
    result.push_back({.seconds = 1e-3 * (1.0 + static_cast<double>(i) / static_cast<double>(groups))});
  }
  return result;
}

// Makes many ranks of one. Simulating them would take ranks x segments. One rank in seven segments is the same.
void spread_over_ranks(Profile& profile, std::size_t ranks, std::mt19937& random) {
  const auto repeat = [ranks](auto& column) {
    if (!column.empty()) column.assign(ranks, typename std::decay_t<decltype(column)>::value_type(column.front()));
  };
  profile.ranks = static_cast<int>(ranks);
  repeat(profile.rank_run_time);
  repeat(profile.rank_host);
  for (auto& column : profile.totals) repeat(column);
  for (auto& column : profile.evidence) repeat(column);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    profile.rank_host[rank] = "node" + std::to_string(rank / ranks_of_host);
  }
  std::uniform_int_distribution<std::uint32_t> any(0, static_cast<std::uint32_t>(ranks - 1));
  for (std::uint32_t& last : profile.last_rank)
    last = random() % 7 == 0 ? static_cast<std::uint32_t>(ranks / 3) : any(random);
}

// What the last rank spent in calls, at random: a twentieth to a seventh of each segment in each kind.
void spend_time(Profile& profile, std::mt19937& random) {
  std::uniform_real_distribution<float> share(0.05F, 0.14F);
  for (std::size_t segment = 0; segment < profile.segments; ++segment) {
    for (auto& column : profile.last_rank_times) column[segment] = share(random) * profile.duration[segment];
    profile.boundary_wait[segment] = share(random) * profile.duration[segment];
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    return std::fputs("usage: large_profile SEGMENTS FILE [GROUPS [RANKS]]\n", stderr), 2;
  }
  const auto number = [&](int word) { return argc > word ? std::strtoull(argv[word], nullptr, 10) : 0; };
  truth::Truth run = truth::make_truth({.ranks = 1,
                                        .segments = number(1),
                                        .phases = phases(number(3)),
                                        .jitter_law = truth::JitterLaw::lognormal,
                                        .jitter = 0.03,
                                        .delay_law = truth::DelayLaw::exponential,
                                        .hits = 2.0,
                                        .slowdown = 0.25,
                                        .calls = 20,
                                        // Between hosts, all waiting in calls may be the program's own.
                                        .in_calls = number(4) > ranks_of_host ? 0.0 : 0.7,
                                        .slack = 0.005,
                                        .seed = 4});
  std::mt19937 random(4);
  spend_time(run.profile, random);
  if (number(4) > 1) spread_over_ranks(run.profile, number(4), random);
  const Outcome<std::string> written = write_profile(run.profile, argv[2]);
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.failure().message.c_str());
  return 1;
}
