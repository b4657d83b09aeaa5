#include "cli/codes.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "analyzer/attribution/cause.hpp"
#include "analyzer/compare/difference.hpp"
#include "analyzer/judge/verdict.hpp"
#include "analyzer/judge/warnings.hpp"
#include "analyzer/repeat/series.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "analyzer/repeat/versus.hpp"
#include "analyzer/repeat/work_rate.hpp"
#include "analyzer/search/search.hpp"
#include "analyzer/site/changes.hpp"
#include "analyzer/watch/watched_job.hpp"
#include "cli/console/output.hpp"

namespace halcyon::cli {
namespace {

class Codes {
 public:
  void add(std::string_view code) {
    if (std::ranges::find(codes_, code) == codes_.end()) codes_.emplace_back(code);
  }

  // What is beyond the last of an enumeration has no name, or that of another.
  template <class Enumeration>
  void add_all() {
    std::vector<std::string_view> names;
    for (std::uint8_t value = 0;; ++value) {
      const std::string_view name = name_of(static_cast<Enumeration>(value));
      if (name.empty() || std::ranges::find(names, name) != names.end()) break;
      names.push_back(name);
      add(name);
    }
  }

  std::vector<std::string> take() { return std::move(codes_); }

 private:
  std::vector<std::string> codes_;
};

}  // namespace

std::vector<std::string> printed_codes() {
  Codes codes;
  for (const std::string_view code : warning_codes) codes.add(code);
  for (const CauseInfo& cause : cause_infos()) codes.add(cause.code);
  for (const std::string_view code : difference_codes) codes.add(code);
  for (const std::string_view state : job_state_names) codes.add(state);
  codes.add_all<Verdict>();
  codes.add_all<ContradictionCode>();
  codes.add_all<CaveatCode>();
  codes.add_all<WorkCaveat>();
  codes.add_all<Unused>();
  codes.add_all<StoppedBecause>();
  codes.add_all<VersusVerdict>();
  codes.add_all<Attribution>();
  codes.add_all<SearchEnd>();
  codes.add_all<ChangeOf>();
  for (const ExitStatus status : {passed, bad_usage_or_file, negative_answer, no_answer}) {
    codes.add(std::to_string(status));
  }
  return codes.take();
}

}  // namespace halcyon::cli
