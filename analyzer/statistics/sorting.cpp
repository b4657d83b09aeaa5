#include "analyzer/statistics/sorting.hpp"

#include <algorithm>
#include <boost/sort/spreadsort/float_sort.hpp>
#include <cstddef>

namespace halcyon {

void sort_ascending(std::span<float> values) { boost::sort::spreadsort::float_sort(values.begin(), values.end()); }
void sort_ascending(std::span<double> values) { boost::sort::spreadsort::float_sort(values.begin(), values.end()); }

double of_rank(std::span<double> values, std::size_t rank) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double median_in_place(std::span<double> values) { return of_rank(values, values.size() / 2); }

}  // namespace halcyon
