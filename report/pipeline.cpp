#include "report/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libprofile/system/legible.hpp"
#include "report/svg.hpp"

namespace halcyon {
namespace {

// What would end a value, or begin the next one. Ends of lines are escaped already where a text is legible.
std::string for_github(std::string_view text, bool is_property) {
  std::string escaped;
  for (const char c : legible(text)) {
    switch (c) {
      case '%': escaped += "%25"; break;
      case ':': escaped += is_property ? "%3A" : ":"; break;
      case ',': escaped += is_property ? "%2C" : ","; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string_view level_of(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::failed:
    case CheckOutcome::unknown: return "error";
    case CheckOutcome::unknown_passed: return "warning";
    case CheckOutcome::passed: break;
  }
  return "notice";
}

// Legible, line by line.
std::string lines_of_xml(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += svg::escaped(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string test_case(const CheckedRun& run) {
  const std::string begin = fmt::format("    <testcase classname=\"halcyon.report\" name=\"{}\" time=\"{:.6f}\"",
                                        svg::escaped(run.file), run.run_time_seconds);
  const auto with = [&](std::string_view element) {
    return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", begin, element,
                       run.verdict, svg::escaped(run.words), lines_of_xml(run.details), element);
  };
  switch (run.outcome) {
    case CheckOutcome::failed: return with("failure");
    case CheckOutcome::unknown: return with("error");
    case CheckOutcome::unknown_passed:
      return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", begin, svg::escaped(run.words));
    case CheckOutcome::passed: break;
  }
  return begin + "/>\n";
}

}  // namespace

std::string github_annotations(const std::vector<CheckedRun>& runs) {
  std::string text;
  for (const CheckedRun& run : runs) {
    text += fmt::format("::{} title={}::{}\n", level_of(run.outcome),
                        for_github(fmt::format("{}: {}", run.file, run.verdict), true), for_github(run.words, false));
  }
  return text;
}

std::string junit_xml(const std::vector<CheckedRun>& runs) {
  const auto count = [&runs](CheckOutcome outcome) { return std::ranges::count(runs, outcome, &CheckedRun::outcome); };
  double seconds = 0.0;
  std::string cases;
  for (const CheckedRun& run : runs) {
    seconds += run.run_time_seconds;
    cases += test_case(run);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"halcyon\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\">\n"
      "{}  </testsuite>\n</testsuites>\n",
      runs.size(), count(CheckOutcome::failed), count(CheckOutcome::unknown), count(CheckOutcome::unknown_passed),
      seconds, cases);
}

}  // namespace halcyon
