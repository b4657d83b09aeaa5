// The estimates that `halcyon run` would have given for several runs of one work, each with the earlier ones known.
// Prints one line per run: verdict, percent, and the ends of the interval.
//
// usage: known_series PROFILE...
#include <cstdio>
#include <optional>

#include "analyzer/estimate/estimators.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/known/known_displacement.hpp"
#include "libprofile/format/profile_reader.hpp"

int main(int argc, char** argv) {
  using namespace halcyon;
  std::optional<KnownWork> known;
  for (int i = 1; i < argc; ++i) {
    Outcome<Profile> profile = read_profile(argv[i], Columns::analyzed);
    if (!profile) {
      std::fprintf(stderr, "%s\n", profile.failure().message.c_str());
      return 1;
    }
    const Grouping grouping = group_segments(*profile);
    profile->known_runs = known ? displacement_from(*profile, grouping, *known) : std::nullopt;
    const Analysis analysis = analyze(*profile, grouping, methods.front().name);
    const MethodResult& result = analysis.result();
    std::printf("%s %.4f %.4f %.4f\n", std::string(name_of(result.verdict)).c_str(), result.interference_percent,
                result.interval_percent.low, result.interval_percent.high);
    const bool is_other_work = known && !profile->known_runs;
    if (is_other_work || !is_learnt_from(*profile, true)) continue;
    known = known ? with_run(std::move(*known), *profile, grouping) : known_by(*profile, grouping);
  }
  return 0;
}
