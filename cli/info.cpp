// halcyon info: shows the contents of a profile, without a verdict.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "report/json.hpp"

namespace halcyon::cli {

void add_info(const Command& program) {
  struct Options {
    std::string file;
    std::string json;
  };
  const Command command =
      program.subcommand("info", "Show the contents of a profile: facts of the run and exact totals");
  auto options = std::make_shared<Options>();
  command.option("FILE", options->file, "Profile").required();
  add_json_option(command, options->json);
  command.notes("Example: halcyon info --json - run.h5 | jq .totals.bytes_sent");
  command.does([options] {
    const Outcome<Profile> profile = read_profile(options->file);
    if (!profile) return fail(profile.failure().message);
    const Status printed =
        print_result(info_text(options->file, *profile), info_json(options->file, *profile), options->json);
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace halcyon::cli
