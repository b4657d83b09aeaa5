// The tables of the ledger, made of its columns (ledger/record/columns.hpp), in SQL that SQLite and PostgreSQL
// understand alike.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/connection.hpp"

namespace halcyon::ledger {

inline constexpr int newest_schema = 3;

/// The tables whose rows belong to a run. Their keys begin with its number, which is its time: what is stored together
/// lies together, and a period of time is a range of keys.
inline constexpr std::string_view run_table = "run";
inline constexpr std::string_view group_table = "run_group";
inline constexpr std::string_view host_table = "run_host";
inline constexpr std::string_view slice_table = "slice";
inline constexpr std::array tables_of_runs{run_table, group_table, host_table, slice_table};
inline constexpr std::string_view work_table = "work";

/// What queries read: of other users, only what everybody may see.
inline constexpr std::string_view visible_run = "visible_run";
inline constexpr std::string_view visible_work = "visible_work";

/// Roles of PostgreSQL, which a database needs before its tables are made.
inline constexpr std::string_view operator_role = "halcyon_operator";
inline constexpr std::string_view user_role = "halcyon_user";

/// All statements that make the tables, in order.
std::vector<std::string> statements_of_schema(const Connection::Dialect& dialect);

/// What makes a ledger of an older schema one of the newest.
std::vector<std::string> statements_of_upgrade(const Connection::Dialect& dialect, std::int64_t from_version);

/// Gives a table, a partition or a view of PostgreSQL to all operators.
std::string owned_by_operator(std::string_view table);

/// "INSERT INTO …" for so many rows at a time.
std::string insertion(std::string_view table, std::span<const std::string> columns, std::size_t rows);

/// The names of the columns of a table: its key first, which are no columns of the row, then those of the row.
template <class Row>
std::vector<std::string> names_of(std::initializer_list<const char*> key) {
  std::vector<std::string> names(key.begin(), key.end());
  for (const Column<Row>& column : columns_of<Row>()) names.emplace_back(column.name);
  return names;
}

}  // namespace halcyon::ledger
