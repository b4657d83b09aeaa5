// halcyon compare: two runs side by side.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "report/comparison.hpp"
#include "report/source_places.hpp"

namespace halcyon::cli {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::string json;
};

int compare_files(const CompareOptions& options) {
  show_step("reading " + options.a + " and " + options.b);
  Outcome<Profile> a = read_profile(options.a, Columns::analyzed);
  const Outcome<Profile> b = read_profile(options.b, Columns::analyzed);
  show_step("");
  if (!a) return fail(a.failure().message);
  if (!b) return fail(b.failure().message);
  show_step("comparing");
  find_source_places(*a);
  const Comparison comparison = compare(*a, *b);
  show_step("");
  const ComparedFile file_a{options.a, *a};
  const ComparedFile file_b{options.b, *b};
  const Status printed = print_result(comparison_text(file_a, file_b, comparison),
                                      comparison_json(file_a, file_b, comparison), options.json);
  return printed ? int{passed} : fail(printed.failure().message);
}

}  // namespace

void add_compare(const Command& program) {
  const Command command =
      program.subcommand("compare", "Say which of two runs of the same work is more disturbed, and where");
  auto options = std::make_shared<CompareOptions>();
  command.option("A", options->a, "Profile").placeholder("FILE").required();
  command.option("B", options->b, "Profile of another run").placeholder("FILE").required();
  add_json_option(command, options->json);
  command.notes(
      "'seen in the run' is the lost time that the run's own report shows. 'seen by comparing' is lost time that only\n"
      "the other run reveals: delays that hit nearly every segment. 'from outside' is their sum. 'displacement' is "
      "how\n"
      "much longer A's typical segments took than B's.\n"
      "Example: halcyon compare monday.h5 tuesday.h5");
  command.does([options] { return compare_files(*options); });
}

}  // namespace halcyon::cli
