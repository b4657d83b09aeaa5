// A result and a profile as text for a terminal.
#pragma once

#include <string>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

enum class Colour { never, always };

/// The report of one run: five answers first (report/first_lines.hpp), then what they are based on.
std::string report_text(const std::string& file, const Profile& profile, const Analysis& analysis, Colour colour);

/// The last lines of `halcyon run`: the same answers.
std::string closing_lines(const std::string& file, const Profile& profile, const Analysis& analysis, Colour colour);

/// One run in a summary of several.
struct SummaryRow {
  std::string file;
  Verdict verdict = Verdict::unknown;
  double interference_percent = 0.0;
  bool may_be_own = false;
  double run_time_seconds = 0.0;
  double undisturbed_time_seconds = 0.0;
  std::string undisturbed;  // in words
};
SummaryRow summary_row(const std::string& file, const Analysis& analysis);

/// One line per run, and one for all of them.
std::string summary_text(const std::vector<SummaryRow>& runs);

/// The contents of a profile, without a verdict.
std::string info_text(const std::string& file, const Profile& profile);

}  // namespace halcyon
