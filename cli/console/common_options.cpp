#include "cli/console/common_options.hpp"

#include "analyzer/estimate/estimators.hpp"
#include "report/quote.hpp"

namespace halcyon::cli {

void add_json_option(const Command& command, std::string& where) {
  command.option("--json", where, "Write JSON to FILE, or with '-' to standard output instead of the text")
      .output_file_or_stdout();
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

void add_html_option(const Command& command, std::string& file) {
  command.option("--html", file, "Write the report with figures to FILE, as one page that needs no network")
      .output_file();
}

void add_no_baseline_flag(const Command& command, bool& no_baseline) {
  command.flag("--no-baseline", no_baseline, "Do not compare with earlier runs of this work, and do not keep this run");
}

}  // namespace halcyon::cli
