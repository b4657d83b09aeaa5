// The result of `halcyon search` as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/search/search.hpp"
#include "report/series/result.hpp"
#include "report/series/varied_run.hpp"

namespace halcyon {

struct SearchResult {
  std::string command;
  std::string name;  // of what was varied
  SearchRequest request;
  std::vector<VariedRun> runs;  // in the order of time
  std::vector<Trial> trials;    // one for each of them
  SearchState state;
  std::string ended_early;  // why; empty if the search was completed
};

SeriesAnswer answer_of(const SearchResult& result);
/// Sentences below the answer.
std::vector<std::string> remarks_on(const SearchResult& result);
SeriesTable loads_table(const SearchResult& result);
std::string search_text(const SearchResult& result);
nlohmann::ordered_json search_json(const SearchResult& result);

}  // namespace halcyon
