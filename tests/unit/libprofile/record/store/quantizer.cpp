#include "libprofile/record/store/quantizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

namespace {

using halcyon::Quantizer;
using halcyon::relative_distance;

// The definition, in the plainest words: keep everything sorted, look at every pair, merge the nearest.
class BruteForce {
 public:
  explicit BruteForce(std::size_t capacity) : capacity_(capacity) {}

  /// Inserts observation `id`; returns nothing, as bins are asked for by id.
  void insert(int id, double value) {
    for (Bin& bin : bins_) {
      if (bin.value == value) {
        bin.weight += 1.0;
        bin.members.push_back(id);
        return;
      }
    }
    bins_.push_back({value, 1.0, {id}});
    std::sort(bins_.begin(), bins_.end(), [](const Bin& a, const Bin& b) { return a.value < b.value; });
    if (bins_.size() <= capacity_) return;
    std::size_t nearest = 0;
    for (std::size_t i = 1; i + 1 < bins_.size(); ++i) {
      if (gap(i) < gap(nearest)) nearest = i;
    }
    Bin& low = bins_[nearest];
    Bin& high = bins_[nearest + 1];
    low.value = (low.value * low.weight + high.value * high.weight) / (low.weight + high.weight);
    low.weight += high.weight;
    low.members.insert(low.members.end(), high.members.begin(), high.members.end());
    bins_.erase(bins_.begin() + static_cast<std::ptrdiff_t>(nearest) + 1);
  }

  std::map<int, double> value_of_each() const {
    std::map<int, double> values;
    for (const Bin& bin : bins_) {
      for (const int id : bin.members) values[id] = bin.value;
    }
    return values;
  }

 private:
  struct Bin {
    double value;
    double weight;
    std::vector<int> members;
  };
  double gap(std::size_t i) const { return relative_distance(bins_[i].value, bins_[i + 1].value); }

  std::size_t capacity_;
  std::vector<Bin> bins_;
};

template <std::size_t Capacity>
void expect_same_as_brute_force(const std::vector<double>& stream) {
  Quantizer<Capacity> quantizer;
  BruteForce brute(Capacity);
  std::vector<std::uint16_t> slots;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const auto inserted = quantizer.insert(stream[i]);
    if (inserted.merge) {
      for (std::uint16_t& slot : slots) {
        if (slot == inserted.merge->from) slot = inserted.merge->into;
      }
    }
    slots.push_back(inserted.slot);
    brute.insert(static_cast<int>(i), stream[i]);
  }
  std::map<std::uint16_t, double> value_of_slot;
  for (std::size_t bin = 0; bin < quantizer.size(); ++bin) value_of_slot[quantizer.slot(bin)] = quantizer.value(bin);
  const std::map<int, double> expected = brute.value_of_each();
  for (std::size_t i = 0; i < stream.size(); ++i) {
    ASSERT_NEAR(value_of_slot.at(slots[i]), expected.at(static_cast<int>(i)), 1e-9 * expected.at(static_cast<int>(i)))
        << "observation " << i << " of value " << stream[i];
  }
}

std::vector<double> draw(std::size_t count, auto distribution, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::abs(static_cast<double>(distribution(engine))));
  return values;
}

TEST(Quantizer, KeepsEveryValueWhileThereAreBins) {
  Quantizer<256> quantizer;
  for (int value = 255; value >= 0; --value) quantizer.insert(value);
  ASSERT_EQ(quantizer.size(), 256u);
  for (std::size_t bin = 0; bin < 256; ++bin) EXPECT_EQ(quantizer.value(bin), static_cast<double>(bin));
}

TEST(Quantizer, MergesTheTwoNearestBinsByRelativeDistance) {
  Quantizer<3> quantizer;
  quantizer.insert(10.0);
  quantizer.insert(20.0);
  quantizer.insert(1000.0);
  const auto inserted = quantizer.insert(1100.0);  // 1000 and 1100 are 10 % apart, 10 and 20 are 100 %
  EXPECT_FALSE(inserted.merge);                    // the new value itself is the nearest neighbour
  EXPECT_DOUBLE_EQ(quantizer.value(2), 1050.0);
  const auto other = quantizer.insert(1.0);
  ASSERT_TRUE(other.merge);
  EXPECT_DOUBLE_EQ(quantizer.value(1), 15.0);
}

TEST(Quantizer, NeverMergesNothingWithSomething) {
  Quantizer<2> quantizer;
  for (const double value : {0.0, 1.0, 2.0, 3.0, 1e-9}) quantizer.insert(value);
  EXPECT_EQ(quantizer.value(0), 0.0);
  EXPECT_EQ(quantizer.weight(0), 1.0);
}

TEST(Quantizer, AgreesWithABruteForceOneOnUniformStreams) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    expect_same_as_brute_force<16>(draw(2000, std::uniform_real_distribution<>(1.0, 2.0), seed));
  }
}

TEST(Quantizer, AgreesWithABruteForceOneOnHeavyTailedStreams) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    expect_same_as_brute_force<32>(draw(2000, std::lognormal_distribution<>(0.0, 3.0), seed));
  }
}

TEST(Quantizer, AgreesWithABruteForceOneOnStreamsOfRepeatedCounts) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    expect_same_as_brute_force<256>(draw(3000, std::poisson_distribution<>(300.0), seed));
    expect_same_as_brute_force<8>(draw(3000, std::poisson_distribution<>(20.0), seed));
  }
}

TEST(Quantizer, AgreesWithABruteForceOneOnAscendingAndDescendingStreams) {
  std::vector<double> ascending;
  // Uneven steps: which of two equally near pairs merges is nobody's business.
  for (int i = 1; i <= 1500; ++i) ascending.push_back(1.7 * i + 0.3 * std::sin(i * i));
  expect_same_as_brute_force<64>(ascending);
  expect_same_as_brute_force<64>({ascending.rbegin(), ascending.rend()});
}

}  // namespace
