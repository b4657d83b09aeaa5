#include "cli/witness/samples.hpp"

#include <algorithm>

namespace halcyon::cli {

void SampledWaits::add(const std::vector<Sample>& samples) {
  std::map<int, std::map<pid_t, double>> used;  // by CPU
  const auto grown = [this](const Sample& now, double Sample::*what) {
    const auto before = before_.find(now.process);
    return before == before_.end() ? 0.0 : std::max(0.0, now.*what - before->second.*what);
  };
  for (const Sample& sample : samples) used[sample.cpu][sample.process] += grown(sample, &Sample::cpu_seconds);
  for (const Sample& sample : samples) {
    const double waited = grown(sample, &Sample::waited_seconds);
    if (!(waited > 0.0)) continue;
    double all = 0.0;
    for (const auto& [process, seconds] : used[sample.cpu]) all += process == sample.process ? 0.0 : seconds;
    if (!(all > 0.0)) seconds_[0] += waited;
    for (const auto& [process, seconds] : used[sample.cpu])
      if (process != sample.process && seconds > 0.0) seconds_[process] += waited * seconds / all;
  }
  before_.clear();
  for (const Sample& sample : samples) before_[sample.process] = sample;
}

}  // namespace halcyon::cli
