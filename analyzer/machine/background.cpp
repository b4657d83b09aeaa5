#include "analyzer/machine/background.hpp"

#include <algorithm>

namespace halcyon {
namespace {

struct Loss {
  double percent = 0.0;
  double quantum_seconds = 0.0;
};

std::optional<Loss> loss_of(const FixedWorkTimes& times) {
  Loss sum;
  double ranks = 0.0;
  for (std::size_t rank = 0; rank < times.mean.size(); ++rank) {
    if (times.mean[rank] <= 0.0) continue;  // its variable did not reach this rank
    sum.percent += 100.0 * std::max(0.0, 1.0 - times.quantum[rank] / times.mean[rank]);
    sum.quantum_seconds += times.quantum[rank];
    ranks += 1.0;
  }
  if (ranks == 0.0) return std::nullopt;
  return Loss{sum.percent / ranks, sum.quantum_seconds / ranks};
}

}  // namespace

std::optional<Background> background_of(const Profile& profile) {
  const std::optional<Loss> before = loss_of(profile.background_before);
  const std::optional<Loss> after = loss_of(profile.background_after);
  if (!before || !after) return std::nullopt;
  return Background{before->percent, after->percent, 0.5 * (before->quantum_seconds + after->quantum_seconds)};
}

}  // namespace halcyon
