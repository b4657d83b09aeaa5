// What is asked of the ledger.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.hpp"

namespace halcyon::ledger {

/// Runs that began then, in ns since 1970; the end is not part of it.
struct Period {
  std::int64_t since = 0;
  std::int64_t until = std::numeric_limits<std::int64_t>::max();
};

struct PastRun {
  RunRow run;
  WorkRow work;
  std::vector<std::string> hosts;
};
/// The most recent runs, the latest first. `work`: the program's name, or the beginning of a work's; all if it is
/// empty.
Outcome<std::vector<PastRun>> past_runs(Ledger& ledger, const std::string& work, const Period& period,
                                        std::int64_t most);

/// The runs of a job, or those whose key (`run_key`) begins so; the latest first.
Outcome<std::vector<PastRun>> runs_named(Ledger& ledger, const std::string& name, std::int64_t most);

/// Those with these numbers (`RunRow::run`) that are there, the latest first.
Outcome<std::vector<PastRun>> runs_numbered(Ledger& ledger, const std::vector<std::int64_t>& numbers);

/// The runs of a period that lost the most node hours, the largest loss first; not those that were disturbed on
/// purpose.
Outcome<std::vector<PastRun>> costliest_runs(Ledger& ledger, const Period& period, std::int64_t most);

/// From the first run of a period to the last one; nothing if it has none.
Outcome<std::optional<Period>> extent_of_runs(Ledger& ledger, const Period& period);

/// The other runs of its cluster that ran while it did, by their start; none that began more than 30 days before it.
Outcome<std::vector<PastRun>> runs_beside(Ledger& ledger, const RunRow& run);

/// The hosts of a run, in its order.
Outcome<std::vector<HostRow>> hosts_of(Ledger& ledger, const RunRow& run);

/// The slices of a run that are within a period or reach into it, by time.
Outcome<std::vector<SliceRow>> slices_of(Ledger& ledger, const RunRow& run, const Period& period);

enum class By : std::uint8_t { project, user, partition, cause, host, program };
inline constexpr std::array<std::string_view, 6> by_names{"project", "user", "partition", "cause", "host", "program"};

/// Node hours of the runs of a project, a user and so on. Those that were disturbed on purpose are left out.
struct Loss {
  std::string name;  // empty: not known
  std::int64_t runs = 0;
  std::int64_t judged_runs = 0;  // with an estimate
  double node_hours = 0.0;
  double judged_node_hours = 0.0;
  double lost_node_hours = 0.0;
  double low_node_hours = 0.0;  // its 90 % interval
  double high_node_hours = 0.0;
  double own_node_hours = 0.0;  // part of what was lost, in runs of which most may be the program's own doing
};
/// The largest loss first.
///
/// A run's loss is (run time - undisturbed time) x hosts. Errors of runs are independent, so half widths of their
/// intervals add in quadrature, upper and lower apart. By host: what runs lost while ranks on that host held the others
/// up, with the same relative interval.
Outcome<std::vector<Loss>> losses(Ledger& ledger, By by, const Period& period);
/// Of all of them. By host, a run counts for each of its hosts.
Loss sum_of(const std::vector<Loss>& losses);

}  // namespace halcyon::ledger
