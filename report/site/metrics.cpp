#include "report/site/metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "report/exposition.hpp"

namespace halcyon {
namespace {

using ledger::By;
using ledger::Loss;

struct Total {
  std::string_view metric;
  std::string_view description;
  double (*value)(const Loss& loss);
};
constexpr std::array<Total, 7> totals{
    {{"runs", "runs", [](const Loss& loss) { return static_cast<double>(loss.runs); }},
     {"judged_runs", "runs with an estimate", [](const Loss& loss) { return static_cast<double>(loss.judged_runs); }},
     {"node_hours", "node hours of all runs", [](const Loss& loss) { return loss.node_hours; }},
     {"judged_node_hours", "node hours of runs with an estimate",
      [](const Loss& loss) { return loss.judged_node_hours; }},
     {"lost_node_hours", "node hours that runs lost", [](const Loss& loss) { return loss.lost_node_hours; }},
     {"lost_low_node_hours", "low end of the 90 % interval of the node hours lost",
      [](const Loss& loss) { return loss.low_node_hours; }},
     {"lost_high_node_hours", "high end of the 90 % interval of the node hours lost",
      [](const Loss& loss) { return loss.high_node_hours; }}}};

void add_nodes(Exposition& exposition, const SlowNodes& nodes) {
  struct Value {
    std::string_view metric;
    std::string_view description;
    double (*percent)(const HostEffect& host);
  };
  constexpr std::array<Value, 3> values{
      {{"slow_node_ratio", "so much longer runs take on a node that is listed as slow",
        [](const HostEffect& host) { return host.percent; }},
       {"slow_node_low_ratio", "low end of its 90 % interval",
        [](const HostEffect& host) { return host.interval_percent.low; }},
       {"slow_node_high_ratio", "high end of its 90 % interval",
        [](const HostEffect& host) { return host.interval_percent.high; }}}};
  double listed = 0.0;
  for (const HostEffect& host : nodes.ranking.hosts) listed += host.is_listed ? 1.0 : 0.0;
  exposition.begin("site_slow_nodes", "nodes that are listed as slow");
  exposition.sample(listed, {});
  exposition.begin("site_nodes", "nodes that were compared");
  exposition.sample(static_cast<double>(nodes.ranking.hosts.size()), {});
  for (const Value& value : values) {
    if (listed == 0.0) break;
    exposition.begin(fmt::format("site_{}", value.metric), value.description);
    for (const HostEffect& host : nodes.ranking.hosts) {
      if (!host.is_listed) continue;
      const ledger::SiteHost& known = nodes.history.hosts[host.host];
      exposition.sample(0.01 * value.percent(host), {{"cluster", known.cluster}, {"host", known.name}});
    }
  }
}

}  // namespace

std::string site_metrics(const std::vector<std::pair<By, std::vector<Loss>>>& losses, const SlowNodes* nodes) {
  Exposition exposition;
  const Loss all = losses.empty() ? Loss() : ledger::sum_of(losses.front().second);
  for (const Total& total : totals) {
    exposition.begin(fmt::format("site_{}", total.metric), total.description);
    exposition.sample(total.value(all), {});
  }
  for (const auto& [by, each] : losses) {
    if (each.empty()) continue;
    const std::string_view name = ledger::by_names[static_cast<std::size_t>(by)];
    for (const Total& total : totals) {
      exposition.begin(fmt::format("site_{}_{}", name, total.metric),
                       fmt::format("{}, by {}", total.description, name));
      for (const Loss& loss : each) exposition.sample(total.value(loss), {{name, loss.name}});
    }
  }
  if (nodes != nullptr) add_nodes(exposition, *nodes);
  return exposition.end();
}

}  // namespace halcyon
