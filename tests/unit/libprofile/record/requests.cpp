#include "libprofile/record/requests.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

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

// Another thread's new request has the handle before this thread has noted that the old one is complete.
TEST(RequestTable, KeepsAReplacedRequestForTheThreadThatHasCompletedIt) {
  RequestTable table;
  table.insert(handle(1), {.bytes = 10});
  const std::uint64_t made = table.made();
  table.hand_over(handle(1));
  table.insert(handle(1), {.bytes = 20});
  PendingRequest* const older = table.pending(handle(1), made);
  ASSERT_NE(older, nullptr);
  EXPECT_EQ(older->bytes, 10u);
  table.complete(handle(1), older);
  EXPECT_EQ(table.pending(handle(1), made), nullptr);
  PendingRequest* const newer = table.pending(handle(1), table.made());
  ASSERT_NE(newer, nullptr);
  EXPECT_EQ(newer->bytes, 20u);
  table.complete(handle(1), newer);
  EXPECT_TRUE(table.empty());
}

// The new request need not be in the table, such as a send.
TEST(RequestTable, GivesAReplacedRequestToNobodyWhoAsksForTheNewOne) {
  RequestTable table;
  table.insert(handle(1), {.bytes = 10});
  const std::uint64_t before = table.made();
  table.hand_over(handle(1));
  EXPECT_EQ(table.pending(handle(1), table.made()), nullptr);
  PendingRequest* const older = table.pending(handle(1), before);
  ASSERT_NE(older, nullptr);
  EXPECT_EQ(older->bytes, 10u);
}

TEST(RequestTable, KnowsNothingOfAnInactivePersistentRequest) {
  RequestTable table;
  table.insert(handle(1), {.bytes = 10, .persistent = true});
  EXPECT_EQ(table.pending(handle(1), table.made()), nullptr);
  table.find(handle(1))->active = true;
  table.complete(handle(1), table.pending(handle(1), table.made()));
  EXPECT_FALSE(table.find(handle(1))->active);
}

TEST(RequestTable, IsNotEmptyToAThreadWhoseRequestIsPendingWhileItGrows) {
  RequestTable table;
  table.insert(handle(1), {});
  std::atomic<bool> is_over{false};
  int wrong = 0;
  std::thread asks([&] {
    while (!is_over.load()) wrong += table.empty() ? 1 : 0;
  });
  for (std::uintptr_t number = 2; number < 20'000; ++number) table.insert(handle(number), {});
  is_over.store(true);
  asks.join();
  EXPECT_EQ(wrong, 0);
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
