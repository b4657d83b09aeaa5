#include "cli/launch/process_facts.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace halcyon::cli {

std::optional<ProcessFacts> facts_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (process <= 0 || !std::getline(in, line)) return std::nullopt;
  // "PID (NAME) STATE PARENT ...", where the name may hold anything.
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcessFacts facts{.name = line.substr(open + 1, close - open - 1)};
  std::istringstream rest(line.substr(close + 1));
  if (!(rest >> facts.state >> facts.parent)) return std::nullopt;
  return facts;
}

bool descends_from(pid_t process, pid_t ancestor) {
  while (process > 1) {
    if (process == ancestor) return true;
    const std::optional<ProcessFacts> facts = facts_of(process);
    if (!facts) return false;
    process = facts->parent;
  }
  return process == ancestor;
}

}  // namespace halcyon::cli
