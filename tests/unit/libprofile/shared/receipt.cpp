#include "libprofile/shared/receipt.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace halcyon;

class Receipt : public ::testing::Test {
 protected:
  Receipt() {
    std::string directory = (std::filesystem::temp_directory_path() / "halcyon-XXXXXX").string();
    directory_ = mkdtemp(directory.data());
    file = directory_ / "receipt";
    std::ofstream made(file);
  }
  ~Receipt() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string told() const {
    std::ifstream in(file);
    std::string path;
    std::getline(in, path);
    return path;
  }

  std::filesystem::path file;

 private:
  std::filesystem::path directory_;
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

TEST_F(Receipt, TellsWhatWasLeftLast) {
  leave_receipt(file.c_str(), "/tmp/run.h5.parts");
  EXPECT_EQ(told(), "/tmp/run.h5.parts");
  leave_receipt(file.c_str(), "/tmp/run.h5");
  EXPECT_EQ(told(), "/tmp/run.h5");
}

TEST_F(Receipt, IsNotMadeByARankThatDoesNotSeeIt) {
  std::filesystem::remove(file);
  EXPECT_FALSE(leave_receipt(file.c_str(), "/tmp/run.h5"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Receipt, TellsOfSeveralHostsInItsSecondLine) {
  EXPECT_TRUE(leave_receipt(file.c_str(), "/tmp/run.h5.parts", of_several_hosts));
  std::ifstream in(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(text, std::string("/tmp/run.h5.parts\n") + of_several_hosts + "\n");
}

TEST_F(Receipt, OutlivesARankThatEndsWhileItLeavesAnother) {
  leave_receipt(file.c_str(), "/tmp/run.h5.parts");
  {
    const NothingCanBeWritten ended;
    leave_receipt(file.c_str(), "/tmp/run.h5");
  }
  EXPECT_EQ(told(), "/tmp/run.h5.parts");
}

}  // namespace
