#include "libprofile/live/kinds.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace halcyon::live {
namespace {

// A word that only this process writes.
template <class T>
void set(Shared<T>& word, std::type_identity_t<T> value) {
  word.store(value, std::memory_order_relaxed);
}
template <class T>
void add_to(Shared<T>& word, std::type_identity_t<T> more) {
  word.store(word.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// Odd numbers with random bits (splitmix64), one for each feature and one for the place.
constexpr auto multipliers = [] {
  std::array<std::uint64_t, feature_count + 1> numbers{};
  std::uint64_t state = 0;
  for (std::uint64_t& number : numbers) {
    state += 0x9e3779b97f4a7c15u;
    number = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    number = (number ^ number >> 31) | 1;
  }
  return numbers;
}();

// Work counts as the same within a factor of four, since without a hardware counter it is a time, which a disturbance
// may lengthen. Little work, some 100 us, all counts as the same.
std::uint64_t size_of_work(double work) {
  constexpr std::uint64_t little = std::bit_cast<std::uint64_t>(0x1p18) >> 53;  // ticks, or events of the counter
  return std::max(std::bit_cast<std::uint64_t>(work) >> 53, little);
}

// Counts must be the same; volumes within an octave, since they drift from step to step in real programs. The products
// do not depend on each other, so that the processor works on several at once.
std::uint64_t key_of(std::uint32_t place, const std::array<double, feature_count>& values) {
  constexpr unsigned mantissa_bits = 52;
  std::uint64_t key = (place + 1) * multipliers[feature_count] + size_of_work(values[0]) * multipliers[0];
  for (std::size_t i = 0; i < feature_count; ++i) {
    if (features[i].kind == FeatureKind::work) continue;
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    key += multipliers[i] * (features[i].kind == FeatureKind::volume ? bits >> mantissa_bits : bits);
  }
  key = (key ^ key >> 32) * multipliers[1];
  key ^= key >> 29;
  return key != 0 ? key : 1;
}
static_assert(features[0].kind == FeatureKind::work);
static_assert(bin_of(1.0) > bins_below_first);

// Its place among the sorted durations, counted from 0.
std::uint64_t quartile_of(std::uint64_t counted) { return (counted - 1) / 4; }

constexpr std::uint32_t rest = most_kinds - 1;
constexpr std::uint32_t rest_place = most_places - 1;
constexpr std::uint64_t key_of_rest = ~std::uint64_t{0};

}  // namespace

void Kinds::add(const EndedSegment& segment, const std::array<double, feature_count>& features) {
  const std::uint32_t number = kind_of(segment.place, features);
  Kind& kind = shared_[number];
  Sums& sums = sums_[number];
  const double duration = std::max(segment.duration, 1.0);
  const bool is_first = sums.segments == 0;
  const auto weight = static_cast<double>(segment.weight);
  begin(kind, sums, duration, number == rest ? rest_place : segment.place);
  sums.segments += segment.weight;
  sums.duration += weight * duration;
  sums.squared_duration += weight * duration * duration;
  count(kind, sums, duration, segment.weight);
  if (is_first) kind.key.store(sums.key, std::memory_order_release);
  if (__builtin_expect(duration > sums.noticeable, 0) && number != rest) {
    note_slow(sums, segment);
  } else {
    for (std::size_t i = 0; i < part_of_time_count; ++i) sums.usual_parts[i] += weight * segment.parts[i];
  }
}

std::uint32_t Kinds::kind_of(std::uint32_t place, const std::array<double, feature_count>& features) {
  LastAtPlace& last = last_[place];
  // The one before at this place was mostly of the same kind.
  const std::uint64_t size = size_of_work(features[0]);
  std::uint64_t differences = size ^ last.size_of_work;
  for (std::size_t i = 1; i < feature_count; ++i) {
    differences |= std::bit_cast<std::uint64_t>(features[i]) ^ std::bit_cast<std::uint64_t>(last.features[i - 1]);
  }
  if (last.kind < most_kinds && differences == 0) return last.kind;
  std::memcpy(last.features.data(), &features[1], sizeof last.features);
  last.size_of_work = size;
  last.kind = find(key_of(place, features));
  return last.kind;
}

std::uint32_t Kinds::find(std::uint64_t key) {
  const auto hash = static_cast<std::uint32_t>(key >> 32);
  for (std::uint32_t i = 0; i < rest; ++i) {
    Sums& sums = sums_[(hash + i) % rest];
    if (sums.key == 0) sums.key = key;
    if (sums.key == key) return (hash + i) % rest;
  }
  sums_[rest].key = key_of_rest;
  return make_way(key);
}

// Programs do many things once, when they start: such kinds give way to later ones.
std::uint32_t Kinds::make_way(std::uint64_t key) {
  constexpr std::uint64_t few = 8;
  const auto fewer = [](const Sums& a, const Sums& b) { return a.segments < b.segments; };
  const auto rarest = std::min_element(sums_.begin(), sums_.begin() + rest, fewer);
  if (rarest->segments > few) return rest;
  const auto number = static_cast<std::uint32_t>(rarest - sums_.begin());
  Kind& kind = shared_[number];
  kind.key.store(0, std::memory_order_relaxed);
  add_to_rest(*rarest);
  for (auto& bin : kind.bins) set(bin, 0);
  for (auto* count : {&kind.segments, &kind.below, &kind.above}) set(*count, 0);
  for (auto* seconds : {&kind.seconds, &kind.squared_seconds, &kind.below_seconds, &kind.above_seconds}) {
    set(*seconds, 0.0);
  }
  for (LastAtPlace& last : last_) {
    if (last.kind == number) last.kind = most_kinds;
  }
  *rarest = {};
  rarest->key = key;
  return number;
}

void Kinds::add_to_rest(const Sums& sums) {
  if (sums.segments == 0) return;
  Sums& all = sums_[rest];
  const double mean = sums.duration / static_cast<double>(sums.segments);
  usual_seconds_ += 1e-9 * sums.usual * static_cast<double>(sums.segments - sums.published);
  all.published += sums.segments;
  begin(shared_[rest], all, mean, rest_place);
  all.segments += sums.segments;
  all.duration += sums.duration;
  all.squared_duration += sums.squared_duration;
  count(shared_[rest], all, mean, static_cast<std::uint32_t>(sums.segments));
  shared_[rest].key.store(key_of_rest, std::memory_order_release);
}

// The first segment of a kind sets its bins.
void Kinds::begin(Kind& kind, Sums& sums, double duration, std::uint32_t place) {
  if (sums.segments > 0) return;
  sums.first_bin = bin_of(duration) - bins_below_first;
  set(kind.first_bin, sums.first_bin);
  set(kind.place, place);
  sums.usual_bin = bins_below_first;
}

void Kinds::count(Kind& kind, Sums& sums, double duration, std::uint32_t weight) {
  std::uint32_t bin = bin_of(duration) - sums.first_bin;
  sums.counted += weight;
  if (__builtin_expect(bin >= bin_count, 0)) bin = count_outside(kind, sums, duration, weight);
  if (bin < bin_count) {
    if (__builtin_expect(kind.bins[bin].load(std::memory_order_relaxed) > ~weight, 0)) {  // it is full
      sums.counted -= weight;
      return;
    }
    add_to(kind.bins[bin], weight);
    if (bin < sums.usual_bin) {
      sums.below_usual_bin += weight;
    } else if (bin == sums.usual_bin) {
      sums.in_usual_bin += duration * weight;
      sums.counted_in_usual_bin += weight;
    }
  }
  follow_quartile(kind, sums);
}

// The bins move where the quartile is outside, because the first segment was no typical one. Returns the bin of the
// duration if it is inside then.
std::uint32_t Kinds::count_outside(Kind& kind, Sums& sums, double duration, std::uint32_t weight) {
  constexpr std::uint64_t enough_to_tell = 8;
  const bool is_below = bin_of(duration) < sums.first_bin;
  const std::uint64_t below = kind.below.load(std::memory_order_relaxed) + (is_below ? weight : 0);
  const std::uint64_t above = kind.above.load(std::memory_order_relaxed) + (is_below ? 0 : weight);
  const std::uint64_t quartile = quartile_of(sums.counted);
  if (sums.counted >= enough_to_tell && (is_below ? quartile < below : quartile >= sums.counted - above)) {
    move_bins(kind, sums, bin_of(duration) - bins_below_first);
    return bins_below_first;
  }
  add_to(is_below ? kind.below : kind.above, weight);
  add_to(is_below ? kind.below_seconds : kind.above_seconds, 1e-9 * duration * weight);
  if (is_below) sums.below_usual_bin += weight;
  return bin_count;
}

// What was outside goes to the bin of its mean.
void Kinds::move_bins(Kind& kind, Sums& sums, std::uint32_t first_bin) {
  std::array<std::uint32_t, bin_count> before{};
  for (std::uint32_t bin = 0; bin < bin_count; ++bin) before[bin] = kind.bins[bin].exchange(0);
  const auto below = static_cast<std::uint32_t>(kind.below.exchange(0));
  const auto above = static_cast<std::uint32_t>(kind.above.exchange(0));
  const double below_seconds = kind.below_seconds.exchange(0.0);
  const double above_seconds = kind.above_seconds.exchange(0.0);
  const auto put = [&](double duration, std::uint32_t count) {
    const std::uint32_t number = bin_of(duration);
    if (number - first_bin < bin_count) {
      add_to(kind.bins[number - first_bin], count);
    } else {
      add_to(number < first_bin ? kind.below : kind.above, count);
      add_to(number < first_bin ? kind.below_seconds : kind.above_seconds, 1e-9 * duration * count);
    }
  };
  if (below > 0) put(1e9 * below_seconds / below, below);
  if (above > 0) put(1e9 * above_seconds / above, above);
  for (std::uint32_t bin = 0; bin < bin_count; ++bin) {
    const std::uint32_t number = sums.first_bin + bin;
    if (before[bin] > 0) put(0.5 * (lower_end_of(number) + lower_end_of(number + 1)), before[bin]);
  }
  sums.first_bin = first_bin;
  set(kind.first_bin, first_bin);
  sums.usual_bin = 0;
  sums.below_usual_bin = kind.below.load(std::memory_order_relaxed);
  sums.in_usual_bin = 0.0;
  sums.counted_in_usual_bin = 0;
}

void Kinds::follow_quartile(const Kind& kind, Sums& sums) {
  const auto in_bin = [&kind](std::uint32_t bin) -> std::uint64_t {
    return kind.bins[bin].load(std::memory_order_relaxed);
  };
  const std::uint64_t quartile = quartile_of(sums.counted);
  const std::uint32_t before = sums.usual_bin;
  while (quartile < sums.below_usual_bin && sums.usual_bin > 0) sums.below_usual_bin -= in_bin(--sums.usual_bin);
  while (quartile >= sums.below_usual_bin + in_bin(sums.usual_bin) && sums.usual_bin + 1 < bin_count) {
    sums.below_usual_bin += in_bin(sums.usual_bin++);
  }
  if (sums.usual_bin != before || sums.counted_in_usual_bin == 0) {
    const std::uint32_t bin = sums.first_bin + sums.usual_bin;
    sums.in_usual_bin = 0.5 * (lower_end_of(bin) + lower_end_of(bin + 1));
    sums.counted_in_usual_bin = 1;
  } else if (sums.usual > 0.0 && ++sums.unrefreshed % 16 != 0) {
    return;  // the mean of a bin hardly changes
  }
  constexpr double noticeable_share = 1.0 / 16.0;
  constexpr double noticeable_ns = 1000.0;  // as of a call (record/meters.cpp)
  sums.usual = sums.in_usual_bin / static_cast<double>(sums.counted_in_usual_bin);
  sums.noticeable = sums.usual * (1.0 + noticeable_share) + noticeable_ns;
}

// Its time beyond the usual goes to the parts that took longer than their mean in the other segments.
void Kinds::note_slow(Sums& sums, const EndedSegment& segment) {
  sums.slow += segment.weight;
  const std::uint64_t others = sums.segments - sums.slow;
  if (others == 0) return;
  std::array<double, part_of_time_count> more{};
  double sum = 0.0;
  for (std::size_t i = 0; i < part_of_time_count; ++i) {
    more[i] = std::max(0.0, segment.parts[i] - sums.usual_parts[i] / static_cast<double>(others));
    sum += more[i];
  }
  if (!(sum > 0.0)) return;
  const double share = static_cast<double>(segment.weight) * (segment.duration - sums.usual) / sum;
  for (std::size_t i = 0; i < part_of_time_count; ++i) beyond_[i] += share * more[i];
}

void Kinds::publish(Totals& totals) {
  for (std::size_t number = 0; number < most_kinds; ++number) {
    Sums& sums = sums_[number];
    if (sums.segments == 0) continue;
    // What the rest has in common is unknown: it counts as usual.
    if (number == rest) sums.usual = sums.duration / static_cast<double>(sums.segments);
    // The usual time of the segments since the last time, as it is estimated now.
    usual_seconds_ += 1e-9 * sums.usual * static_cast<double>(sums.segments - sums.published);
    sums.published = sums.segments;
    Kind& kind = shared_[number];
    set(kind.segments, sums.segments);
    set(kind.seconds, 1e-9 * sums.duration);
    set(kind.squared_seconds, 1e-18 * sums.squared_duration);
    set(kind.usual_seconds, 1e-9 * sums.usual);
  }
  totals.usual_seconds = usual_seconds_;
  for (std::size_t i = 0; i < part_of_time_count; ++i) totals.beyond[i] = 1e-9 * beyond_[i];
}

}  // namespace halcyon::live
