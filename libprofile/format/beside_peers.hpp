// Each rank of a run beside its peers: how long it would have computed in a section at their pace, and with their work.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A rank in a section, times in s. The peers are all other ranks, and stand for their median.
struct BesidePeers {
  std::size_t rank = 0;
  std::size_t section = 0;
  double work = 0.0;  // of the rank, in units of the counter
  double computing = 0.0;
  double at_pace = 0.0;    // for its work, at the pace of its peers
  double with_work = 0.0;  // at its own pace, for the work of its peers
};

/// Of all values but one. `ascending` has at least two.
inline double median_without(const std::vector<double>& ascending, double value) {
  const std::size_t others = ascending.size() - 1;
  const auto at = static_cast<std::size_t>(std::ranges::lower_bound(ascending, value) - ascending.begin());
  const auto other = [&](std::size_t i) { return ascending[i < at ? i : i + 1]; };
  return 0.5 * (other((others - 1) / 2) + other(others / 2));
}

/// Calls `visit(BesidePeers)`, section by section. Sections without work are left out, and so are ranks without a part.
template <class Visit>
void for_each_beside_peers(const RankSections& sections, Visit visit) {
  struct Own {
    std::size_t rank;
    double work;
    double pace;  // s for a unit of work; 0 without work
  };
  const std::size_t count = sections.count();
  std::vector<Own> ranks;
  std::vector<double> works;
  std::vector<double> paces;
  for (std::size_t section = 0; section < count; ++section) {
    ranks.clear();
    works.clear();
    paces.clear();
    for (std::size_t rank = 0; rank < sections.work.size() / count; ++rank) {
      const auto work = static_cast<double>(sections.work[rank * count + section]);
      const auto computing = static_cast<double>(sections.computing[rank * count + section]);
      if (std::isnan(work) || std::isnan(computing)) continue;
      ranks.push_back({rank, work, work > 0.0 ? computing / work : 0.0});
      works.push_back(work);
      paces.push_back(ranks.back().pace);
    }
    if (ranks.size() < 2) continue;
    std::sort(works.begin(), works.end());
    std::sort(paces.begin(), paces.end());
    if (!(works.back() > 0.0)) continue;
    for (const Own& own : ranks) {
      visit(BesidePeers{.rank = own.rank,
                        .section = section,
                        .work = own.work,
                        .computing = own.pace * own.work,
                        .at_pace = own.work * median_without(paces, own.pace),
                        .with_work = own.pace * median_without(works, own.work)});
    }
  }
}

}  // namespace halcyon
