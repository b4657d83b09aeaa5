// How two runs differ, if they did not do the same work.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/system/listed_word.hpp"

namespace halcyon {

/// The reason why two runs are not the same work, with the value in each. The codes are stable, in kebab-case.
inline constexpr std::array<std::string_view, 6> difference_codes{
    {"no-boundaries", "other-ranks", "other-counter", "other-calls", "segments-dropped", "other-work"}};
using DifferenceCode = ListedWord<difference_codes>;

struct Difference {
  Difference(DifferenceCode its_code, std::string its_what, std::string its_a, std::string its_b)
      : code(its_code.text()), what(std::move(its_what)), in_a(std::move(its_a)), in_b(std::move(its_b)) {}

  std::string code;
  std::string what;
  std::string in_a;
  std::string in_b;
};

/// Differences that are known before anything is grouped.
std::optional<Difference> differing_circumstances(const Profile& a, const Profile& b);

/// The first segment, in the order of execution, whose calls differ; else the number of segments.
Difference differing_calls(const GroupedRun& a, const GroupedRun& b);

/// The longest group of `run` without a partner, compared with the largest group of the same calls in the other run:
/// the feature of their work that differs most. `is_matched`: (groups of `run`). In the difference, `run` is a.
Difference differing_work(const GroupedRun& run, const std::vector<bool>& is_matched, const GroupedRun& other);

}  // namespace halcyon
