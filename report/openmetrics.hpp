// The figures of a run for monitoring, as OpenMetrics 1.0 text. It has gauges only, so that readers of the older
// Prometheus text format (node_exporter's textfile collector) accept it, too.
#pragma once

#include <string>

#include "report/json.hpp"

namespace halcyon {

std::string openmetrics(const AnalyzedFile& run);

}  // namespace halcyon
