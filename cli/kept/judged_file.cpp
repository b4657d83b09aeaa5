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

Outcome<JudgedFile> judge_file(const std::string& file, const KnownBefore* known, const Witnessed& seen) {
  Outcome<Profile> profile = read_profile(file, Columns::analyzed);
  if (!profile) return profile.failure();
  JudgedFile run{.profile = std::move(*profile)};
  if (!seen.by.empty()) run.profile.witnessed = seen;
  run.grouping = group_segments(run.profile);
  if (known != nullptr) {
    run.profile.known_runs.reset();  // more may be known by now
    known->tell(run.profile, run.grouping);
  }
  run.analysis = analyze(run.profile, run.grouping, methods.front().name);
  return run;
}

std::string keep(const KnownBefore* known, const JudgedFile& run, const std::string& file) {
  const bool knew_a_host = std::any_of(run.profile.probes.begin(), run.profile.probes.end(),
                                       [](const ProbeColumns& probe) { return !probe.known.empty(); });
  if (run.profile.known_runs || knew_a_host || !run.profile.witnessed.by.empty()) {
    if (const Status added = add_what_came_later(run.profile, file); !added) {
      return "cannot write what is known of the run into its profile: " + added.failure().message;
    }
  }
  if (known == nullptr) return {};
  const Status learnt = known->learn(run.profile, run.grouping, run.analysis.has_medians());
  return learnt ? std::string() : "this run was not added to the baselines: " + learnt.failure().message;
}

}  // namespace halcyon::cli
