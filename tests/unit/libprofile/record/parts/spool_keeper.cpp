#include "libprofile/record/parts/spool_keeper.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <istream>
#include <string>
#include <thread>
#include <vector>

#include "libprofile/record/parts/spool_address.hpp"
#include "libprofile/system/descriptor.hpp"

namespace {

using halcyon::Descriptor;
using halcyon::OwnDescriptor;
using halcyon::SpoolAddress;
using halcyon::SpoolKeeper;

bool is_asleep(const std::string& stat_of_thread) {
  std::ifstream file(stat_of_thread);
  std::string text;
  std::getline(file, text);
  return text.substr(text.rfind(')') + 1).starts_with(" S");
}

// All ranks of a host may come at once, to a process that has no CPU yet.
TEST(SpoolKeeper, ARankThatFindsNoRoomAmongThoseThatWaitIsOneOfThemLater) {
  const std::string name = "halcyon-test-" + std::to_string(getpid());
  const SpoolAddress address(name);
  const Descriptor listening(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listening.number(), address.get(), address.size), 0);
  ASSERT_EQ(listen(listening.number(), 0), 0);
  std::vector<Descriptor> before;
  for (bool has_room = true; has_room;) {
    before.emplace_back(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    has_room = connect(before.back().number(), address.get(), address.size) == 0;
  }
  const std::string own_thread = "/proc/self/task/" + std::to_string(gettid()) + "/stat";
  std::thread accepting([&] {
    while (!is_asleep(own_thread)) {
    }
    for (std::size_t i = 0; i < before.size(); ++i) close(accept(listening.number(), nullptr, nullptr));
  });
  SpoolKeeper keeper(name);
  OwnDescriptor spare;
  EXPECT_TRUE(keeper.is_there(spare));
  EXPECT_FALSE(keeper.hangs());
  accepting.join();  // asleep at any rate
}

}  // namespace
