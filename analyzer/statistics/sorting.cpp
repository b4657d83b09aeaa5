#include "analyzer/statistics/sorting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace halcyon {
namespace {

constexpr std::size_t few = 512;         // sorted faster by comparing
constexpr std::size_t in_cache = 65536;  // whose scattered writes stay in a core's own cache
constexpr unsigned digit_bits = 11;
constexpr std::size_t digit_values = std::size_t{1} << digit_bits;
using Places = std::array<std::size_t, digit_values>;

// Unsigned numbers in the order of the values: IEEE 754 orders numbers of one sign as it orders their bits.
template <class Value>
struct Key {
  using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  static constexpr unsigned bits = 8 * sizeof(Value);
  static constexpr unsigned digits = (bits + digit_bits - 1) / digit_bits;
  static constexpr Bits sign = Bits{1} << (bits - 1);

  static Bits of(Value value) {
    const Bits pattern = std::bit_cast<Bits>(value);
    return (pattern & sign) != 0 ? ~pattern : pattern | sign;
  }
  static std::size_t digit(Bits key, unsigned number) { return (key >> (number * digit_bits)) & (digit_values - 1); }
};

// By the least significant digit first (D. E. Knuth, The Art of Computer Programming 3, section 5.2.5). A digit that
// all values have in common, as durations of one group have their exponent, needs no pass.
template <class Value>
void sort_by_digits(std::span<Value> values, std::span<Value> other) {
  using Keys = Key<Value>;
  std::array<Places, Keys::digits> counts{};
  for (const Value value : values) {
    const auto key = Keys::of(value);
    for (unsigned number = 0; number < Keys::digits; ++number) ++counts[number][Keys::digit(key, number)];
  }
  std::span<Value> from = values;
  std::span<Value> to = other;
  for (unsigned number = 0; number < Keys::digits; ++number) {
    Places& places = counts[number];
    if (places[Keys::digit(Keys::of(from.front()), number)] == from.size()) continue;
    std::exclusive_scan(places.begin(), places.end(), places.begin(), std::size_t{0});
    for (const Value value : from) to[places[Keys::digit(Keys::of(value), number)]++] = value;
    std::swap(from, to);
  }
  if (from.data() != values.data()) std::copy(from.begin(), from.end(), values.begin());
}

// Dealt out by what the values differ in most, until parts fit into the cache: digit by digit through memory would cost
// several times as much. `other` is as long as `values`, which hold the result.
template <class Value>
void sort(std::span<Value> values, std::span<Value> other) {
  using Keys = Key<Value>;
  if (values.size() <= few) return std::sort(values.begin(), values.end());
  if (values.size() <= in_cache) return sort_by_digits(values, other);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const auto first = Keys::of(*least);
  const auto range = static_cast<typename Keys::Bits>(Keys::of(*greatest) - first);
  const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - static_cast<int>(digit_bits));
  const auto part_of = [=](Value value) { return static_cast<std::size_t>((Keys::of(value) - first) >> shift); };
  Places ends{};
  for (const Value value : values) ++ends[part_of(value)];
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::size_t{0});
  for (const Value value : values) other[ends[part_of(value)]++] = value;
  std::copy(other.begin(), other.end(), values.begin());
  if (shift == 0) return;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    sort(values.subspan(begin, end - begin), other.subspan(begin, end - begin));
    begin = end;
  }
}

template <class Value>
void sort(std::span<Value> values) {
  std::vector<Value> other(values.size());
  sort(values, std::span<Value>(other));
}

}  // namespace

void sort_ascending(std::span<float> values) { sort(values); }
void sort_ascending(std::span<double> values) { sort(values); }

double of_rank(std::span<double> values, std::size_t rank) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double median_in_place(std::span<double> values) { return of_rank(values, values.size() / 2); }

}  // namespace halcyon
