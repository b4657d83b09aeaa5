// A data set of Parquet: the tables of a ledger as files, a day in each, for sites that outgrow one database.
#pragma once

#include <functional>
#include <string>

#include "ledger/ledger.hpp"

namespace halcyon::ledger {

/// What an export did.
struct Exported {
  std::size_t days = 0;      // that were written
  std::size_t runs = 0;      // that are new
  std::size_t replaced = 0;  // that were there with other contents
  std::size_t in_ledger = 0;
};

/// Adds to the data set in a directory what it lacks of the ledger, or makes it. Runs that the ledger has no longer
/// stay. A kill at any moment leaves each day as it was, or whole.
Outcome<Exported> export_to_parquet(Ledger& ledger, const std::string& directory,
                                    const std::function<void(const Exported& so_far, std::size_t days)>& progress);

}  // namespace halcyon::ledger
