#include "libprofile/record/pickled_reductions.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using halcyon::Gathering;
using halcyon::PickledReduction;

struct Message {
  bool is_sent;
  int other;
};

// What mpi4py does on a rank, of which each is two messages; read in its source.
std::vector<Message> part_of(int rank, int ranks) {
  std::vector<Message> part;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if ((rank & bit) != 0) {
      part.push_back({true, (rank & ~bit) % ranks});
    } else if ((rank | bit) < ranks) {
      part.push_back({false, rank | bit});
    }
  }
  return part;
}

int ends_in(PickledReduction& reduction, const std::vector<Message>& part, int tag) {
  int ends = 0;
  for (const Message& message : part) {
    for (int half = 0; half < 2; ++half) ends += reduction.ends_with(message.is_sent, message.other, tag) ? 1 : 0;
  }
  return ends;
}

TEST(Gathering, EndsFromWhereAllHaveCome) {
  Gathering gathering;
  EXPECT_FALSE(gathering.ends_from(0));
  gathering.at(2);
  EXPECT_TRUE(gathering.is_known());
  EXPECT_TRUE(gathering.ends_from(2));
  EXPECT_FALSE(gathering.ends_from(2)) << "once";
}

TEST(Gathering, IsOverWhereDataComesFromElsewhere) {
  Gathering gathering;
  gathering.at(2);
  EXPECT_FALSE(gathering.ends_from(1));
  EXPECT_FALSE(gathering.ends_from(2));
}

TEST(Gathering, IsNowhereOutsideTheWorld) {
  Gathering gathering;
  gathering.at(Gathering::nowhere);
  EXPECT_FALSE(gathering.ends_from(Gathering::nowhere));
}

TEST(PickledReduction, EndsOnceOnEachRank) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      PickledReduction reduction(rank, ranks);
      for (int tag = 0; tag < 3; ++tag)
        EXPECT_EQ(ends_in(reduction, part_of(rank, ranks), tag), 1) << rank << " of " << ranks;
    }
  }
}

TEST(PickledReduction, GoesOnBehindWhatWasNoPartOfIt) {
  PickledReduction reduction(1, 4);
  EXPECT_FALSE(reduction.ends_with(true, 0, 5));
  EXPECT_FALSE(reduction.ends_with(true, 3, 5));
  EXPECT_EQ(ends_in(reduction, part_of(1, 4), 6), 1);
}

TEST(PickledReduction, HasOneTag) {
  PickledReduction reduction(1, 2);
  EXPECT_FALSE(reduction.ends_with(true, 0, 5));
  EXPECT_FALSE(reduction.ends_with(true, 0, 6)) << "the first of another";
  EXPECT_TRUE(reduction.ends_with(true, 0, 6));
}

TEST(PickledReduction, OfOneRankHasNoMessages) {
  PickledReduction reduction(0, 1);
  EXPECT_FALSE(reduction.ends_with(true, 0, 0));
  EXPECT_FALSE(reduction.ends_with(false, 0, 0));
}

}  // namespace
