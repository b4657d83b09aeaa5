// What recurs in a run: one segment, or a sequence of unlike ones, such as an iteration or a cycle.
#pragma once

#include <cstddef>
#include <optional>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A sequence of places that end segments.
struct UnitOfWork {
  std::size_t segments = 1;  // in one
  std::size_t times = 0;     // how often it comes
};

/// The shortest sequence that recurs: nine of ten segments are followed, so many segments later, by one that ends at
/// the same place. Nothing if there is none, or if it comes fewer than four times. What comes before the first of it is
/// not looked at: the first tenth of the segments.
std::optional<UnitOfWork> unit_of_work(const Profile& profile);

}  // namespace halcyon
