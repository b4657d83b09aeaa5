// A validation as text for a terminal, as Markdown tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/validate/validation.hpp"

namespace halcyon {

/// The request, and the files of the results.
struct ValidationSetting {
  std::string command;
  int ranks = 0;
  std::vector<std::string> hosts;
  std::string counter;
  PlanRequest request;
  std::vector<std::string> disturbers;  // (request.disturbers) as the user named them
  Calibration calibration;
  std::vector<std::string> specs;         // (runs) given to the injector, or empty
  std::vector<std::string> disturbances;  // (runs) what the disturber did during the run, or empty
  std::vector<std::string> profiles;      // (runs) file names
  std::string ended_early;                // the reason, if not all runs of the plan were made
};

/// The accuracy of each method against the truth by pairs, then a line for every run, in 80 columns.
std::string validation_text(const ValidationSetting& setting, const Validation& validation);

/// Two tables: the accuracy of each method against each truth, and every run.
std::string validation_markdown(const ValidationSetting& setting, const Validation& validation);

nlohmann::ordered_json validation_json(const ValidationSetting& setting, const Validation& validation);

/// The class of an interference in the paper's words: low, medium or high.
std::string_view class_of(double interference_percent);

}  // namespace halcyon
