#include "analyzer/phases/stretches.hpp"

#include <algorithm>

namespace halcyon {

std::vector<Stretch> stretches_between(std::span<const std::size_t> changes, std::size_t size) {
  std::vector<Stretch> stretches;
  std::size_t begin = 0;
  for (const std::size_t change : changes) {
    stretches.push_back({begin, change});
    begin = change;
  }
  stretches.push_back({begin, size});
  return stretches;
}

std::optional<Stretch> dominant_stretch(std::span<const std::size_t> changes, std::size_t size) {
  const std::vector<Stretch> stretches = stretches_between(changes, size);
  const auto longest = std::max_element(stretches.begin(), stretches.end(),
                                        [](const Stretch& a, const Stretch& b) { return a.size() < b.size(); });
  return 2 * longest->size() > size ? std::optional(*longest) : std::nullopt;
}

}  // namespace halcyon
