#include "analyzer/statistics/sorting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace {

template <class Value>
void expect_sorted_as_by_comparing(std::vector<Value> values) {
  std::vector<Value> expected = values;
  std::sort(expected.begin(), expected.end());
  halcyon::sort_ascending(std::span<Value>(values));
  EXPECT_TRUE(values == expected) << values.size();
}

template <class Value>
std::vector<Value> drawn(std::size_t size, Value least, Value most) {
  std::mt19937_64 random(size);
  std::uniform_real_distribution<Value> law(least, most);
  std::vector<Value> values(size);
  for (Value& value : values) value = law(random);
  return values;
}

TEST(SortAscending, PutsFewAndManyValuesInOrder) {
  for (const std::size_t size : {0, 1, 2, 100, 2048, 2049, 10000, 100000}) {
    expect_sorted_as_by_comparing(drawn<float>(size, 1e-3F, 2e-3F));
    expect_sorted_as_by_comparing(drawn<double>(size, 1e-3, 2e-3));
  }
}

TEST(SortAscending, KnowsSignsAndAllMagnitudes) {
  std::vector<float> values = drawn<float>(5000, -1.0F, 1.0F);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] *= values[i + 1 < values.size() ? i + 1 : 0] * 1e-20F;
  values[7] = std::numeric_limits<float>::infinity();
  values[8] = -std::numeric_limits<float>::infinity();
  values[9] = std::numeric_limits<float>::max();
  values[10] = std::numeric_limits<float>::denorm_min();
  expect_sorted_as_by_comparing(values);
}

TEST(SortAscending, LeavesEqualValuesEqual) {
  expect_sorted_as_by_comparing(std::vector<float>(5000, 1e-3F));
  std::vector<float> two(5000, 1e-3F);
  for (std::size_t i = 0; i < two.size(); i += 2) two[i] = 2e-3F;
  expect_sorted_as_by_comparing(two);
}

}  // namespace
