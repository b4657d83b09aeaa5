// Which demand explains a loss (analyzer/site/culprits), for bench/tokio_abc.py.
//
// usage: culprits_of_series <SCENES   Each scene is a line "loss NUMBER..." and after it lines "demand NUMBER...". A
// line comes out for each: "SUSPECT CHANCE SECONDS LOW HIGH" of the clearest culprit, with the suspects numbered from
// 0, or "none".
#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/site/culprits.hpp"

namespace {

using namespace halcyon;

struct Scene {
  std::vector<double> loss;
  std::vector<Suspect> suspects;
};

void tell(const Scene& scene) {
  if (scene.loss.empty()) return;
  const Accusations told = culprits_of({&scene.loss, 1}, scene.suspects);
  if (told.culprits.empty()) {
    fmt::print("none\n");
    return;
  }
  const Culprit& clearest = told.culprits.front();
  fmt::print("{} {} {} {} {}\n", clearest.suspect, clearest.chance, clearest.lost_seconds,
             clearest.interval_seconds.low, clearest.interval_seconds.high);
}

}  // namespace

int main() {
  Scene scene;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    std::vector<double> values;
    for (double value = 0.0; words >> value;) values.push_back(value);
    if (what == "loss") {
      tell(scene);
      scene = {.loss = values, .suspects = {}};
    } else {
      scene.suspects.push_back(
          {.run = static_cast<std::uint32_t>(scene.suspects.size()), .resource = 0, .demand = values});
    }
  }
  tell(scene);
  return 0;
}
