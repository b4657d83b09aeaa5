// halcyon recover: a profile of what a run had spilled before it died.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>

#include "cli/commands.hpp"
#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/recover/recover.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/plural.hpp"
#include "report/layout.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

struct RecoverOptions {
  std::string output;
  std::vector<std::string> paths;
};

// app.h5.parts, or a file in it: app.h5
Outcome<std::string> output_beside(const std::string& part) {
  std::error_code error;
  const fs::path directory =
      fs::is_directory(part, error) ? fs::path(part).lexically_normal() : fs::path(part).parent_path();
  const std::string text = directory.filename().empty() ? directory.parent_path().string() : directory.string();
  const std::string suffix = parts_of("");
  if (text.size() <= suffix.size() || !text.ends_with(suffix)) {
    return Failure{"cannot derive the name of the profile from " + part + ": give it with -o"};
  }
  return text.substr(0, text.size() - suffix.size());
}

std::vector<fs::path> parts_in(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".part") files.push_back(entry.path());
  }
  return files;
}

// RUN.HOST-FIRST.part
std::string run_of(const fs::path& part) {
  const std::string name = part.filename().string();
  return name.substr(0, name.find('.'));
}

// On a terminal a line that changes, elsewhere one line: only where it takes longer than two seconds.
RecoverProgress progress_of(std::size_t ranks) {
  return [ranks, last = 0.0, began = monotonic_seconds(), is_told = false](double share) mutable {
    constexpr double patience = 2.0;
    constexpr double interval = 0.5;
    const double elapsed = monotonic_seconds() - began;
    if (elapsed < patience || elapsed - last < interval) return;
    last = elapsed;
    const std::string what = fmt::format("recovering the parts of {}: {:.0f} %", plural(ranks, "rank"), 100.0 * share);
    show_step(what);
    if (!is_told && isatty(STDERR_FILENO) == 0) tell(what + " after 2 s");
    is_told = true;
  };
}

// If profiles were named in place of parts.
std::optional<std::string> objection_to_profiles(const std::vector<std::string>& paths) {
  if (!std::all_of(paths.begin(), paths.end(), is_hdf5)) return std::nullopt;
  const Outcome<Profile> profile = read_profile(paths.front(), Columns::analyzed);
  return profile ? paths.front() + " is a finished profile: nothing to recover" : profile.failure().message;
}

// If `halcyon run` has recovered them.
std::optional<std::string> objection_to_recovered(const std::vector<std::string>& paths) {
  std::error_code error;
  if (fs::exists(paths.front(), error)) return std::nullopt;
  const std::string parts = fs::path(paths.front() + "/").lexically_normal().parent_path().string();
  const std::string profile = parts.substr(0, parts.size() - std::min(parts.size(), parts_of("").size()));
  if (parts != parts_of(profile) || !is_hdf5(profile)) return std::nullopt;
  return paths.front() + " is not there any more: " + profile + " is the profile of these parts";
}

int recover_parts(const RecoverOptions& options) {
  const Outcome<std::vector<RunParts>> runs = find_parts(options.paths);
  if (!runs) {
    std::optional<std::string> objection = objection_to_profiles(options.paths);
    if (!objection) objection = objection_to_recovered(options.paths);
    return fail(objection.value_or(runs.failure().message));
  }
  int status = passed;
  for (const RunParts& run : *runs) {
    const Outcome<std::string> output =
        options.output.empty() ? output_beside(run.files.front()) : Outcome<std::string>(options.output);
    if (!output) return fail(output.failure().message);
    if (const std::string objection = objection_to_new_profile(*output); !objection.empty()) return fail(objection);
    const Outcome<Recovered> recovered = recover(run, *output, progress_of(run.parts.size()));
    show_step("");
    if (!recovered) {
      status = fail(recovered.failure().message);
      continue;
    }
    std::cout << briefly(recovered_line(*recovered)) << '\n';
  }
  return std::cout.flush() ? status : fail("cannot write to standard output");
}

}  // namespace

std::string recovered_line(const Recovered& recovered) {
  return fmt::format("{}: {} of {} of {}, until the run ended ({}){}", recovered.profile,
                     plural(recovered.segments, "segment"), recovered.ranks_found, plural(recovered.ranks, "rank"),
                     recovered.exit_state, recovered.incomplete.empty() ? "" : "; " + recovered.incomplete);
}

std::optional<Recovered> recover_run(const std::string& directory, const std::string& output, bool has_other_hosts) {
  // Where a rank's disk is full, its part is in a second place, and an empty one may be in the first. In another place
  // than that of the run, there may be parts of others.
  const std::string first = fs::path(output).parent_path() / fs::path(directory).filename();
  std::set<std::string> runs_there;
  for (const fs::path& file : parts_in(directory)) runs_there.insert(run_of(file));
  std::vector<std::string> places;
  std::vector<fs::path> files;
  for (const std::string& place : {first, second_place(first), directory}) {
    if (std::find(places.begin(), places.end(), place) != places.end()) continue;
    places.push_back(place);
    std::ranges::copy_if(parts_in(place), std::back_inserter(files),
                         [&](const fs::path& file) { return runs_there.contains(run_of(file)); });
  }
  const Outcome<std::vector<RunParts>> found = find_parts({files.begin(), files.end()});
  std::vector<RunParts> runs = found ? *found : std::vector<RunParts>();
  std::erase_if(runs, [&directory](const RunParts& run) {
    return std::none_of(run.files.begin(), run.files.end(),
                        [&directory](const std::string& file) { return fs::path(file).parent_path() == directory; });
  });
  if (runs.size() != 1) return std::nullopt;
  const RunParts& parts_of_run = runs.front();
  std::optional<Recovered> recovered;
  for (std::size_t i = 0; i < places.size() && !recovered; ++i) {
    const Outcome<std::string> beside = output_beside(places[i]);
    if (!beside) continue;
    const Outcome<Recovered> made = recover(parts_of_run, *beside, progress_of(parts_of_run.parts.size()));
    show_step("");
    if (made) recovered = *made;
  }
  if (!recovered) return std::nullopt;
  const bool has_more_elsewhere = has_other_hosts && recovered->ranks_found < recovered->ranks;
  if (has_more_elsewhere || recovered->has_damage) return recovered;
  // All of the run's, a file that was cut short at its beginning, too.
  const std::string run = run_of(parts_of_run.files.front());
  std::error_code error;
  for (const fs::path& file : files) {
    if (run_of(file) == run) fs::remove(file, error);
  }
  for (const std::string& place : places) rmdir(place.c_str());
  return recovered;
}

void add_recover(const Command& program) {
  const Command command = program.subcommand("recover", "Rebuild a crashed run's profile");
  auto options = std::make_shared<RecoverOptions>();
  command.option("-o,--output", options->output, "The profile; never overwritten. Default: beside the parts")
      .placeholder("FILE");
  command.option("PART", options->paths, "Parts, or the directory that contains them: FILE.h5.parts")
      .placeholder("FILE")
      .required();
  command.notes(
      "A run that is killed, aborts or exits before MPI_Finalize leaves its records in FILE.h5.parts: a part for each\n"
      "rank, 64 in a file. The profile has the segments that all parts have, and says what is missing or\n"
      "damaged. The parts are kept. `halcyon run` does this by itself, and removes them.\n"
      "Example: halcyon recover app.64p.4711.20260102T030405.h5.parts");
  command.does([options] { return recover_parts(*options); });
}

}  // namespace halcyon::cli
