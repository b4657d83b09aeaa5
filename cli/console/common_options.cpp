#include "cli/console/common_options.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "analyzer/estimate/estimators.hpp"
#include "cli/console/quantity.hpp"
#include "report/quote.hpp"

namespace halcyon::cli {

namespace fs = std::filesystem;

void add_json_option(const Command& command, std::string& where) {
  command.option("--json", where, "Write JSON to FILE, or with '-' to standard output instead of the text")
      .output_file_or_stdout();
}

void add_csv_option(const Command& command, std::string& where, std::string_view row) {
  command
      .option("--csv", where,
              fmt::format("Write a table with one row per {} to FILE, or with '-' to standard output", row))
      .output_file_or_stdout();
}

void add_openmetrics_option(const Command& command, std::string& where) {
  command
      .option("--openmetrics", where,
              "Write figures for monitoring, as OpenMetrics text, to FILE, or with '-' to standard output")
      .output_file_or_stdout();
}

void add_perfetto_option(const Command& command, std::string& where) {
  command
      .option("--perfetto", where,
              "Write a trace for Perfetto, with disturbed segments marked, to FILE, or with '-' to standard output")
      .output_file_or_stdout();
}

void add_html_option(const Command& command, std::string& file) {
  command.option("--html", file, "Write the report with figures to FILE, as one page that needs no network")
      .output_file();
}

fs::path canonical_path(const fs::path& file) {
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  const fs::path path = fs::weakly_canonical(absolute, error);
  return error ? absolute : path;
}

std::optional<std::string> objection_to_places(std::initializer_list<Written> all) {
  for (const Written* one = all.begin(); one != all.end(); ++one) {
    if (one->where.empty()) continue;
    for (const Written* before = all.begin(); before != one; ++before) {
      const bool is_file = one->where != "-" && before->where != "-" && !before->where.empty();
      if (one->where == before->where || (is_file && canonical_path(one->where) == canonical_path(before->where))) {
        return fmt::format("{} and {} cannot both go to {}", before->option, one->option,
                           one->where == "-" ? "standard output: name a file for one of them" : one->where);
      }
    }
  }
  return std::nullopt;
}

void add_method_option(const Command& command, std::string& method) {
  std::vector<std::string> names;
  for (const Method& each : methods) names.emplace_back(each.name);
  command.option("--method", method, "Method for the verdict; halcyon help report explains the methods")
      .one_of(names)
      .with_default();
}

void add_quote_option(const Command& command, std::string& form) {
  std::vector<std::string> names(quote_form_names.begin(), quote_form_names.end());
  command.option("--quote", form, "Print a line for a paper instead: the time, its interval, and what it is of")
      .one_of(names);
}

void add_no_baseline_flag(const Command& command, bool& no_baseline) {
  command.flag("--no-baseline", no_baseline, "Do not compare with earlier runs of this work, and do not keep this run");
}

std::string objection_to_confidence(const std::string& text) {
  const std::optional<double> value = percent_in(text);
  return value && *value >= 50.0 && *value <= 99.9 ? std::string()
                                                   : "'" + text + "' is not a percentage from 50% to 99.9%";
}

void add_confidence_option(const Command& command, std::string& confidence) {
  command
      .option("--confidence", confidence, fmt::format("Confidence of the intervals. Default: {}", default_confidence))
      .placeholder("PERCENT")
      .check(objection_to_confidence);
}

void add_seed_option(const Command& command, std::uint64_t& seed) {
  command.option("--seed", seed, "Seed of all that is random; the same seed gives the same again")
      .placeholder("N")
      .with_default();
}

}  // namespace halcyon::cli
