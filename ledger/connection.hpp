// A connection to a database: SQL goes in with values apart from it, rows come out. All that differs between SQLite,
// PostgreSQL and Parquet is behind this interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ledger/record/columns.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::ledger {

using Values = std::span<const Value>;
using Row = std::vector<Value>;

enum class Use : std::uint8_t { reads, writes };

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  /// Runs one statement, in which $1, $2 … stand for the values, first mentioned in this order. It is prepared once.
  virtual Status run(const std::string& sql, Values values, const std::function<void(const Row& row)>& visit) = 0;
  Status run(const std::string& sql, Values values = {}) {
    return run(sql, values, [](const Row&) {});
  }

  /// Begins a transaction that excludes those of all other writers, and waits for them.
  virtual Status begin() = 0;
  virtual Outcome<bool> has_table(const std::string& name) = 0;

  /// The words for what is no standard SQL, or has several names.
  struct Dialect {
    const char* whole;           // a column of 64 bits
    const char* number;          // a column of double precision
    const char* of_runs;         // after the columns of the table of runs
    const char* of_parts;        // after those of a table whose key begins with the run
    bool has_partitions;         // by time, of all these tables
    bool has_roles;              // for operators and users; else who can read the file sees all
    std::size_t most_values;     // of a statement
    const char* after_slimming;  // a statement that gives room back; empty if there is none
  };
  virtual const Dialect& dialect() const = 0;
};

/// Opens FILE, sqlite:FILE, postgresql://… or parquet:DIR. A file that is to be written is made if it is not there.
Outcome<std::unique_ptr<Connection>> connect(const std::string& database, Use use);

/// These are behind it.
Outcome<std::unique_ptr<Connection>> connect_to_sqlite(const std::string& file, Use use);
Outcome<std::unique_ptr<Connection>> connect_to_postgresql(const std::string& address, Use use);
Outcome<std::unique_ptr<Connection>> connect_to_parquet(const std::string& directory, Use use);

/// Why a database of SQLite cannot be on a file system of this kind (`f_type` of statfs); empty if it can.
std::string objection_to_file_system(std::uint64_t type);

}  // namespace halcyon::ledger
