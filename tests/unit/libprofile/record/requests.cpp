#include "libprofile/record/requests.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using halcyon::PendingRequest;
using halcyon::RequestTable;

MPI_Request handle(std::uintptr_t number) { return reinterpret_cast<MPI_Request>(number * 16); }

TEST(RequestTable, LetsTheNewerRequestOwnAReusedHandle) {
  RequestTable table;
  table.insert(handle(1), {.bytes = 10});
  table.insert(handle(1), {.bytes = 20});
  EXPECT_EQ(table.find(handle(1))->bytes, 20u);
  table.erase(handle(1));
  EXPECT_TRUE(table.empty());
}

TEST(RequestTable, CompletingAnOlderRequestLeavesTheNewerOneUnderItsHandle) {
  RequestTable table;
  table.insert(handle(1), {.bytes = 10});
  const PendingRequest older = table.pending(handle(1));
  table.insert(handle(1), {.bytes = 20});
  table.complete(handle(1), older);
  const PendingRequest newer = table.pending(handle(1));
  EXPECT_EQ(older.bytes, 10u);
  EXPECT_EQ(newer.bytes, 20u);
  table.complete(handle(1), newer);
  EXPECT_TRUE(table.empty());
}

TEST(RequestTable, KnowsNothingOfAnInactivePersistentRequest) {
  RequestTable table;
  table.insert(handle(1), {.bytes = 10, .persistent = true});
  EXPECT_EQ(table.pending(handle(1)).number, 0u);
  table.find(handle(1))->active = true;
  table.complete(handle(1), table.pending(handle(1)));
  EXPECT_FALSE(table.find(handle(1))->active);
}

TEST(RequestTable, AgreesWithAMapUnderRandomUse) {
  RequestTable table;
  std::map<std::uintptr_t, std::uint64_t> reference;
  std::mt19937 engine(3);
  for (int step = 0; step < 200'000; ++step) {
    const std::uintptr_t number = engine() % 300;
    switch (engine() % 3) {
      case 0:
        table.insert(handle(number), {.bytes = static_cast<std::uint64_t>(step)});
        reference[number] = static_cast<std::uint64_t>(step);
        break;
      case 1:
        table.erase(handle(number));
        reference.erase(number);
        break;
      default: {
        const PendingRequest* found = table.find(handle(number));
        const auto expected = reference.find(number);
        ASSERT_EQ(found != nullptr, expected != reference.end());
        if (found != nullptr) {
          ASSERT_EQ(found->bytes, expected->second);
        }
      }
    }
  }
}

}  // namespace
