// The ledger: the runs of a site, in a database.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/connection.hpp"
#include "ledger/record/spool_file.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::ledger {

/// What became of a run that was to be stored.
enum class Stored : std::uint8_t { now, before, with_other_contents, of_another_user, not_at_that_time, not_one_more };
/// Why it was not stored; empty if it is in the ledger.
std::string objection_to(Stored stored);

class Ledger {
 public:
  /// For writing, tables are made in an empty database. A ledger of a newer schema is refused.
  static Outcome<Ledger> open(const std::string& database, Use use);

  Connection& connection() { return *connection_; }

  /// Of the database: columns that came later are not there.
  std::int64_t schema() const { return schema_; }

  /// Calls `work` within a transaction, which excludes all other writers. What fails leaves nothing behind.
  Status in_transaction(const std::function<Status()>& work);

  /// Within a transaction. A run that is there already stays as it is, unless `replaces`.
  Outcome<Stored> store(const SpooledRun& run, bool replaces = false);

  /// Removes what began before these times (ns since 1970): slices, and whole runs. Within a transaction.
  struct Removed {
    std::int64_t slices = 0;
    std::int64_t runs = 0;
  };
  Outcome<Removed> slim(std::int64_t slices_before, std::int64_t runs_before);

 private:
  explicit Ledger(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
  Status check_or_make(Use use, const std::string& database);
  Status make_tables();
  Status upgrade();
  Status make_partitions(std::int64_t run);
  Outcome<std::int64_t> remove_before(std::string_view table, std::int64_t time);
  template <class Row>
  Status insert(std::string_view table, std::initializer_list<const char*> key, std::int64_t run,
                const std::vector<Row>& rows);

  std::unique_ptr<Connection> connection_;
  std::int64_t schema_ = 0;
  std::map<std::pair<std::string_view, std::size_t>, std::string> insertions_;  // by table and number of rows
  std::set<std::string> months_;                                                // whose partitions are there
};

}  // namespace halcyon::ledger
