#include "cli/launch/rank_environment.hpp"

#include <algorithm>
#include <cstdlib>

#include "libprofile/system/environment.hpp"

namespace halcyon::cli {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

}  // namespace

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
  add("HALCYON_LABEL", joined(options.label));
  add("HALCYON_NOTE", options.note);
  // Who starts a run by the command may want to watch it.
  const char* const live = std::getenv("HALCYON_LIVE");
  add("HALCYON_LIVE", !options.live.empty() ? options.live : live != nullptr ? live : "on");
  for (const char* const name :
       {"HALCYON_LIVE_DIR", "HALCYON_DLSYM", "HALCYON_LEDGER", "HALCYON_LABEL", "HALCYON_NOTE"}) {
    if (std::ranges::find(environment, name, &Environment::value_type::first) != environment.end()) continue;
    if (const char* const value = environment_value(name)) add(name, value);
  }
  add("INTM_SPEC", joined(options.inject));
  return environment;
}

}  // namespace halcyon::cli
