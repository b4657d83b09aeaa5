// Saves the frames of a run as they are, for a reader that takes them from a file as from the process that reads one
// (contents.hpp). No HDF5.
#pragma once

#include <functional>
#include <string>

#include "libprofile/system/descriptor.hpp"

namespace halcyon {

struct SavedFrames {
  std::string path;   // the profile's, with .frames in the place of .h5, or the first free one of NAME-2, NAME-3 ...
  Descriptor file{};  // locked while it is open, so that nobody else judges it
  int error = 0;      // errno; else the others are empty
};

/// `frames`: a file that holds all of them, the last one too. `goes_on` is called again and again meanwhile.
SavedFrames save_frames(const Descriptor& frames, const std::string& profile, const std::function<void()>& goes_on);

}  // namespace halcyon
