#include "cli/kept/judged_file.hpp"

#include <algorithm>

#include "analyzer/estimate/estimators.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"

namespace halcyon::cli {

std::optional<KnownBefore> open_known(std::string& complaint) {
  Outcome<KnownBefore> known = KnownBefore::open(RecordStore::Use::writes);
  if (known) return std::move(*known);
  complaint = "this run was not added to the baselines: " + known.failure().message;
  return std::nullopt;
}

Outcome<JudgedFile> judge_file(const std::string& file, const KnownBefore* known) {
  Outcome<Profile> profile = read_profile(file, Columns::analyzed);
  if (!profile) return profile.failure();
  JudgedFile run{.profile = std::move(*profile)};
  run.grouping = group_segments(run.profile);
  if (known != nullptr) {
    run.profile.known_runs.reset();  // more may be known by now
    known->tell(run.profile, run.grouping);
  }
  run.analysis = analyze(run.profile, run.grouping, methods.front().name);
  return run;
}

std::string keep(const KnownBefore& known, const JudgedFile& run, const std::string& file) {
  const bool knew_a_host = std::any_of(run.profile.probes.begin(), run.profile.probes.end(),
                                       [](const ProbeColumns& probe) { return !probe.known.empty(); });
  if (run.profile.known_runs || knew_a_host) {
    if (const Status added = add_what_was_known(run.profile, file); !added) {
      return "cannot write the known runs into the profile: " + added.failure().message;
    }
  }
  const Status learnt = known.learn(run.profile, run.grouping, run.analysis.has_medians());
  return learnt ? std::string() : "this run was not added to the baselines: " + learnt.failure().message;
}

}  // namespace halcyon::cli
