#include "analyzer/estimate/made_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "analyzer/statistics/in_parallel.hpp"

namespace {

TEST(MadeOnce, MakesAValueOnceHoweverManyThreadsAskForIt) {
  constexpr std::size_t keys = 100;
  halcyon::MadeOnce<std::size_t, std::size_t> squares;
  std::atomic<std::size_t> made = 0;
  std::vector<const std::size_t*> values(10 * keys);
  halcyon::for_each_in_parallel(values.size(), [&](std::size_t i) {
    const std::size_t key = i % keys;
    values[i] = &squares.get(key, [&](std::size_t& value) {
      value = key * key;
      ++made;
    });
  });
  EXPECT_EQ(made, keys);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(*values[i], (i % keys) * (i % keys));
}

TEST(MadeOnce, MakesAValueOutOfAnotherOne) {
  halcyon::MadeOnce<int, int> factorials;
  const auto factorial = [&](auto& self, int n) -> int {
    return factorials.get(n, [&](int& value) { value = n == 0 ? 1 : n * self(self, n - 1); });
  };
  EXPECT_EQ(factorial(factorial, 10), 3628800);
}

}  // namespace
