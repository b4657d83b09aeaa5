// The findings of `halcyon doctor`: whether a launch command would be recorded here, how, and what to do if not.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/program.hpp"

namespace halcyon::cli {

struct Finding {
  enum class State { good, note, problem };

  std::string subject;  // launcher, program, recorder, build, counter, clock, live, files
  std::string text;
  State state = State::good;
  std::string remedy;  // empty if nothing needs to be done
};

/// `launch`: the command after `--`; empty to check only the machine.
std::vector<Finding> diagnosis_of(const Words& launch);

}  // namespace halcyon::cli
