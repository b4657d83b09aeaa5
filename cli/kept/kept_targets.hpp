// The progress rates that `halcyon regulate` has learned for a program, kept from one run to the next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/online/target_rates.hpp"
#include "cli/kept/state_directory.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// The program to which the rates belong.
struct RegulatedProgram {
  std::string command;
  int ranks = 0;
  std::vector<std::string> metrics;
};

class KeptTargets {
 public:
  static Outcome<KeptTargets> open();

  /// Nothing if there is none. A failure says what is wrong with the record.
  Outcome<std::optional<LearnedRates>> of(const RegulatedProgram& program) const;
  Status keep(const RegulatedProgram& program, const LearnedRates& learned) const;

 private:
  explicit KeptTargets(RecordStore store) : store_(std::move(store)) {}

  RecordStore store_;
};

}  // namespace halcyon::cli
