// Bytes as a spool file of the ledger: as they are, and as its contents, with a first line that says so.
#include <fmt/format.h>

#include <string>

#include "ledger/record/spool_file.hpp"
#include "libprofile/system/fnv1a.hpp"
#include "tests/fuzz/steering.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace halcyon;
  const std::string_view contents(reinterpret_cast<const char*>(data), size);
  const Outcome<ledger::SpooledRun> refused = ledger::run_in(contents);
  if (!refused) fuzz::promise_one_line(refused.failure().message);

  const std::string file = fmt::format("{}{} {} {:016x}\n{}", ledger::beginning_of_spool_file,
                                       ledger::newest_spool_version, size, fnv1a(contents), contents);
  const Outcome<ledger::SpooledRun> run = ledger::run_in(file);
  if (!run) {
    fuzz::promise_one_line(run.failure().message);
    return 0;
  }
  const std::string again = ledger::spool_text(run->record);
  const Outcome<ledger::SpooledRun> second = ledger::run_in(again);
  fuzz::promise(static_cast<bool>(second), "what was taken is taken again");
  fuzz::promise(ledger::spool_text(second->record) == again, "and is the same then");
  return 0;
}
