// The laws on which estimates are tested: kinds of programs and machines, each with parameters that are drawn anew for
// every run. The laws on which constants were chosen are not among the reported ones.
#pragma once

#include <string_view>
#include <vector>

#include "bench/draw.hpp"
#include "tests/truth/truth.hpp"

namespace halcyon::bench {

struct Law {
  std::string_view name;
  truth::Run (*draw)(Draw& draw);
};

/// The laws on which an earlier default estimator failed, then others on which it was not built.
extern const std::vector<Law> reported_laws;
/// The laws on which constants were chosen and intervals were calibrated: other laws and other parameters.
extern const std::vector<Law> calibration_laws;
/// Kinds of programs and machines on which the default estimator failed, or that other laws do not have.
extern const std::vector<Law> failure_laws;
/// Made after the estimator, by somebody else, to find where it fails; some have no answer in one run.
extern const std::vector<Law> attack_laws;

}  // namespace halcyon::bench
