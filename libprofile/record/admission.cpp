#include "libprofile/record/admission.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "libprofile/record/run_names.hpp"
#include "libprofile/system/helper_process.hpp"
#include "libprofile/system/own_executable.hpp"

namespace halcyon {

// Nothing interrupts a call of the kernel that waits for a file system, and a process that has a thread in one cannot
// end. So another process asks.
Admission ask_for_admission_in_time(const Settings& settings) {
  constexpr std::chrono::seconds longest_wait(3);
  const std::string program = own_program();
  const std::string file = own_executable();
  HelperProcess asking;
  std::string error;
  std::optional<std::string> answer = "";
  if (asking.start("halcyon-ask", {settings.ledger, program, file}, error)) answer = asking.answer(longest_wait);
  if (!answer)
    return {.why_not = settings.ledger + " did not answer within " + std::to_string(longest_wait.count()) + " s"};
  if (*answer == "yes") return {.is_admitted = true};
  constexpr std::string_view no = "no: ";
  if (answer->starts_with(no)) return {.why_not = answer->substr(no.size())};
  // It cannot start everywhere, as in a container that has only this library.
  return ask_for_admission(settings.ledger, program, file);
}

}  // namespace halcyon
