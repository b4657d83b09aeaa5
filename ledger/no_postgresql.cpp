// In place of postgresql.cpp, where Halcyon is built without libpq.
#include "ledger/connection.hpp"

namespace halcyon::ledger {

Outcome<std::unique_ptr<Connection>> connect_to_postgresql(const std::string&, Use) {
  return Failure{
      "--database postgresql://: this halcyon was built without libpq: build it with libpq-dev, or name a file"};
}

}  // namespace halcyon::ledger
