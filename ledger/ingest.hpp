// From the spool into the ledger: many files in a transaction, each removed only when what was in it is stored. A kill
// at any moment leaves files that are taken again, and recognised.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ledger/ledger.hpp"

namespace halcyon::ledger {

struct Ingested {
  std::uint64_t stored = 0;
  std::uint64_t before = 0;   // that were in the ledger already
  std::uint64_t refused = 0;  // put aside
  std::uint64_t left = 0;     // that could be neither read nor removed
};

/// What is said while it goes on.
struct Telling {
  std::function<void(const std::string& line)> complaint;
  std::function<void(const Ingested& so_far)> progress;
};

/// The directory within the spool, for files that are not taken. Beside each, NAME.reason says why.
inline constexpr const char* name_of_refused = "refused";

/// Fails if the spool cannot be listed, or if the database takes no more: everything else is then still in the spool.
Outcome<Ingested> ingest(Ledger& ledger, const std::string& spool, const Telling& telling);

}  // namespace halcyon::ledger
