// What a segment should take, from what it did.
#pragma once

#include <cstddef>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A duration is a time for the place that ends the segment, and what its work, its calls and its volumes cost:
///
///     E = a_site + sum over features k of c_k f_k,   a, c >= 0
///
/// The costs c are those of the whole run. So segments whose counts or volumes differ can be compared, and those that
/// did something only once, too, as long as the run tells what its parts cost.
class ExpectedTime {
 public:
  /// `work`: the compute feature, as used for grouping. Both must outlive this. Some ten thousand segments are looked
  /// at, of places that end enough of them.
  ExpectedTime(const Profile& profile, const FeatureColumn& work);

  /// s. Only its relation to that of other segments which end at the same place means anything. 0 if nothing is known
  /// of the place, or the segment did nothing.
  double of(std::size_t segment) const;

 private:
  const Profile& profile_;
  std::vector<const FeatureColumn*> features_;  // that have more than one value
  std::vector<double> costs_;                   // (features) s for one
  std::vector<double> of_site_;                 // (sites) s
};

}  // namespace halcyon
