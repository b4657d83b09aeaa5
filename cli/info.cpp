// halcyon info: what a profile holds, without judging it.
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "report/json.hpp"

namespace halcyon::cli {

void add_info(CLI::App& app, Action& chosen) {
  struct Options {
    std::string file;
    bool json = false;
  };
  auto* command = app.add_subcommand("info", "Show what a profile holds: the run's circumstances and exact totals");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "Profile")->required();
  command->add_flag("--json", options->json, "As JSON");
  command->footer(
      "Exit status: 0 shown, 2 bad usage or file.\n"
      "Example: halcyon info --json run.h5 | jq .totals.bytes_sent");
  command->callback([options, &chosen] {
    chosen = [options] {
      const Outcome<Profile> profile = read_profile(options->file);
      if (!profile) return fail(profile.failure().message);
      std::cout << (options->json ? to_text(info_json(options->file, *profile)) : info_text(options->file, *profile));
      return std::cout.flush() ? int{passed} : fail("cannot write to standard output");
    };
  });
}

}  // namespace halcyon::cli
