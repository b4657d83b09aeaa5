#include "analyzer/evidence/account.hpp"

#include <algorithm>

#include "analyzer/estimate/judged_durations.hpp"
#include "analyzer/evidence/cpu_waits.hpp"

namespace halcyon {
namespace {

// The computation of the rank that computed most, or else of the one that came last, on a CPU: s.
double needed(const Profile& profile, std::size_t segment) {
  if (profile.counter == "cpu") {
    const FeatureColumn& work =
        profile.largest_work.bins.empty() ? profile.features[index_of(Feature::compute)] : profile.largest_work;
    return work.bins.empty() ? 0.0 : seconds_of_cpu_time * work.bins[work.bin_of(segment)];
  }
  if (profile.last_rank_off_cpu.empty() || has_busy_threads(profile)) return 0.0;
  double seconds = static_cast<double>(profile.duration[segment] - profile.last_rank_off_cpu[segment]);
  for (const std::vector<float>& in_calls : profile.last_rank_times) {
    if (!in_calls.empty()) seconds -= static_cast<double>(in_calls[segment]);
  }
  return seconds;
}

}  // namespace

Account account_of(const Profile& profile, const Families& families) {
  Account account{.lost = std::vector<float>(profile.duration.size(), 0.0F)};
  const std::vector<bool> is_judged = families.contained(profile.duration.size());
  const bool knows_losses = !profile.lost_to_cpu_wait.empty() && cpu_waits_are_of_others(profile);
  for (std::size_t segment = 0; segment < account.lost.size(); ++segment) {
    if (is_judged[segment]) continue;
    const auto duration = static_cast<double>(profile.duration[segment]);
    const double of_work = std::clamp(needed(profile, segment), 0.0, duration);
    const double most = duration - of_work;
    const double lost = knows_losses ? std::min(static_cast<double>(profile.lost_to_cpu_wait[segment]), most) : 0.0;
    account.lost[segment] = static_cast<float>(lost);
    account.lost_seconds += lost;
    account.most_lost_seconds += most;
    account.needed_seconds += of_work;
  }
  return account;
}

}  // namespace halcyon
