// A database of SQLite: one file.
#include <fmt/format.h>
#include <sqlite3.h>

#include <map>

#include "ledger/connection.hpp"

namespace halcyon::ledger {
namespace {

constexpr int longest_wait_for_others = 60000;  // ms

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

Value value_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_NULL: return {};
    default:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                         static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
  }
}

class Sqlite final : public Connection {
 public:
  Sqlite(std::string file, Database database) : file_(std::move(file)), database_(std::move(database)) {}

  Status run(const std::string& sql, Values values, const std::function<void(const Row&)>& visit) override {
    Statement& statement = prepared_[sql];
    if (!statement) {
      sqlite3_stmt* made = nullptr;
      const int status = sqlite3_prepare_v3(database_.get(), sql.c_str(), static_cast<int>(sql.size()) + 1,
                                            SQLITE_PREPARE_PERSISTENT, &made, nullptr);
      statement.reset(made);
      if (status != SQLITE_OK) return failure();
    }
    sqlite3_stmt* running = statement.get();
    for (std::size_t i = 0; i < values.size(); ++i) bind(running, static_cast<int>(i) + 1, values[i]);
    Row row(static_cast<std::size_t>(sqlite3_column_count(running)));
    int status = SQLITE_OK;
    while ((status = sqlite3_step(running)) == SQLITE_ROW) {
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = value_at(running, static_cast<int>(i));
      visit(row);
    }
    Status outcome = status == SQLITE_DONE ? Status(Done{}) : Status(failure());
    sqlite3_reset(running);
    sqlite3_clear_bindings(running);
    return outcome;
  }

  Status begin() override { return Connection::run("BEGIN IMMEDIATE"); }

  Outcome<bool> has_table(const std::string& name) override {
    bool has = false;
    const Value named = name;
    const Status looked =
        run("SELECT 1 FROM sqlite_master WHERE name = $1", {&named, 1}, [&](const Row&) { has = true; });
    if (!looked) return looked.failure();
    return has;
  }

  const Dialect& dialect() const override {
    static const Dialect of_sqlite{.whole = "INTEGER",
                                   .number = "REAL",
                                   .of_runs = "",
                                   .of_parts = " WITHOUT ROWID",
                                   .has_partitions = false,
                                   .has_roles = false,
                                   .most_values = 32766,
                                   .after_slimming = "PRAGMA incremental_vacuum"};
    return of_sqlite;
  }

  Failure failure() const {
    const std::string why = sqlite3_errmsg(database_.get());
    const int code = sqlite3_errcode(database_.get());
    const auto words = [&]() -> std::string {
      switch (code) {
        case SQLITE_BUSY:
          return "another process has been writing for a minute: end it, or try again when it has finished";
        case SQLITE_FULL: return why + ": make room there, nothing was lost";
        case SQLITE_IOERR: return why + ": is the file system full, or its device failing?";
        case SQLITE_READONLY: return why + ": make the file and its directory writable for this user";
        case SQLITE_CANTOPEN:
          return why + ": the file must be there, and its directory writable for this user, also to read it";
        case SQLITE_NOTADB: return "it is no database of SQLite: name another file";
        case SQLITE_CORRUPT: return why + ": restore it from a backup";
        default: return why;
      }
    };
    return {file_ + ": " + words()};
  }

 private:
  static void bind(sqlite3_stmt* statement, int at, const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      sqlite3_bind_int64(statement, at, *whole);
    } else if (const auto* number = std::get_if<double>(&value)) {
      sqlite3_bind_double(statement, at, *number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      sqlite3_bind_null(statement, at);
    }
  }

  std::string file_;
  Database database_;
  std::map<std::string, Statement> prepared_;  // ends before the database
};

}  // namespace

Outcome<std::unique_ptr<Connection>> connect_to_sqlite(const std::string& file, Use use) {
  sqlite3* opened = nullptr;
  const int flags = use == Use::reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int status = sqlite3_open_v2(file.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  auto connection = std::make_unique<Sqlite>(file, Database(opened));
  if (status != SQLITE_OK) return connection->failure();
  sqlite3_busy_timeout(opened, longest_wait_for_others);
  // Functions of SQL that a hostile schema could call do nothing beyond the database.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  std::vector<const char*> settings{"PRAGMA cache_size = -65536"};
  if (use == Use::writes) {
    // A transaction is in the file when it has ended, even if the power fails then.
    settings.insert(settings.end(),
                    {"PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"});
  }
  for (const char* setting : settings) {
    if (const Status set = connection->Connection::run(setting); !set) return set.failure();
  }
  return {std::move(connection)};
}

}  // namespace halcyon::ledger
