#include "libprofile/shared/receipt.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/temporary_directory.hpp"

namespace {

using namespace halcyon;

class AReceipt : public ::testing::Test {
 protected:
  AReceipt() {
    path_ = receipt_in(directory_, "7");
    std::ofstream(path_) << std::string(receipt_size, '\0');
    command_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);  // as `halcyon run` holds it
    flock(command_, LOCK_EX);
  }
  ~AReceipt() override { close(command_); }

  [[nodiscard]] std::optional<Word> told() const {
    std::string content(receipt_size, '\0');
    EXPECT_EQ(pread(command_, content.data(), content.size(), 0), static_cast<ssize_t>(receipt_size));
    return word_in(content);
  }
  void expect_told(Left what, const std::string& path) const {
    const std::optional<Word> word = told();
    ASSERT_TRUE(word);
    EXPECT_EQ(word->what, what);
    EXPECT_EQ(word->path, path);
  }

  halcyon::testing::TemporaryDirectory temporary_;
  std::string directory_ = temporary_.path().string();
  std::string path_;
  int command_;
};

// As for a rank that is killed before it has written.
class NothingCanBeWritten {
 public:
  NothingCanBeWritten() : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NothingCanBeWritten() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  NothingCanBeWritten(const NothingCanBeWritten&) = delete;
  NothingCanBeWritten& operator=(const NothingCanBeWritten&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_;
};

TEST_F(AReceipt, TellsWhatWasLeftLast) {
  Receipt receipt;
  ASSERT_TRUE(receipt.open(path_));
  EXPECT_FALSE(told());
  EXPECT_TRUE(receipt.leave(Left::parts_of_several_hosts, "/tmp/run.h5.parts"));
  expect_told(Left::parts_of_several_hosts, "/tmp/run.h5.parts");
  EXPECT_TRUE(receipt.leave(Left::profile, "/tmp/run.h5"));
  expect_told(Left::profile, "/tmp/run.h5");
}

TEST_F(AReceipt, HasRoomForAnyPath) {
  Receipt receipt;
  ASSERT_TRUE(receipt.open(path_));
  for (const std::string& path : {std::string("/a\nb\n"), "/" + std::string(PATH_MAX - 2, 'x')}) {
    EXPECT_TRUE(receipt.leave(Left::profile, path.c_str()));
    expect_told(Left::profile, path);
  }
  EXPECT_FALSE(receipt.leave(Left::profile, std::string(PATH_MAX, 'x').c_str()));
}

TEST_F(AReceipt, IsNotMadeByARankThatDoesNotSeeIt) {
  std::filesystem::remove(path_);
  Receipt receipt;
  EXPECT_FALSE(receipt.open(path_));
  EXPECT_FALSE(receipt.leave(Left::profile, "/tmp/run.h5"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(AReceipt, IsStillReadIfItsDirectoryIsGone) {
  Receipt receipt;
  ASSERT_TRUE(receipt.open(path_));
  std::filesystem::remove_all(directory_);
  EXPECT_TRUE(receipt.leave(Left::profile, "/tmp/run.h5"));
  expect_told(Left::profile, "/tmp/run.h5");
}

TEST_F(AReceipt, IsOpenedAgainIfTheProgramHasClosedIt) {
  Receipt receipt;
  ASSERT_TRUE(receipt.open(path_));
  for (int number = command_ + 1; number < 1024; ++number) close(number);
  EXPECT_TRUE(receipt.leave(Left::profile, "/tmp/run.h5"));
  expect_told(Left::profile, "/tmp/run.h5");
}

TEST_F(AReceipt, IsLeftForNobodyIfTheCommandHasEnded) {
  Receipt receipt;
  ASSERT_TRUE(receipt.open(path_));
  flock(command_, LOCK_UN);
  EXPECT_FALSE(receipt.leave(Left::profile, "/tmp/run.h5"));
}

TEST_F(AReceipt, OutlivesARankThatEndsWhileItLeavesAnother) {
  Receipt receipt;
  ASSERT_TRUE(receipt.open(path_));
  receipt.leave(Left::parts, "/tmp/run.h5.parts");
  {
    const NothingCanBeWritten ended;
    EXPECT_FALSE(receipt.leave(Left::profile, "/tmp/run.h5"));
  }
  expect_told(Left::parts, "/tmp/run.h5.parts");
}

TEST(ReceiptBesideAProfile, IsInItsDirectory) {
  EXPECT_EQ(receipt_beside("/scratch/run.h5", "7"), "/scratch/.halcyon-run-7.receipt");
  EXPECT_EQ(receipt_beside("/run.h5", "7"), "/.halcyon-run-7.receipt");
}

}  // namespace
