#include "report/openmetrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "libprofile/system/utc.hpp"
#include "report/exposition.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

// Every sample names the run.
class RunExposition {
 public:
  explicit RunExposition(const AnalyzedFile& run) : common_{{"file", run.name}, {"command", run.profile.command}} {}

  void begin(std::string_view metric, std::string_view description) { exposition_.begin(metric, description); }
  void sample(double value, const Labels& labels = {}) {
    Labels all = common_;
    all.insert(all.end(), labels.begin(), labels.end());
    exposition_.sample(value, all);
  }
  std::string end() { return exposition_.end(); }

 private:
  Labels common_;
  Exposition exposition_;
};

double ratio(double percent) { return percent / 100.0; }

}  // namespace

std::string openmetrics(const AnalyzedFile& run) {
  const MethodResult& result = run.analysis.result();
  const Labels method{{"method", std::string(result.name)}};
  RunExposition exposition(run);

  exposition.begin("verdict", "1 for the verdict on the run, 0 for the other verdicts");
  for (const Verdict verdict : {Verdict::green, Verdict::yellow, Verdict::red, Verdict::unknown}) {
    exposition.sample(verdict == result.verdict ? 1.0 : 0.0,
                      {method.front(), {"verdict", std::string(name_of(verdict))}});
  }
  for (const RunField& field : run_fields()) {
    if (field.metric.empty()) continue;
    const ordered_json value = field.value(run);
    if (value.is_null() || !std::isfinite(value.get<double>())) continue;
    exposition.begin(field.metric, field.description);
    exposition.sample(field.name.ends_with("_percent") ? ratio(value.get<double>()) : value.get<double>());
  }
  exposition.begin("interference_low_ratio", "lower end of the 90 % interval of the interference");
  exposition.sample(ratio(result.interval_percent.low));
  exposition.begin("interference_high_ratio", "upper end of the 90 % interval of the interference");
  exposition.sample(ratio(result.interval_percent.high));
  exposition.begin("method_interference_ratio", "share of the run time that came from outside, by method");
  for (const MethodResult& each : run.analysis.methods) {
    exposition.sample(ratio(each.interference_percent),
                      {{"method", std::string(each.name)}, {"verdict", std::string(name_of(each.verdict))}});
  }
  if (result.verdict != Verdict::unknown) {
    exposition.begin("excess_seconds", "time that came from outside, by the kind of operation that lost it");
    for (std::size_t kind = 0; kind < excess_kind_count; ++kind) {
      exposition.sample(run.analysis.breakdown.kinds[kind], {{"kind", std::string(excess_kind_names[kind])}});
    }
  }
  if (const std::optional<std::int64_t> start = seconds_since_1970(run.profile.start_time)) {
    exposition.begin("start_time_seconds", "start of the run, in seconds since 1970");
    exposition.sample(static_cast<double>(*start));
  }
  if (!run.analysis.warnings.empty()) {
    exposition.begin("warning", "1 for each warning of the report");
    for (const Warning& warning : run.analysis.warnings) exposition.sample(1.0, {{"code", warning.code}});
  }
  return exposition.end();
}

}  // namespace halcyon
