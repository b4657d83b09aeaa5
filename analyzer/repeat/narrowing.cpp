#include "analyzer/repeat/narrowing.hpp"

#include <cmath>

#include "analyzer/statistics/student.hpp"

namespace halcyon {

double narrowing(std::size_t runs, std::size_t all_runs, double confidence) {
  const auto now = static_cast<double>(runs);
  const auto then = static_cast<double>(all_runs);
  return student_quantile_of_interval(confidence, then - 1.0) / student_quantile_of_interval(confidence, now - 1.0) *
         std::sqrt(now / then);
}

std::optional<std::size_t> least_runs_for(const std::function<bool(std::size_t)>& is_enough) {
  constexpr std::size_t least = 2;
  constexpr std::size_t most = 1'000'000;
  if (is_enough(least)) return least;
  std::size_t too_few = least;
  std::size_t enough = 2 * least;
  while (!is_enough(enough)) {
    if (enough > most) return std::nullopt;
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > 1) {
    const std::size_t between = too_few + (enough - too_few) / 2;
    (is_enough(between) ? enough : too_few) = between;
  }
  return enough;
}

}  // namespace halcyon
