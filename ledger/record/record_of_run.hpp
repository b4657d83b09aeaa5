// The record of a run: what its profile and its analysis have for the ledger.
#pragma once

#include "analyzer/judge/analysis.hpp"
#include "ledger/record/run_record.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::ledger {

/// What a profile does not say.
struct Given {
  std::string label;
  std::string project;
  std::string program;             // that the command starts; its first word if empty
  std::int64_t slice_seconds = 1;  // at least; longer in a run that would have more than `most_slices`
};

/// A composed profile is no run, and a profile without a start time has no place in the ledger.
Outcome<RunRecord> record_of(const Profile& profile, const Grouping& grouping, const Analysis& analysis,
                             const Given& given);

}  // namespace halcyon::ledger
