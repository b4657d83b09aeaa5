#include "cli/launch/hydra.hpp"

#include <cstring>

namespace halcyon::cli {

Words with_global_environment(const Words& launch, const std::string& preload, const Environment& environment) {
  std::string for_all = outer_preload();
  Words rest;
  for (std::size_t i = 1; i < launch.size(); ++i) {
    const std::string name = launch[i].substr(launch[i].starts_with("--") ? 1 : 0);
    const bool sets = (name == "-genv" || name == "-env") && i + 1 < launch.size();
    // Hydra takes NAME=VALUE as well as NAME VALUE.
    const bool is_one_word = sets && launch[i + 1].starts_with("LD_PRELOAD=");
    const bool is_two_words = sets && launch[i + 1] == "LD_PRELOAD" && i + 2 < launch.size();
    if (!is_one_word && !is_two_words) {
      rest.push_back(launch[i]);
      continue;
    }
    const std::string theirs = is_one_word ? launch[i + 1].substr(std::strlen("LD_PRELOAD=")) : launch[i + 2];
    if (name == "-genv") {
      for_all = theirs;
    } else {
      rest.insert(rest.end(), {launch[i], "LD_PRELOAD", joined_preload(preload, theirs)});
    }
    i += is_one_word ? 1 : 2;
  }
  Words result{launch.front()};
  const std::string all = joined_preload(preload, for_all);
  if (!all.empty()) result.insert(result.end(), {"-genv", "LD_PRELOAD", all});
  for (const auto& [name, value] : environment) result.insert(result.end(), {"-genv", name, value});
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

}  // namespace halcyon::cli
