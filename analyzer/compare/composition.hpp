// One undisturbed profile out of several disturbed runs of the same work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/system/outcome.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Composition {
  Profile profile;
  std::size_t skeleton = 0;          // the run that gave the sequence of segments and all counts
  std::vector<std::uint64_t> given;  // (runs) segments with times from this run
  std::uint64_t replaced = 0;        // segments of the skeleton that were disturbed
  std::uint64_t unjudged = 0;        // segments that stay as measured: too few alike in all runs to judge
  double unjudged_seconds = 0.0;     // their durations
};

/// Composes runs of the same work (the paper, section 5: "composite performance profiles"). `files[i]` is the name of
/// `runs[i]`. The least disturbed run is the skeleton. Each of its disturbed segments takes the times of an undisturbed
/// segment of the same group from any run. Segments above the threshold of the run with the lowest baseline of the
/// group are disturbed. Times are drawn evenly over all undisturbed durations, so that their law is kept. Fails, naming
/// the file, if a run is not complete, or did not do the work of the first. Needs at least one run.
Outcome<Composition> compose(const std::vector<Profile>& runs, const std::vector<std::string>& files);

}  // namespace halcyon
