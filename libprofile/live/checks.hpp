// Which values a live record may contain. The checks are the same for the record itself and for a copy from another
// host.
#pragma once

#include <optional>
#include <string>

#include "libprofile/system/outcome.hpp"
#include "libprofile/live/layout.hpp"
#include "libprofile/live/snapshot.hpp"

namespace halcyon::live {

/// What the system says about a rank's process.
struct Presence {
  bool is_alive = false;
  bool is_stopped = false;  // by a signal
};
/// As of now, on this host.
Presence presence_of(const Owner& owner);

/// The job according to its header, without ranks and without a time of reading. `path` names the file in failures.
Outcome<JobNow> job_of(const Header& header, const std::string& path);

/// A rank of a job of `ranks` ranks. None if its values contradict each other.
std::optional<RankNow> rank_of(const Slot& slot, std::uint32_t ranks, const Presence& presence);

/// A text of the record without what follows its NUL. It may have any other bytes.
std::string text_in(const char* begin, std::size_t most);

}  // namespace halcyon::live
