// The error of the estimates in the runs of a validation, for any program and machine.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/validate/truth.hpp"

namespace halcyon {

/// 1 - |P(truth) - P(estimate)|, P the probability of a highly disturbed run (the paper, section 3). Both in percent.
double soft_accuracy(double truth_percent, double estimate_percent);

/// The score of one method in one run.
struct Score {
  double accuracy = 0.0;
  double difference_points = 0.0;  // |truth - estimate|
  bool covered = false;            // the 90 % interval contains the truth
  bool reached = false;            // or is at most the uncertainty of the truth away
};
/// None if the method gave no verdict, or the truth is not known.
std::optional<Score> score_of(const ValidatedRun& run, std::size_t method, Truth truth);

/// The scores of one method in all runs that it judged.
struct MethodSummary {
  std::string_view method;
  Truth truth = Truth::measured;
  std::vector<double> accuracy;           // (judged runs)
  std::vector<double> difference_points;  // (judged runs)
  std::size_t covered = 0;                // judged runs whose interval contains the truth
  std::size_t reached = 0;                // or is at most the uncertainty of the truth away
};

/// The results of a validation.
struct Validation {
  std::vector<ValidatedRun> runs;            // in the order in which they were made
  std::size_t fastest = 0;                   // of them
  std::optional<double> background_percent;  // median over the runs without a disturber
  bool paired_at_equal_speed = false;        // times by pairs are in units of the background's quantum
  Noise noise;
  std::vector<MethodSummary> summaries;  // method by method, truth by truth; without unknown truths

  std::vector<Truth> known_truths() const;  // of any run
};

/// Fills in the truths (truth.hpp) and sums up. Needs displacements against the fastest run, and at least one run.
Validation summarise(std::vector<ValidatedRun> runs);

}  // namespace halcyon
