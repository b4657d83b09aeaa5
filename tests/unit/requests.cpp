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
