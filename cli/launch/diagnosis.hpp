// The findings of `halcyon doctor`: whether a launch command would be recorded here, how, and what to do if not.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/launch/program.hpp"

namespace halcyon::cli {

struct Finding {
  enum class State { good, note, problem };

  std::string subject;  // launcher, program, recorder, build, counter, clock, host, live, files
  std::string text;
  State state = State::good;
  std::string remedy;  // empty if nothing needs to be done
};
/// As JSON has them, in the order of Finding::State.
inline constexpr std::array<std::string_view, 3> finding_states{"good", "note", "problem"};

struct Diagnosis {
  std::vector<Finding> findings;
  std::string mpi = {};  // what the recorder is for; empty without a program

  /// The first problem that keeps the program from being recorded; null if there is none.
  const Finding* problem() const;
  bool records() const { return problem() == nullptr; }
};

/// `launch`: the command after `--`; `halcyon exec` for what a rank starts; empty to check only the machine.
Diagnosis diagnosis_of(const Words& launch);

/// What `halcyon doctor --json` printed, also where others printed something around it. Nothing if it is not there.
std::optional<Diagnosis> diagnosis_in(const std::string& text);

}  // namespace halcyon::cli
