// The baseline within a group: how the undisturbed duration depends on the counted work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analyzer/statistics/durations.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The factor by which the undisturbed duration of each segment of a group differs from the group's mean: (segments),
/// mean 1. Nothing if it is not certain that durations depend on the work.
///
/// A cluster is a chain of small gaps, so the work in one group may differ by a large factor. The lower quartiles of
/// the durations in bins of the work follow it, as delays rarely affect them. The model is a parabola through their
/// logarithms over the logarithm of the work. It is used if it explains half of their variance, and is significant by
/// the F test.
std::optional<Durations> work_factors(const Durations& durations, const Durations& work);
/// The same for members of a group of the profile. `work`: as used for grouping.
std::optional<Durations> work_factors(const Profile& profile, const FeatureColumn& work,
                                      std::span<const std::uint32_t> members);

}  // namespace halcyon
