#include "ledger/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "ledger/schema.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::ledger {
namespace {

constexpr std::int64_t most_at_one_time = 1000;  // runs with the same start
// What claims to be older was recorded by a clock that was not set.
constexpr std::int64_t oldest = 946684800 * nanoseconds_of_a_second;  // 2000-01-01
// Numerics: rows of a statement. A server answers each; more take longer to prepare than to send.
constexpr std::size_t most_rows_at_once = 64;

/// A calendar month, in UTC.
struct Month {
  std::string name;  // "2026_11"
  std::int64_t begin = 0;
  std::int64_t end = 0;  // ns since 1970

  explicit Month(std::int64_t time) {
    using namespace std::chrono;
    const year_month_day day{floor<days>(sys_time<nanoseconds>(nanoseconds(time)))};
    const year_month month = day.year() / day.month();
    name = fmt::format("{:04}_{:02}", static_cast<int>(month.year()), static_cast<unsigned>(month.month()));
    begin = at(month);
    end = at(month + months(1));
  }

 private:
  static std::int64_t at(const std::chrono::year_month& month) {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(sys_days(month / 1).time_since_epoch()).count();
  }
};

std::string partition(std::string_view table, const Month& month) { return fmt::format("{}_{}", table, month.name); }

template <class Row>
void append(std::vector<Value>& values, const Row& row) {
  for (const Column<Row>& column : columns_of<Row>()) values.push_back(value_of(row, column));
}

}  // namespace

std::string objection_to(Stored stored) {
  switch (stored) {
    case Stored::now:
    case Stored::before: break;
    case Stored::with_other_contents: return "the ledger has this run with other contents";
    case Stored::of_another_user: return "the ledger has this run as one of another user";
    case Stored::not_at_that_time: return "it began before 2000 or ends after tomorrow, by a clock that was not set";
    case Stored::not_one_more: return fmt::format("{} runs began at its start already", most_at_one_time);
  }
  return {};
}

Outcome<Ledger> Ledger::open(const std::string& database, Use use) {
  Outcome<std::unique_ptr<Connection>> connection = connect(database, use);
  if (!connection) return connection.failure();
  Ledger ledger(std::move(*connection));
  const Status checked = ledger.check_or_make(use, database);
  if (!checked) return checked.failure();
  return {std::move(ledger)};
}

Status Ledger::check_or_make(Use use, const std::string& database) {
  const auto has_tables = [&] { return connection_->has_table("halcyon_ledger"); };
  Outcome<bool> has = has_tables();
  if (!has) return has.failure();
  if (!*has) {
    if (use == Use::reads) return Failure{database + " has no ledger: halcyon ledger add or ingest makes one"};
    const Status made = in_transaction([&]() -> Status {
      has = has_tables();  // another process may have made it
      if (!has) return has.failure();
      return *has ? Status(Done{}) : make_tables();
    });
    if (!made) return made;
  }
  const auto read_version = [this] {
    return connection_->run("SELECT version FROM halcyon_ledger", {}, [this](const Row& row) {
      if (const auto* number = std::get_if<std::int64_t>(&row.front())) schema_ = std::max(schema_, *number);
    });
  };
  if (const Status read = read_version(); !read) return read;
  if (schema_ > newest_schema) {
    return Failure{fmt::format("a newer halcyon made the ledger in {} (version {}; this one knows up to {}): use that",
                               database, schema_, newest_schema)};
  }
  if (use == Use::reads || schema_ == newest_schema) return Done{};
  return in_transaction([&]() -> Status {
    if (const Status read = read_version(); !read) return read;  // another process may have done it
    return schema_ == newest_schema ? Status(Done{}) : upgrade();
  });
}

Status Ledger::upgrade() {
  for (const std::string& statement : statements_of_upgrade(connection_->dialect(), schema_)) {
    if (const Status changed = connection_->run(statement); !changed) return changed;
  }
  schema_ = newest_schema;
  return Done{};
}

Status Ledger::make_tables() {
  if (connection_->dialect().has_roles) {
    for (const std::string_view role : {operator_role, user_role}) {
      bool is_there = false;
      const Value name = std::string(role);
      const Status looked = connection_->run("SELECT 1 FROM pg_roles WHERE rolname = $1", {&name, 1},
                                             [&](const Row&) { is_there = true; });
      if (!looked) return looked;
      if (is_there) continue;
      Status made = connection_->run(fmt::format("CREATE ROLE {}", role));
      if (made && role == operator_role) made = connection_->run(fmt::format("GRANT {} TO CURRENT_USER", role));
      if (!made) {
        return Failure{fmt::format("{}: an administrator makes the roles first: CREATE ROLE {}; CREATE ROLE {}",
                                   made.failure().message, operator_role, user_role)};
      }
    }
  }
  for (const std::string& statement : statements_of_schema(connection_->dialect())) {
    const Status made = connection_->run(statement);
    if (made) continue;
    if (!connection_->dialect().has_roles) return made;
    return Failure{made.failure().message + ": who makes a ledger owns its database (createdb -O USER NAME)"};
  }
  return Done{};
}

Status Ledger::in_transaction(const std::function<Status()>& work) {
  if (const Status begun = connection_->begin(); !begun) return begun;
  Status done = work();
  if (done) done = connection_->run("COMMIT");
  if (!done) {
    connection_->run("ROLLBACK");  // some failures have done that already
    months_.clear();
  }
  return done;
}

Status Ledger::make_partitions(std::int64_t run) {
  const Month month(run);
  if (!connection_->dialect().has_partitions || !months_.insert(month.name).second) return Done{};
  const Outcome<bool> has = connection_->has_table(partition(run_table, month));
  if (!has) return has.failure();
  if (*has) return Done{};
  for (const std::string_view table : tables_of_runs) {
    const std::string fresh = partition(table, month);
    Status made = connection_->run(fmt::format("CREATE TABLE {} PARTITION OF {} FOR VALUES FROM ({}) TO ({})", fresh,
                                               table, month.begin, month.end));
    if (made) made = connection_->run(owned_by_operator(fresh));
    if (!made) return made;
  }
  return Done{};
}

template <class RowType>
Status Ledger::insert(std::string_view table, std::initializer_list<const char*> key, std::int64_t run,
                      const std::vector<RowType>& rows) {
  std::vector<Value> values;
  for (std::size_t first = 0; first < rows.size();) {
    const std::size_t left = rows.size() - first;
    // Few different statements, since each is prepared once.
    const std::size_t count = left >= most_rows_at_once ? most_rows_at_once : left >= 8 ? 8 : 1;
    values.clear();
    for (std::size_t i = first; i < first + count; ++i) {
      values.emplace_back(run);
      if (key.size() > 1) values.emplace_back(static_cast<std::int64_t>(i));
      append(values, rows[i]);
    }
    std::string& statement = insertions_[{table, count}];
    if (statement.empty()) statement = insertion(table, names_of<RowType>(key), count);
    if (const Status inserted = connection_->run(statement, values); !inserted) return inserted;
    first += count;
  }
  return Done{};
}

Outcome<Stored> Ledger::store(const SpooledRun& run, bool replaces) {
  RunRow row = run.record.run;
  constexpr double day = 24.0 * 3600.0;
  const auto in_seconds = [](auto nanoseconds) {
    return static_cast<double>(nanoseconds) / static_cast<double>(nanoseconds_of_a_second);
  };
  const double tomorrow = in_seconds(nanoseconds_of(CLOCK_REALTIME)) + day;
  if (row.run < oldest || in_seconds(row.run) + row.run_time_seconds > tomorrow) return Stored::not_at_that_time;
  std::set<std::int64_t> taken;
  std::int64_t same = 0;
  std::string contents;
  RunRow before;
  const std::array<Value, 2> near{row.run, row.run + most_at_one_time};
  const Status looked = connection_->run(
      "SELECT run, run_key, contents, exit_state, segments, user_name FROM run WHERE run >= $1 AND run < $2", near,
      [&](const Row& found) {
        const auto number = std::get<std::int64_t>(found[0]);
        taken.insert(number);
        if (std::get<std::string>(found[1]) != row.key) return;
        same = number;
        contents = std::get<std::string>(found[2]);
        before.exit_state = std::get<std::string>(found[3]);
        before.segments = std::get<std::int64_t>(found[4]);
        before.user_name = std::get<std::string>(found[5]);
      });
  if (!looked) return looked.failure();
  if (same != 0) {
    if (contents == run.checksum) return Stored::before;
    // Of a run that was collected while some of its ranks had not ended, more may be known later, or in another file.
    if (before.user_name != row.user_name && !replaces) return Stored::of_another_user;
    if (knows_more(before, row) && !replaces) return Stored::before;
    if (!knows_more(row, before) && !replaces) return Stored::with_other_contents;
    const Value number = same;
    for (const std::string_view table : tables_of_runs) {
      const Status removed = connection_->run(fmt::format("DELETE FROM {} WHERE run = $1", table), {&number, 1});
      if (!removed) return removed.failure();
    }
    row.run = same;
  } else {
    while (taken.contains(row.run)) ++row.run;
    if (row.run >= std::get<std::int64_t>(near[1])) return Stored::not_one_more;
  }
  if (const Status made = make_partitions(row.run); !made) return made.failure();
  std::vector<Value> of_work;
  append(of_work, run.record.work);
  std::vector<Value> of_run{run.checksum};
  append(of_run, row);
  for (const Status& inserted :
       {connection_->run(insertion(work_table, names_of<WorkRow>({}), 1) + " ON CONFLICT DO NOTHING", of_work),
        connection_->run(insertion(run_table, names_of<RunRow>({"contents"}), 1), of_run),
        insert(group_table, {"run", "number"}, row.run, run.record.groups),
        insert(host_table, {"run", "number"}, row.run, run.record.hosts),
        insert(slice_table, {"run"}, row.run, run.record.slices)}) {
    if (!inserted) return inserted.failure();
  }
  return Stored::now;
}

Outcome<std::int64_t> Ledger::remove_before(std::string_view table, std::int64_t time) {
  std::int64_t count = 0;
  const Value before = time;
  const Status counted = connection_->run(fmt::format("SELECT COUNT(*) FROM {} WHERE run < $1", table), {&before, 1},
                                          [&](const Row& row) { count = std::get<std::int64_t>(row.front()); });
  if (!counted) return counted.failure();
  if (connection_->dialect().has_partitions) {
    std::vector<std::string> old;  // months that lie before that time with all their days
    const std::string first_kept = partition(table, Month(time));
    const Value parent = std::string(table);
    const Status listed = connection_->run(
        "SELECT CAST(c.relname AS TEXT) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = "
        "to_regclass($1)",
        {&parent, 1}, [&](const Row& row) {
          const auto& name = std::get<std::string>(row.front());
          if (name.size() == first_kept.size() && name < first_kept) old.push_back(name);
        });
    if (!listed) return listed.failure();
    for (const std::string& name : old) {
      if (const Status dropped = connection_->run(fmt::format("DROP TABLE {}", name)); !dropped)
        return dropped.failure();
    }
    months_.clear();
  }
  const Status removed = connection_->run(fmt::format("DELETE FROM {} WHERE run < $1", table), {&before, 1});
  if (!removed) return removed.failure();
  return count;
}

Outcome<Ledger::Removed> Ledger::slim(std::int64_t slices_before, std::int64_t runs_before) {
  Removed removed;
  for (const std::string_view table : tables_of_runs) {
    const bool is_slices = table == slice_table;
    const Outcome<std::int64_t> count =
        remove_before(table, is_slices ? std::max(slices_before, runs_before) : runs_before);
    if (!count) return count.failure();
    if (is_slices) removed.slices = *count;
    if (table == run_table) removed.runs = *count;
  }
  return removed;
}

}  // namespace halcyon::ledger
