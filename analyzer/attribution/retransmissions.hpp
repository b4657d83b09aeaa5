// Which host retransmitted more TCP segments than all others.
#pragma once

#include <optional>
#include <string>

#include "libprofile/format/profile.hpp"

namespace halcyon {

struct RetransmittingHost {
  std::string host;
  double own = 0.0;  // retransmissions by this host
  double all = 0.0;  // by all hosts
};

/// The host that made clearly more TCP retransmissions than any other. If its own link loses or delays messages, it
/// retransmits to all hosts, and each other host only to it. It may also have sent most over the link of another host.
/// Nothing if no host stands out, with fewer than three hosts, or without TCP.
std::optional<RetransmittingHost> most_retransmitting(const Profile& profile);

}  // namespace halcyon
