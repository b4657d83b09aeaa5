// The figures of a run for monitoring, as OpenMetrics 1.0 text. It only has gauges, so that readers of the older
// Prometheus text format (node_exporter's textfile collector) also accept it.
#pragma once

#include <string>

#include "report/json.hpp"

namespace halcyon {

std::string openmetrics(const AnalyzedFile& run);

}  // namespace halcyon
