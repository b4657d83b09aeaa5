// halcyon compose: one undisturbed profile out of several disturbed runs.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "report/composition.hpp"

namespace halcyon::cli {
namespace {

struct ComposeOptions {
  std::string output;
  std::vector<std::string> files;
};

int compose_files(const ComposeOptions& options) {
  if (options.files.size() < 2) return fail("compose needs two profiles or more (see halcyon compose --help)");
  if (const std::string objection = objection_to_new_profile(options.output); !objection.empty())
    return fail(objection);
  std::vector<Profile> runs;
  for (const std::string& file : options.files) {
    show_step("reading " + file);
    Outcome<Profile> profile = read_profile(file);
    show_step("");
    if (!profile) return fail(profile.failure().message);
    runs.push_back(std::move(*profile));
  }
  show_step(fmt::format("composing {} runs", runs.size()));
  const Outcome<Composition> composition = compose(runs, options.files);
  show_step("");
  if (!composition) return fail(composition.failure().message);
  const Outcome<std::string> written = write_profile(composition->profile, options.output);
  if (!written) return fail(written.failure().message);
  const Status printed = print_text(composition_text(*written, runs, *composition));
  return printed ? int{passed} : fail(printed.failure().message);
}

}  // namespace

void add_compose(const Command& program) {
  const Command command =
      program.subcommand("compose", "Make one undisturbed profile out of several runs of the same work");
  auto options = std::make_shared<ComposeOptions>();
  command.option("-o,--output", options->output, "The composed profile; never overwritten")
      .placeholder("FILE")
      .required();
  command.option("FILE", options->files, "Profiles, two or more").required();
  command.notes(
      "The least disturbed run gives the sequence of segments and all counts. Each of its disturbed segments gets the\n"
      "time of an undisturbed segment of the same work, from any of the runs.\n"
      "Example: halcyon compose -o quiet.h5 run1.h5 run2.h5 run3.h5 && halcyon report quiet.h5");
  command.does([options] { return compose_files(*options); });
}

}  // namespace halcyon::cli
