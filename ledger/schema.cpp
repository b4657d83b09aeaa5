#include "ledger/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halcyon::ledger {
namespace {

using Dialect = Connection::Dialect;

template <class Row>
std::string type_of(const Column<Row>& column, const Dialect& dialect) {
  struct Named {
    const Dialect& dialect;
    std::string operator()(std::string Row::*) const { return "TEXT NOT NULL"; }
    std::string operator()(std::int64_t Row::*) const { return std::string(dialect.whole) + " NOT NULL"; }
    std::string operator()(double Row::*) const { return std::string(dialect.number) + " NOT NULL"; }
    std::string operator()(std::optional<double> Row::*) const { return dialect.number; }
  };
  return std::visit(Named{dialect}, column.member);
}

// `lines`: columns that are not in the row.
template <class Row>
std::string table(std::string_view name, std::vector<std::string> lines, std::string_view key, const char* ending,
                  const Dialect& dialect) {
  for (const Column<Row>& column : columns_of<Row>()) {
    lines.push_back(fmt::format("{} {}", column.name, type_of(column, dialect)));
  }
  lines.push_back(fmt::format("PRIMARY KEY ({})", key));
  return fmt::format("CREATE TABLE {} (\n  {}\n){}", name, fmt::join(lines, ",\n  "), ending);
}

// Private columns are empty for those who are neither operator nor `owner`.
template <class Row>
std::string view(std::string_view name, std::string_view of, const std::string& is_owner, const Dialect& dialect) {
  std::vector<std::string> columns;
  for (const Column<Row>& column : columns_of<Row>()) {
    const bool is_hidden = column.is_private && dialect.has_roles;
    columns.push_back(is_hidden
                          ? fmt::format("CASE WHEN pg_has_role(session_user, '{}', 'MEMBER') OR {} THEN t.{} ELSE '' "
                                        "END AS {}",
                                        operator_role, is_owner, column.name, column.name)
                          : fmt::format("t.{} AS {}", column.name, column.name));
  }
  return fmt::format("CREATE VIEW {}{} AS SELECT {} FROM {} t", name,
                     dialect.has_roles ? " WITH (security_barrier)" : "", fmt::join(columns, ", "), of);
}

template <class Row>
void add_columns(std::string_view table, std::int64_t from_version, const Dialect& dialect,
                 std::vector<std::string>& statements) {
  for (const Column<Row>& column : columns_of<Row>()) {
    if (column.since <= from_version) continue;
    const std::string type = type_of(column, dialect);
    const bool may_be_null = std::holds_alternative<std::optional<double> Row::*>(column.member);
    const bool is_text = std::holds_alternative<std::string Row::*>(column.member);
    statements.push_back(fmt::format("ALTER TABLE {} ADD COLUMN {} {}{}", table, column.name, type,
                                     may_be_null ? ""
                                     : is_text   ? " DEFAULT ''"
                                                 : " DEFAULT 0"));
  }
}

void add_views(const Dialect& dialect, std::vector<std::string>& statements) {
  statements.push_back(view<RunRow>(visible_run, run_table, "t.user_name = session_user", dialect));
  statements.push_back(
      view<WorkRow>(visible_work, work_table,
                    "EXISTS (SELECT 1 FROM run r WHERE r.work = t.work AND r.user_name = session_user)", dialect));
  if (!dialect.has_roles) return;
  for (const std::string_view each : {visible_run, visible_work}) {
    statements.push_back(owned_by_operator(each));
    statements.push_back(fmt::format("GRANT SELECT ON {} TO {}", each, user_role));
  }
}

std::string version_row() {
  return fmt::format("INSERT INTO halcyon_ledger (version, made_by) VALUES ({}, 'halcyon {}')", newest_schema,
                     HALCYON_VERSION);
}

}  // namespace

std::vector<std::string> statements_of_schema(const Dialect& dialect) {
  const std::string run = fmt::format("run {} NOT NULL", dialect.whole);
  const std::string number = fmt::format("number {} NOT NULL", dialect.whole);
  std::vector<std::string> statements{
      fmt::format("CREATE TABLE halcyon_ledger (version {} NOT NULL, made_by TEXT NOT NULL)", dialect.whole),
      table<WorkRow>(work_table, {}, "work", "", dialect),
      table<RunRow>(run_table, {"contents TEXT NOT NULL"}, "run", dialect.of_runs, dialect),
      table<GroupRow>(group_table, {run, number}, "run, number", dialect.of_parts, dialect),
      table<HostRow>(host_table, {run, number}, "run, number", dialect.of_parts, dialect),
      table<SliceRow>(slice_table, {run}, "run, second", dialect.of_parts, dialect),
      "CREATE INDEX run_of_work ON run (work, run)",
      "CREATE INDEX work_of_program ON work (program)",
      version_row()};
  if (dialect.has_roles) {
    // Whoever is an operator may make partitions and drop them, which only owners may.
    statements.push_back(fmt::format("GRANT USAGE, CREATE ON SCHEMA public TO {}", operator_role));
    for (const std::string_view each :
         {run_table, group_table, host_table, slice_table, work_table, std::string_view("halcyon_ledger")}) {
      statements.push_back(owned_by_operator(each));
    }
    statements.push_back(
        fmt::format("GRANT SELECT ON {}, {}, halcyon_ledger TO {}", host_table, slice_table, user_role));
  }
  add_views(dialect, statements);
  return statements;
}

std::vector<std::string> statements_of_upgrade(const Dialect& dialect, std::int64_t from_version) {
  std::vector<std::string> statements;
  for (const std::string_view each : {visible_run, visible_work})
    statements.push_back(fmt::format("DROP VIEW {}", each));
  add_columns<WorkRow>(work_table, from_version, dialect, statements);
  add_columns<RunRow>(run_table, from_version, dialect, statements);
  add_columns<GroupRow>(group_table, from_version, dialect, statements);
  add_columns<HostRow>(host_table, from_version, dialect, statements);
  add_columns<SliceRow>(slice_table, from_version, dialect, statements);
  constexpr std::int64_t without_pace_by_cpu_time = 3;  // until then, all hosts of such a run had the same one
  if (from_version < without_pace_by_cpu_time)
    statements.push_back(fmt::format(
        "UPDATE {} SET log_pace = NULL, log_pace_error = NULL WHERE run IN (SELECT run FROM {} WHERE counter "
        "= 'cpu')",
        host_table, run_table));
  add_views(dialect, statements);
  statements.push_back(version_row());
  return statements;
}

std::string owned_by_operator(std::string_view table) {
  return fmt::format("ALTER TABLE {} OWNER TO {}", table, operator_role);
}

std::string insertion(std::string_view table, std::span<const std::string> columns, std::size_t rows) {
  std::string values;
  std::size_t number = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    values += row == 0 ? "(" : ", (";
    for (std::size_t i = 0; i < columns.size(); ++i) values += fmt::format("{}${}", i == 0 ? "" : ", ", ++number);
    values += ')';
  }
  return fmt::format("INSERT INTO {} ({}) VALUES {}", table, fmt::join(columns, ", "), values);
}

}  // namespace halcyon::ledger
