// large_profile SEGMENTS FILE: writes a profile of that many segments in two phases; a quarter of its time came from
// outside.
#include <cstdio>
#include <cstdlib>

#include "libprofile/format/profile_writer.hpp"
#include "tests/truth/truth.hpp"

int main(int argc, char** argv) {
  using namespace halcyon;
  if (argc != 3) return std::fputs("usage: large_profile SEGMENTS FILE\n", stderr), 2;
  const truth::Truth run = truth::make_truth({.ranks = 1,
                                              .segments = std::strtoull(argv[1], nullptr, 10),
                                              .phases = {{3, 1e-3}, {1, 5e-3}},
                                              .jitter_law = truth::JitterLaw::lognormal,
                                              .jitter = 0.03,
                                              .delay_law = truth::DelayLaw::exponential,
                                              .hits = 2.0,
                                              .slowdown = 0.25,
                                              .calls = 20,
                                              .in_calls = 0.7,
                                              .slack = 0.005,
                                              .seed = 4});
  const Outcome<std::string> written = write_profile(run.profile, argv[2]);
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.failure().message.c_str());
  return 1;
}
