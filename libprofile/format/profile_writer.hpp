// Writes a profile file: attributes first, then columns piece by piece, so that memory does not grow with the run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/system/outcome.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/format/stream.hpp"

namespace halcyon {

/// Writes into a hidden file beside the final path, which gets its name only when it is complete. An existing file is
/// never overwritten.
class ProfileWriter {
 public:
  static Outcome<ProfileWriter> create(const std::string& path);
  /// Starts from a copy of the profile at `path`, and replaces that when complete.
  static Outcome<ProfileWriter> amend(const std::string& path, std::uint64_t ranks);
  ~ProfileWriter();
  ProfileWriter(ProfileWriter&&) noexcept;
  ProfileWriter& operator=(ProfileWriter&&) noexcept;

  Status attribute(std::string_view name, std::string_view value);
  /// `segments` and `ranks` must be among the first: they size the columns.
  Status attribute(std::string_view name, std::int64_t value);
  Status attribute(std::string_view name, double value);
  /// Appends to a column of the schema. Each text ends with a NUL.
  Status append(std::string_view name, ElementType type, const void* data, std::size_t bytes);
  /// Names the dimensions, closes the file and gives it its name, or the first free one of NAME-2, NAME-3 ... Returns
  /// the name. Without this call no file remains.
  Outcome<std::string> finish();

 private:
  struct State;
  explicit ProfileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Writes a whole profile. Returns the name, as finish() does.
Outcome<std::string> write_profile(const Profile& profile, const std::string& path);

/// Adds to a profile's file what was known of earlier runs and of its hosts when it was judged, and what a witness saw,
/// so that every later reading says the same.
Status add_what_came_later(const Profile& profile, const std::string& path);

/// Reads frames from `file` until the end frame and writes the profile that they carry.
Outcome<std::string> write_profile_from_frames(int file, const std::string& path);

}  // namespace halcyon
