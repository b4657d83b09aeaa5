// A recorded run, judged with the known earlier runs of the same work.
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

/// Reads a profile and judges it. `known`: null if other runs must not be used. `seen`: by a witness on this host.
Outcome<JudgedFile> judge_file(const std::string& file, const KnownBefore* known, const Witnessed& seen = {});

/// Writes the known data and what a witness saw into the profile, so that a later report says the same, and makes the
/// run known, if others are used. Returns an error; empty if all went well.
std::string keep(const KnownBefore* known, const JudgedFile& run, const std::string& file);

}  // namespace halcyon::cli
