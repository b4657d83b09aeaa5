// A spool file: one run on its way into the ledger. A line says what it is, of which version, how long and with which
// checksum; JSON with the names of the columns follows.
//
//     halcyon-run 2 BYTES CHECKSUM
//     {"work": {COLUMN: VALUE, …}, "run": {…}, "run_group": {COLUMN: [VALUE, …], …}, "run_host": {…}, "slice": {…}}
#pragma once

#include <string>
#include <string_view>

#include "ledger/record/run_record.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::ledger {

/// A record and the checksum of its contents, by which one that is there twice is told from another of the same run.
struct SpooledRun {
  RunRecord record;
  std::string checksum;
};

inline constexpr std::string_view beginning_of_spool_file = "halcyon-run ";
inline constexpr int newest_spool_version = 3;
/// Larger than any: the file is not read.
inline constexpr std::size_t most_spool_bytes = std::size_t{16} << 20u;
/// Numerics: what a job should not exceed; slices of time are longer where it would.
inline constexpr std::size_t usual_spool_bytes = 50000;

std::string spool_text(const RunRecord& record);
/// Checks everything: whoever may write into the spool may write anything. The failure says what is wrong with "it".
Outcome<SpooledRun> run_in(std::string_view spool_text);

/// Writes the record into the directory: under a name that the ingester passes by, until it is complete. Replaces the
/// file of the same run, unless that knows more. Returns the file's name.
Outcome<std::string> spool(const RunRecord& record, const std::string& directory);

}  // namespace halcyon::ledger
