#include "cli/launch/open_mpi.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/launch/programs.hpp"

namespace halcyon::cli {
namespace {

// `--app FILE`, programs in a file a line, is all that Open MPI takes its programs from: no -x beside it reaches them.
// So they go into the command line, split as Open MPI splits them, at blanks.
Words with_app_file(const Words& launch) {
  const std::optional<std::size_t> option = option_of_program_file(launch);
  if (!option) return launch;
  const std::vector<Words> programs = lines_of(launch[*option + 1]);
  if (programs.empty()) return launch;  // mpirun says what is wrong with it
  Words result;
  for (std::size_t i = 0; i < launch.size(); ++i) {
    if (i == *option || (launch[i] == "-x" && i + 1 != launch.size())) {
      ++i;
      continue;
    }
    result.push_back(launch[i]);
  }
  for (const Words& program : programs) {
    if (&program != &programs.front()) result.push_back(":");
    result.insert(result.end(), program.begin(), program.end());
  }
  return result;
}

}  // namespace

Words with_exports(const Words& launch, const std::string& preload, const Environment& environment) {
  const Words words = with_app_file(launch);
  Words result;
  for (auto at = words.begin(); at != words.end();) {
    const auto end = std::find(at, words.end(), ":");
    if (at == words.begin()) result.push_back(*at++);  // mpirun itself
    std::string theirs = outer_preload();
    Words rest;
    for (; at != end; ++at) {
      // The user's own preload of this program, which a second -x would replace.
      if (*at == "-x" && at + 1 != end && (at + 1)->rfind("LD_PRELOAD=", 0) == 0) {
        theirs = (++at)->substr(11);
        continue;
      }
      if (*at == "-x" && at + 1 != end && *(at + 1) == "LD_PRELOAD") {  // the one of this environment
        ++at;
        continue;
      }
      rest.push_back(*at);
    }
    const std::string all = joined_preload(preload, theirs);
    if (!all.empty()) result.insert(result.end(), {"-x", "LD_PRELOAD=" + all});
    for (const auto& [name, value] : environment) result.insert(result.end(), {"-x", name});
    result.insert(result.end(), rest.begin(), rest.end());
    if (end == words.end()) break;
    result.push_back(":");
    at = end + 1;
  }
  return result;
}

}  // namespace halcyon::cli
