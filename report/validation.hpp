// A validation as text for a terminal, as Markdown tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/validate/validation.hpp"

namespace halcyon {

/// What was asked for, and where the results lie.
struct ValidationSetting {
  std::string command;
  int ranks = 0;
  std::vector<std::string> hosts;
  std::string counter;
  PlanRequest request;
  std::vector<std::string> disturbers;  // (request.disturbers) as they were asked for
  Calibration calibration;
  std::vector<std::string> specs;         // (runs) given to the injector, or empty
  std::vector<std::string> disturbances;  // (runs) what a disturber did beside it, or empty
  std::vector<std::string> profiles;      // (runs) file names
  std::string ended_early;                // why, if not all runs of the plan were made
};

/// How each method did against the truth by pairs, and every run in a line, in 80 columns.
std::string validation_text(const ValidationSetting& setting, const Validation& validation);

/// Two tables: every run, and how each method did against each truth.
std::string validation_markdown(const ValidationSetting& setting, const Validation& validation);

nlohmann::ordered_json validation_json(const ValidationSetting& setting, const Validation& validation);

/// The class of an interference in the paper's words: low, medium or high.
std::string_view class_of(double interference_percent);

}  // namespace halcyon
