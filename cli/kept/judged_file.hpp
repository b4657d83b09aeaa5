// A recorded run, judged with what is known of earlier runs of the same work.
#pragma once

#include <optional>
#include <string>

#include "analyzer/judge/analysis.hpp"
#include "cli/kept/known_before.hpp"

namespace halcyon::cli {

/// A profile with its groups and its analysis by the default method.
struct JudgedFile {
  Profile profile;
  Grouping grouping;
  Analysis analysis;
};

/// Earlier runs and hosts, to be read and written. Nothing if that is not possible; `complaint` then says why.
std::optional<KnownBefore> open_known(std::string& complaint);

/// Reads a profile and judges it. `known`: null where nothing is to be known of other runs.
Outcome<JudgedFile> judge_file(const std::string& file, const KnownBefore* known);

/// Writes into the profile what was known, so that a later report says the same, and enters the run among what is
/// known. Returns what failed; empty: nothing.
std::string keep(const KnownBefore& known, const JudgedFile& run, const std::string& file);

}  // namespace halcyon::cli
