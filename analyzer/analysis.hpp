// The whole analysis of one profile: grouping, estimates, interval, verdict and what the user must be warned of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution.hpp"
#include "analyzer/verdict.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Warning {
  std::string code;  // stable, in kebab-case
  std::string message;
};

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// What one method says of the run.
struct MethodResult {
  std::string_view name;
  double excess_seconds = 0.0;
  double interference_percent = 0.0;  // of the whole, disturbed run time
  Interval interval_percent;          // 90 %, given the baselines
  double probability_high = 0.0;
  Verdict verdict = Verdict::unknown;
};

struct Analysis {
  std::uint64_t segments = 0;
  std::uint32_t clusters = 0;
  std::uint32_t groups = 0;
  std::uint64_t judged_segments = 0;
  std::uint32_t judged_groups = 0;
  double run_time_seconds = 0.0;
  double coverage_percent = 0.0;  // share of the run time in judged groups
  double segment_rate_hz = 0.0;
  std::vector<MethodResult> methods;  // in the order of estimators.hpp
  std::size_t chosen = 0;             // the method that speaks for the run
  std::vector<double> excess;         // (segments) s, by that method; 0 where not judged
  Attribution attribution;            // of that excess
  std::optional<Warning> unknown;     // why there is no verdict
  std::optional<double> injected_percent;
  std::vector<Warning> warnings;

  const MethodResult& result() const { return methods[chosen]; }
  double undisturbed_time_seconds() const { return run_time_seconds - result().excess_seconds; }
};

/// `method` must be one of estimators.hpp.
Analysis analyze(const Profile& profile, std::string_view method);

}  // namespace halcyon
