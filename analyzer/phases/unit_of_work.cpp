#include "analyzer/phases/unit_of_work.hpp"

#include <algorithm>

#include "analyzer/groups/grouping.hpp"

namespace halcyon {
namespace {

constexpr std::size_t longest = 4096;  // Numerics: segments; and of a run, as many are looked at for each length

}  // namespace

std::optional<UnitOfWork> unit_of_work(const Profile& profile) {
  const std::size_t all = profile.duration.size();
  const std::size_t from = all / 10;
  const std::size_t size = all - from;
  for (std::size_t length = 1; length <= longest && smallest_judged_group * length <= size; ++length) {
    const std::size_t followed = size - length;
    const std::size_t looked_at = std::min(longest, followed);
    std::size_t alike = 0;
    for (std::size_t i = 0; i < looked_at; ++i) {
      const std::size_t segment = from + i * followed / looked_at;
      alike += site_of(profile, segment) == site_of(profile, segment + length) ? 1 : 0;
    }
    if (static_cast<double>(alike) < nearly_whole * static_cast<double>(looked_at)) continue;
    return UnitOfWork{.segments = length, .times = all / length};
  }
  return std::nullopt;
}

}  // namespace halcyon
