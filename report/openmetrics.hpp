// The figures of a run for monitoring: OpenMetrics 1.0 text, of gauges alone, so that readers of the older Prometheus
// text format (node_exporter's textfile collector) take it, too.
#pragma once

#include <string>

#include "report/json.hpp"

namespace halcyon {

std::string openmetrics(const AnalyzedFile& run);

}  // namespace halcyon
