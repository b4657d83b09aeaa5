// How durations depend on the counted work: whose work it is, and the baseline within a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "analyzer/groups/partition.hpp"
#include "analyzer/statistics/durations.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Numerics: segments. More of them make no lower quartile better known.
inline constexpr std::size_t enough_for_a_quartile = 30000;

/// Segments, for a lower quartile worth its name.
inline constexpr std::ptrdiff_t fewest_for_a_level = 2 * smallest_judged_group;
/// Of a test whether durations depend on the work, or on the place in a sequence.
inline constexpr double significance_of_work = 1e-3;

/// The factor by which the undisturbed duration of each segment of a group differs from the group's mean: (segments),
/// mean 1. Nothing if it is not certain that durations depend on the work.
///
/// A cluster is a chain of small gaps, so the work in one group may differ by a large factor. The lower quartiles of
/// the durations in bins of the work follow it, as delays rarely affect them. The model is a parabola through their
/// logarithms over the logarithm of the work. It is used if it is significant by the F test, and is not so steep that
/// other things than the work must make the difference.
std::optional<Durations> work_factors(const Durations& durations, const Durations& work);
/// The same for members of a group of the profile. `work`: as used for grouping.
std::optional<Durations> work_factors(const Profile& profile, const FeatureColumn& work,
                                      std::span<const std::uint32_t> members);

/// The compute feature that explains the durations of segments: the median over ranks, or the largest of any rank where
/// durations at equal work spread much less with it. The median does not mind what disturbs the CPU time of one rank;
/// but where ranks have unequal work of their own, all wait for the one that has most. `kinds`: the segments of each
/// signature.
const FeatureColumn& explaining_work(const Profile& profile, std::span<const std::span<const std::uint32_t>> kinds);

/// A column of computed values, one for each segment. Values that differ by less than a thousandth may share a bin.
/// `reduced`: as FeatureColumn has it.
FeatureColumn column_of(std::size_t segments, bool reduced, const std::function<double(std::size_t segment)>& value_of);

/// CPU time, with what devices usually took for as many work items, in ns: the lower quartile. Beside that, a
/// difference of some microseconds is none. Nothing if the run used no devices, or its work is no time.
std::optional<FeatureColumn> work_with_devices(const Profile& profile, const FeatureColumn& work);

}  // namespace halcyon
