// In place of sqlite.cpp, where Halcyon is built without SQLite.
#include "ledger/connection.hpp"

namespace halcyon::ledger {

Outcome<std::unique_ptr<Connection>> connect_to_sqlite(const std::string& file, Use) {
  return Failure{file + ": this halcyon was built without SQLite: build it with libsqlite3-dev, or use postgresql://"};
}

}  // namespace halcyon::ledger
