// Results as one HTML page: no network, readable without JavaScript, printable.
#pragma once

#include <string>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/judge/overview.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A run on the page: its profile without what each segment did, so that many runs do not fill the memory.
struct RunOnPage {
  std::string file;
  std::string boundaries;  // in words
  Profile profile;         // the circumstances and per-rank columns; those per segment are not read
  Analysis analysis;       // `excess` is not read
  Overview overview;
};

/// Sums the run up, and lets go of its segments.
RunOnPage on_page(const std::string& file, Profile profile, const Grouping& grouping, Analysis analysis);

/// Of several runs, first all of them side by side and then each. `runs` is not empty.
std::string report_html(const std::vector<RunOnPage>& runs);

}  // namespace halcyon
