#include "cli/ledger/run_of_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "analyzer/estimate/estimators.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/programs.hpp"
#include "libprofile/format/profile_reader.hpp"

namespace halcyon::cli {
namespace {

// Nothing if it is no spool file. A pipe is not opened: that would wait for somebody who writes into it.
std::optional<Outcome<ledger::SpooledRun>> spooled_in(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  constexpr std::string_view beginning = ledger::beginning_of_spool_file;
  std::ifstream in(file, std::ios::binary);
  std::array<char, beginning.size()> begin{};
  if (!in.read(begin.data(), begin.size()) || std::string_view(begin.data(), begin.size()) != beginning) return {};
  std::string text(begin.data(), begin.size());
  for (char piece[65536]; in && text.size() <= ledger::most_spool_bytes;) {
    in.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > ledger::most_spool_bytes) return Failure{"it is larger than any spool file"};
  return ledger::run_in(text);
}

// What the launcher in a command starts; nothing if there is no launcher. The program need not be on this host.
std::string program_started_by(const std::string& command) {
  const Words words = split_at_blanks(command);
  const std::size_t launcher = place_of_launcher(words);
  if (launcher == words.size()) return {};
  const std::vector<LaunchedProgram> programs =
      programs_of({words.begin() + static_cast<std::ptrdiff_t>(launcher), words.end()});
  if (programs.empty()) return {};
  const Words& launched = programs.front().words;
  const Started started = started_by(launched);
  if (!started.files.empty()) return started.files.front();
  for (std::size_t i = 0; i < launched.size(); ++i) {
    if (!launched[i].starts_with('-') && option_value(launched, i) == OptionValue::no) return launched[i];
  }
  return started.missing;
}

}  // namespace

Outcome<ledger::SpooledRun> run_of_file(const std::string& file, ledger::Given given, std::size_t most_bytes) {
  if (std::optional<Outcome<ledger::SpooledRun>> spooled = spooled_in(file)) {
    return *spooled ? std::move(*spooled) : Failure{file + ": " + spooled->failure().message};
  }
  const Outcome<Profile> profile = read_profile(file, Columns::analyzed);
  if (!profile) return profile.failure();
  const Grouping grouping = group_segments(*profile);
  const Analysis analysis = analyze(*profile, grouping, methods.front().name);
  given.program = program_started_by(profile->command);
  for (;;) {
    const Outcome<ledger::RunRecord> record = ledger::record_of(*profile, grouping, analysis, given);
    if (!record) return Failure{file + ": " + record.failure().message};
    const std::string text = ledger::spool_text(*record);
    if (text.size() <= most_bytes || record->slices.size() <= 1) return ledger::run_in(text);
    given.slice_seconds = 2 * record->run.slice_seconds;
  }
}

Outcome<std::string> key_of_profile(const std::string& file) {
  const Outcome<Profile> profile = read_profile(file, Columns::analyzed);
  if (!profile) return profile.failure();
  return ledger::key_of(*profile);
}

Outcome<std::string> put_into_spool(const std::string& profile, const std::string& spool) {
  const Outcome<ledger::SpooledRun> run = run_of_file(profile, {}, ledger::usual_spool_bytes);
  return run ? ledger::spool(run->record, spool) : run.failure();
}

}  // namespace halcyon::cli
