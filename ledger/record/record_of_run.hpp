// The record of a run: what its profile and its analysis have for the ledger.
#pragma once

#include "analyzer/judge/analysis.hpp"
#include "ledger/record/run_record.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::ledger {

/// What a profile does not say.
struct Given {
  std::string label;  // in place of the profile's
  std::string project;
  std::string program;             // that the command starts; its first word if empty
  std::int64_t slice_seconds = 1;  // at least; longer in a run that would have more than `most_slices`
};

/// What names the run, whatever was found in it: a recovered profile and the complete one are the same run. In profiles
/// without nanoseconds, the run time tells those that began in the same second apart.
std::string key_of(const Profile& profile);

/// A composed profile is no run, and a profile without a start time has no place in the ledger.
Outcome<RunRecord> record_of(const Profile& profile, const Grouping& grouping, const Analysis& analysis,
                             const Given& given);

}  // namespace halcyon::ledger
