// Sends a profile from memory, value by value, into a sink.
#pragma once

#include <string>
#include <vector>

#include "libprofile/format/profile.hpp"
#include "libprofile/format/sink.hpp"

namespace halcyon {

/// Sends everything except the columns over segments: attributes, columns over ranks, and tables.
void send_run(const Profile& profile, Sink& sink);

/// A column over segments, as a Profile holds it.
struct ColumnBytes {
  std::string name;
  ElementType type = ElementType::u8;
  const std::byte* data = nullptr;
};

/// The columns over segments that are not empty, in the same order for all shares of a run.
std::vector<ColumnBytes> segment_columns(const Profile& profile);

/// Sends what came after the ranks had ended: what was known of earlier runs and of the hosts, and what a witness saw.
void send_what_came_later(const Profile& profile, Sink& sink);

void send_profile(const Profile& profile, Sink& sink);

}  // namespace halcyon
