// halcyon doctor: whether a launch command would be recorded here, how, and what to do if not.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/launch/diagnosis.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace halcyon::cli {
namespace {

const char* name_of(Finding::State state) {
  switch (state) {
    case Finding::State::good: return "good";
    case Finding::State::note: return "note";
    case Finding::State::problem: return "problem";
  }
  return "";
}

nlohmann::ordered_json json_of(const std::vector<Finding>& findings, bool records) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back(
        {{"subject", finding.subject},
         {"state", name_of(finding.state)},
         {"finding", finding.text},
         {"remedy", finding.remedy.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(finding.remedy)}});
  }
  return {{"halcyon", HALCYON_VERSION}, {"records", records}, {"findings", list}};
}

std::string text_of(const std::vector<Finding>& findings, bool records, bool has_launch) {
  std::string text;
  for (const Finding& finding : findings) {
    const char* mark = finding.state == Finding::State::problem ? "problem: " : "";
    text += fmt::format("  {:<10}{}{}\n", finding.subject, mark, briefly(finding.text));
    if (!finding.remedy.empty()) text += fmt::format("  {:<10}{}\n", "", briefly(finding.remedy));
  }
  const char* answer = !records     ? "Not ready to record: see the problem."
                       : has_launch ? "halcyon run would record this: calls of MPI and of files, their times, and a "
                                      "segment from each global synchronisation to the next."
                                    : "Programs can be recorded here. For one of them: halcyon doctor -- mpirun -np 4 "
                                      "./app";
  return text + answer + "\n";
}

}  // namespace

void add_doctor(const Command& program) {
  const Command command = program.subcommand("doctor", "Say whether a program would be recorded here, and how");
  auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "Print JSON instead of text");
  command.notes(
      "Put the launch command after '--'; it is not started. For Python, mpi4py is imported.\n"
      "Exit status: 0 it would be recorded, 2 it would not.\n"
      "Examples:\n"
      "  halcyon doctor\n"
      "  halcyon doctor -- mpirun -np 4 ./app input");
  command.starts([json](const Words& launch) {
    const std::vector<Finding> findings = diagnosis_of(launch);
    const bool records = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
      return finding.state == Finding::State::problem && finding.subject != "live";
    });
    const Status printed =
        print_text(*json ? to_text(json_of(findings, records)) : text_of(findings, records, !launch.empty()));
    if (!printed) return fail(printed.failure().message);
    return records ? int{passed} : int{bad_usage_or_file};
  });
}

}  // namespace halcyon::cli
