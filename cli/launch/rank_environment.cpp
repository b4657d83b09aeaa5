#include "cli/launch/rank_environment.hpp"

#include <cstdlib>

#include "libprofile/system/environment.hpp"

namespace halcyon::cli {

Environment rank_environment(const RankOptions& options) {
  Environment environment;
  const auto add = [&environment](const char* name, const std::string& value) {
    if (!value.empty()) environment.emplace_back(name, value);
  };
  add("HALCYON_OUTPUT", options.output);
  add("HALCYON_COUNTER", options.counter);
  add("HALCYON_BOUNDARY", options.boundary);
  add("HALCYON_BOUNDARY_RANKS", options.boundary_ranks);
  add("HALCYON_MEMORY", options.memory);
  add("HALCYON_SPILL", options.spill);
  add("HALCYON_BACKGROUND", options.background);
  add("HALCYON_PROBES", options.no_probes ? "off" : "");
  add("HALCYON_NAMES", options.no_names ? "off" : "");
  // Who starts a run by the command may want to watch it.
  const char* const live = std::getenv("HALCYON_LIVE");
  add("HALCYON_LIVE", !options.live.empty() ? options.live : live != nullptr ? live : "on");
  for (const char* const name : {"HALCYON_LIVE_DIR", "HALCYON_DLSYM", "HALCYON_LEDGER"}) {
    if (const char* const value = environment_value(name)) add(name, value);
  }
  std::string specs;
  for (const std::string& spec : options.inject) specs += (specs.empty() ? "" : " ") + spec;
  add("INTM_SPEC", specs);
  return environment;
}

}  // namespace halcyon::cli
