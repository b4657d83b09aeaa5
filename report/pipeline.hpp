// The outcome of checks for pipelines of tests: annotations of GitHub, and JUnit's XML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"

namespace halcyon {

enum class CheckOutcome : std::uint8_t { passed, failed, unknown, unknown_passed };

/// A run that was checked for a verdict.
struct CheckedRun {
  std::string file;
  CheckOutcome outcome = CheckOutcome::passed;
  double run_time_seconds = 0.0;
  std::string_view verdict;
  std::string words;    // in short: a clause
  std::string details;  // in several lines
};

/// A line for each run (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
std::string github_annotations(const std::vector<CheckedRun>& runs);
/// One suite with a test for each run. What is unknown is an error, or skipped if it passes.
std::string junit_xml(const std::vector<CheckedRun>& runs);

}  // namespace halcyon
