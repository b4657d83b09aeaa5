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

nlohmann::ordered_json json_of(const Diagnosis& diagnosis) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : diagnosis.findings) {
    list.push_back({{"subject", finding.subject},
                    {"state", finding_states[static_cast<std::size_t>(finding.state)]},
                    {"finding", finding.text},
                    {"remedy", text_or_null(finding.remedy)}});
  }
  return {{"halcyon", HALCYON_VERSION},
          {"records", diagnosis.records()},
          {"mpi", text_or_null(diagnosis.mpi)},
          {"findings", list}};
}

std::string text_of(const Diagnosis& diagnosis, bool has_launch) {
  std::string text;
  for (const Finding& finding : diagnosis.findings) {
    const char* mark = finding.state == Finding::State::problem ? "problem: " : "";
    text += fmt::format("  {:<10}{}{}\n", finding.subject, mark, briefly(finding.text));
    if (!finding.remedy.empty()) text += fmt::format("  {:<10}{}\n", "", briefly(finding.remedy));
  }
  const bool is_unseen = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& finding) {
    return finding.subject == "program" && finding.state == Finding::State::note;
  });
  const char* answer = !diagnosis.records() ? "Not ready to record: see the problem."
                       : is_unseen
                           ? "halcyon run would start this. Whether the program is recorded is not seen from here."
                       : has_launch ? "halcyon run would record this: calls of MPI and of files, their times, and a "
                                      "segment from each global synchronisation to the next."
                                    : "Programs can be recorded here. For one of them: halcyon doctor -- mpirun -np 4 "
                                      "./app";
  return text + answer + "\n";
}

}  // namespace

void add_doctor(const Command& program) {
  const Command command = program.subcommand("doctor", "Say whether a program would be recorded here, and how");
  auto json = std::make_shared<std::string>();
  add_json_option(command, *json);
  command.notes(
      "Put the launch command after '--'; it is not started. For Python, mpi4py is imported. With 'halcyon exec' in "
      "it,\n"
      "what starts that in the ranks, such as a container, is started once to look there.\n"
      "Exit status: 3 it would not be recorded.\n"
      "Examples:\n"
      "  halcyon doctor\n"
      "  halcyon doctor -- mpirun -np 4 ./app input\n"
      "  halcyon doctor -- mpirun -np 4 apptainer exec app.sif halcyon exec -- ./app input");
  command.starts(
      [json](const Words& launch) {
        const Diagnosis diagnosis = diagnosis_of(launch);
        const Status printed = print_result(text_of(diagnosis, !launch.empty()), json_of(diagnosis), *json);
        if (!printed) return fail(printed.failure().message);
        return diagnosis.records() ? int{passed} : int{negative_answer};
      },
      FollowingProgram::optional);
}

}  // namespace halcyon::cli
