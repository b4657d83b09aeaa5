#include "ledger/queries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ledger/schema.hpp"
#include "ledger/values.hpp"

namespace halcyon::ledger {
namespace {

constexpr double seconds_of_an_hour = 3600.0;
constexpr double longest_beside = 30.0 * 24.0 * seconds_of_an_hour;  // s; batch systems end what runs longer

std::int64_t nanoseconds_in(double seconds) {
  return static_cast<std::int64_t>(seconds * static_cast<double>(nanoseconds_of_a_second));
}

// Sets the members of a row, in the order of its columns.
template <class RowType>
void set_from(std::span<const Value> values, RowType& row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    const auto& member = columns_of<RowType>()[i].member;
    if (const auto* text = std::get_if<std::string RowType::*>(&member)) {
      row.*(*text) = text_in(value);
    } else if (const auto* whole = std::get_if<std::int64_t RowType::*>(&member)) {
      row.*(*whole) = whole_in(value);
    } else if (const auto* number = std::get_if<double RowType::*>(&member)) {
      row.*(*number) = number_in(value);
    } else if (!std::holds_alternative<std::monostate>(value)) {
      row.*std::get<std::optional<double> RowType::*>(member) = number_in(value);
    }
  }
}

// The columns of a table, `t.` before each. What an older database lacks is empty.
template <class RowType>
std::vector<std::string> selected(const Ledger& ledger, std::string_view t) {
  std::vector<std::string> names;
  for (const Column<RowType>& column : columns_of<RowType>()) {
    const bool is_text = std::holds_alternative<std::string RowType::*>(column.member);
    names.push_back(column.since > ledger.schema() ? is_text ? "''" : "NULL" : fmt::format("{}.{}", t, column.name));
  }
  return names;
}

std::string key_of(By by) {
  switch (by) {
    case By::project: return "r.project";
    case By::user: return "r.user_name";
    case By::partition: return "r.partition_name";
    case By::cause: return "r.cause";
    case By::program: return "r.work";
    case By::host: return "h.host";
  }
  return {};
}

// Sums over runs; `lost` and `hours` are of a run, in s of its nodes, and `share` the part of its loss that counts.
std::string sums_of(By by) {
  const bool is_by_host = by == By::host;
  const std::string nodes = "r.hosts";
  const std::string hours = is_by_host ? "r.run_time_seconds" : "r.run_time_seconds * r.hosts";
  const std::string loss_of_run = "(r.run_time_seconds - r.undisturbed_seconds)";
  const std::string lost = is_by_host ? "h.excess_seconds * r.hosts" : loss_of_run + " * r.hosts";
  const std::string share =
      is_by_host ? fmt::format("(CASE WHEN {} > 0 THEN h.excess_seconds / {} ELSE 0 END)", loss_of_run, loss_of_run)
                 : "1";
  const std::string above =
      fmt::format("((r.undisturbed_seconds - r.undisturbed_low_seconds) * {} * {})", nodes, share);
  const std::string below =
      fmt::format("((r.undisturbed_high_seconds - r.undisturbed_seconds) * {} * {})", nodes, share);
  const auto if_judged = [](const std::string& value) {
    return fmt::format("SUM(CASE WHEN r.undisturbed_seconds IS NULL THEN 0.0 ELSE {} END)", value);
  };
  return fmt::format("COUNT(*), COUNT(r.undisturbed_seconds), SUM({}), {}, {}, {}, {}, {}", hours, if_judged(hours),
                     if_judged(lost), if_judged(below + " * " + below), if_judged(above + " * " + above),
                     if_judged(fmt::format("r.may_be_own * {}", lost)));
}

// "$1, $2, …" for so many values.
std::string places_of(std::size_t values) {
  std::string places;
  for (std::size_t i = 1; i <= values; ++i) places += fmt::format("{}${}", i == 1 ? "" : ", ", i);
  return places;
}

// The names of the runs' hosts. A question to many files takes long however little it asks for, so many runs share one.
Status add_hosts(Ledger& ledger, std::vector<PastRun>& runs) {
  constexpr std::size_t most_at_once = 500;  // Numerics: values of a statement
  std::map<std::int64_t, PastRun*> by_number;
  for (PastRun& run : runs) by_number.emplace(run.run.run, &run);
  std::vector<Value> values;
  Status read = Done{};
  for (auto next = by_number.begin(); read && next != by_number.end();) {
    values.clear();
    for (; values.size() < most_at_once && next != by_number.end(); ++next) values.emplace_back(next->first);
    read = ledger.connection().run(
        fmt::format("SELECT run, host FROM {} WHERE run IN ({}) ORDER BY run, number", host_table,
                    places_of(values.size())),
        values, [&by_number](const Row& row) { by_number.at(whole_in(row[0]))->hosts.push_back(text_in(row[1])); });
  }
  return read;
}

// `which`: after WHERE, about a run r and its work w.
Outcome<std::vector<PastRun>> read_runs(Ledger& ledger, const std::string& which, Values values) {
  const std::vector<std::string> of_runs = selected<RunRow>(ledger, "r");
  const std::vector<std::string> of_works = selected<WorkRow>(ledger, "w");
  const std::size_t of_run = of_runs.size();
  const std::string sql =
      fmt::format("SELECT {}, {} FROM {} r JOIN {} w ON w.work = r.work WHERE {}", fmt::join(of_runs, ", "),
                  fmt::join(of_works, ", "), visible_run, visible_work, which);
  std::vector<PastRun> runs;
  Status read = ledger.connection().run(sql, values, [&](const Row& row) {
    PastRun& run = runs.emplace_back();
    set_from(std::span(row).first(of_run), run.run);
    set_from(std::span(row).subspan(of_run), run.work);
  });
  if (read) read = add_hosts(ledger, runs);
  if (!read) return read.failure();
  return runs;
}

// After all words of hexadecimal digits that begin so.
std::string after_digits(const std::string& beginning) { return beginning + "g"; }

}  // namespace

Outcome<std::vector<PastRun>> past_runs(Ledger& ledger, const std::string& work, const Period& period,
                                        std::int64_t most) {
  std::vector<Value> values;
  std::string which;
  if (!work.empty()) {
    values = {work, after_digits(work)};
    which = "(w.program = $1 OR (w.work >= $1 AND w.work < $2)) AND ";
  }
  const auto place = [&values](std::int64_t value) {
    values.emplace_back(value);
    return fmt::format("${}", values.size());
  };
  const std::string since = place(period.since);
  const std::string until = place(period.until);
  const std::string limit = place(most);
  return read_runs(ledger,
                   fmt::format("{}r.run >= {} AND r.run < {} ORDER BY r.run DESC LIMIT {}", which, since, until, limit),
                   values);
}

Outcome<std::vector<PastRun>> runs_named(Ledger& ledger, const std::string& name, std::int64_t most) {
  const std::array<Value, 3> values{name, after_digits(name), most};
  return read_runs(ledger, "r.job = $1 OR (r.run_key >= $1 AND r.run_key < $2) ORDER BY r.run DESC LIMIT $3", values);
}

Outcome<std::vector<PastRun>> runs_numbered(Ledger& ledger, const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return std::vector<PastRun>();
  const std::vector<Value> values(numbers.begin(), numbers.end());
  return read_runs(ledger, fmt::format("r.run IN ({}) ORDER BY r.run DESC", places_of(values.size())), values);
}

Outcome<std::vector<PastRun>> costliest_runs(Ledger& ledger, const Period& period, std::int64_t most) {
  const std::array<Value, 3> values{period.since, period.until, most};
  return read_runs(ledger,
                   "r.run >= $1 AND r.run < $2 AND r.is_injected = 0 AND r.undisturbed_seconds IS NOT NULL ORDER BY "
                   "(r.run_time_seconds - r.undisturbed_seconds) * r.hosts DESC, r.run LIMIT $3",
                   values);
}

Outcome<std::optional<Period>> extent_of_runs(Ledger& ledger, const Period& period) {
  const std::array<Value, 2> ends{period.since, period.until};
  std::optional<Period> extent;
  const Status read = ledger.connection().run(
      fmt::format("SELECT MIN(run), MAX(run) FROM {} WHERE run >= $1 AND run < $2", visible_run), ends,
      [&extent](const Row& row) {
        if (!std::holds_alternative<std::monostate>(row[0])) extent = Period{whole_in(row[0]), whole_in(row[1]) + 1};
      });
  if (!read) return read.failure();
  return extent;
}

Outcome<std::vector<HostRow>> hosts_of(Ledger& ledger, const RunRow& run) {
  const Value number = run.run;
  std::vector<HostRow> hosts;
  const Status read =
      ledger.connection().run(fmt::format("SELECT {} FROM {} h WHERE run = $1 ORDER BY number",
                                          fmt::join(selected<HostRow>(ledger, "h"), ", "), host_table),
                              {&number, 1}, [&](const Row& row) { set_from(std::span(row), hosts.emplace_back()); });
  if (!read) return read.failure();
  return hosts;
}

Outcome<std::vector<PastRun>> runs_beside(Ledger& ledger, const RunRow& run) {
  const std::int64_t end = run.run + nanoseconds_in(run.run_time_seconds);
  const std::array<Value, 4> values{run.run - nanoseconds_in(longest_beside), end, run.run, run.cluster};
  return read_runs(
      ledger,
      "r.run >= $1 AND r.run < $2 AND r.run <> $3 AND r.cluster = $4 AND r.run_time_seconds * 1e9 > $3 - r.run "
      "ORDER BY r.run",
      values);
}

Outcome<std::vector<SliceRow>> slices_of(Ledger& ledger, const RunRow& run, const Period& period) {
  const std::array<Value, 3> values{run.run, period.since / nanoseconds_of_a_second - run.slice_seconds,
                                    period.until / nanoseconds_of_a_second + 1};
  std::vector<SliceRow> slices;
  const Status read = ledger.connection().run(
      fmt::format("SELECT {} FROM {} s WHERE run = $1 AND second > $2 AND second < $3 ORDER BY second",
                  fmt::join(selected<SliceRow>(ledger, "s"), ", "), slice_table),
      values, [&](const Row& row) { set_from(std::span(row), slices.emplace_back()); });
  if (!read) return read.failure();
  return slices;
}

Outcome<std::vector<Loss>> losses(Ledger& ledger, By by, const Period& period) {
  const std::string key = key_of(by);
  std::string sql = fmt::format(
      "SELECT {}, {} FROM {} r{} WHERE r.is_injected = 0 AND r.run >= $1 AND r.run < $2 GROUP BY {}", key, sums_of(by),
      visible_run, by == By::host ? fmt::format(" JOIN {} h ON h.run = r.run", host_table) : "", key);
  std::map<std::string, std::string> programs;
  if (by == By::program) {
    const Status named =
        ledger.connection().run(fmt::format("SELECT work, program FROM {}", visible_work), {},
                                [&programs](const Row& row) { programs[text_in(row[0])] = text_in(row[1]); });
    if (!named) return named.failure();
  }
  // Works of a program are added up here, so squares stay squares until then.
  std::map<std::string, Loss> sums;
  const std::array<Value, 2> ends{period.since, period.until};
  const Status read = ledger.connection().run(sql, ends, [&](const Row& row) {
    const std::string name = text_in(row[0]);
    const std::string told = by == By::program ? programs[name] : name;
    Loss& sum = sums[told];
    sum.name = told;
    sum.runs += whole_in(row[1]);
    sum.judged_runs += whole_in(row[2]);
    sum.node_hours += number_in(row[3]) / seconds_of_an_hour;
    sum.judged_node_hours += number_in(row[4]) / seconds_of_an_hour;
    sum.lost_node_hours += number_in(row[5]) / seconds_of_an_hour;
    sum.low_node_hours += number_in(row[6]);
    sum.high_node_hours += number_in(row[7]);
    sum.own_node_hours += number_in(row[8]) / seconds_of_an_hour;
  });
  if (!read) return read.failure();
  std::vector<Loss> all;
  for (auto& [name, loss] : sums) {
    loss.low_node_hours = loss.lost_node_hours - std::sqrt(loss.low_node_hours) / seconds_of_an_hour;
    loss.high_node_hours = loss.lost_node_hours + std::sqrt(loss.high_node_hours) / seconds_of_an_hour;
    all.push_back(std::move(loss));
  }
  // Databases add in different orders: sums that differ in their last digits alone are equal, and in the order of
  // names.
  const auto size = [](const Loss& loss) { return static_cast<float>(loss.lost_node_hours); };
  std::ranges::stable_sort(all, std::greater(), size);
  return all;
}

Loss sum_of(const std::vector<Loss>& losses) {
  Loss sum;
  double below = 0.0;
  double above = 0.0;
  for (const Loss& loss : losses) {
    sum.runs += loss.runs;
    sum.judged_runs += loss.judged_runs;
    sum.node_hours += loss.node_hours;
    sum.judged_node_hours += loss.judged_node_hours;
    sum.lost_node_hours += loss.lost_node_hours;
    sum.own_node_hours += loss.own_node_hours;
    below = std::hypot(below, loss.lost_node_hours - loss.low_node_hours);
    above = std::hypot(above, loss.high_node_hours - loss.lost_node_hours);
  }
  sum.low_node_hours = sum.lost_node_hours - below;
  sum.high_node_hours = sum.lost_node_hours + above;
  return sum;
}

}  // namespace halcyon::ledger
