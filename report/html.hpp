// Results as one HTML page that needs no network, is readable without JavaScript, and prints well.
#pragma once

#include <string>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "report/overview.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A run on the page. Its profile has no columns per segment, so that many runs fit into memory.
struct RunOnPage {
  std::string file;
  std::string boundaries;  // in words
  Profile profile;         // the circumstances and the columns per rank
  Analysis analysis;       // without `excess`
  Overview overview;
};

/// Summarises the run and frees its columns per segment.
RunOnPage on_page(const std::string& file, Profile profile, const Grouping& grouping, Analysis analysis);

/// The page. Several runs come side by side first, then one by one. `runs` must not be empty.
std::string report_html(const std::vector<RunOnPage>& runs);

}  // namespace halcyon
