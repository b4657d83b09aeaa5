#include "report/composition.hpp"

#include <fmt/format.h>

#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {

std::string composition_text(const std::string& file, const std::vector<Profile>& runs,
                             const Composition& composition) {
  const Profile& profile = composition.profile;
  std::string text = fmt::format("{}: composed of {} runs, undisturbed run time {}\n", briefly(file), runs.size(),
                                 seconds(profile.run_time_seconds));
  const std::size_t digits = std::to_string(profile.segments).size();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    text += fmt::format("  {:<{}}{:>{}} of {}, ran {}{}\n", run == 0 ? "segments from" : "", label_width,
                        composition.given[run], digits, briefly(profile.composed_of[run]),
                        seconds(runs[run].run_time_seconds),
                        run == composition.skeleton ? "; its sequence and counts" : "");
  }
  text += fmt::format("  {:<{}}{}\n", "replaced", label_width, plural(composition.replaced, "disturbed segment"));
  text += fmt::format(
      "  {:<{}}{}, {:.1f} % of the time: too few are alike\n", "left as measured", label_width,
      plural(composition.unjudged, "segment"),
      profile.run_time_seconds > 0.0 ? 100.0 * composition.unjudged_seconds / profile.run_time_seconds : 0.0);
  return text;
}

}  // namespace halcyon
