// Three figures of a validation as SVG: those of the paper, section 3.
#pragma once

#include <string>

#include "report/series/validation.hpp"

namespace halcyon {

/// Runs in order of their time, with measured and estimated interference over the bands of the classes (the paper's
/// Fig. 2).
std::string runs_figure(const ValidationSetting& setting, const Validation& validation);

/// The logistic function with the runs on it, and the measured and the estimated probability that each run is highly
/// disturbed (Fig. 3).
std::string probability_figure(const ValidationSetting& setting, const Validation& validation);

/// Box plots of accuracy and of the difference in percentage points, of every method against every truth (Fig. 4).
std::string accuracy_figure(const ValidationSetting& setting, const Validation& validation);

}  // namespace halcyon
