// The syntax of OpenMetrics 1.0. It only has gauges, so that readers of the older Prometheus text format
// (node_exporter's textfile collector) also accept it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halcyon {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

class Exposition {
 public:
  /// Starts a metric "halcyon_" + `metric`; the samples that follow belong to it.
  void begin(std::string_view metric, std::string_view description);
  void sample(double value, const Labels& labels);
  std::string end() { return text_ + "# EOF\n"; }

 private:
  std::string metric_;
  std::string text_;
};

}  // namespace halcyon
