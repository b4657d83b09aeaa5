#include "libprofile/record/admission.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/record/run_names.hpp"
#include "libprofile/system/helper_process.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/own_executable.hpp"
#include "libprofile/system/patience.hpp"

namespace halcyon {
namespace {

constexpr const char* keeper = "halcyon-keep";

}  // namespace

std::string name_of_new_keeper() {
  return "halcyon-" + name_of_run() + "-" + std::to_string(nanoseconds_of(CLOCK_REALTIME));
}

Admission ask_for_admission_in_time(const Settings& settings, const std::string& name, OwnDescriptor& awaits) {
  const std::string program = own_program();
  const std::string file = own_executable();
  HelperProcess asking;
  std::string error;
  std::optional<std::string> answer = "";
  if (asking.start(keeper, {name, settings.ledger, program, file}, error)) {
    awaits = OwnDescriptor(asking.release_input());
    answer = asking.answer(patience);
  }
  if (answer == "yes") return {.is_admitted = true};
  awaits = OwnDescriptor();
  if (!answer) {
    asking.kill();
    const std::string longest = std::to_string(patience.count());
    return {.why_not = settings.ledger + " did not answer within " + longest + " s"};
  }
  constexpr std::string_view no = "no: ";
  if (answer->starts_with(no)) return {.why_not = answer->substr(no.size())};
  // It cannot start everywhere, as in a container that has only this library.
  return ask_for_admission(settings.ledger, program, file);
}

OwnDescriptor start_keeper(const std::string& name) {
  HelperProcess keeping;
  std::string error;
  return OwnDescriptor(keeping.start(keeper, {name}, error) ? keeping.release_input() : -1);
}

}  // namespace halcyon
