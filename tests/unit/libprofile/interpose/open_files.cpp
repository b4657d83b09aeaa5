#include "libprofile/interpose/open_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using halcyon::Closed;
using halcyon::Forgotten;
using halcyon::is_file;
using halcyon::open_files;

int a_file() { return fileno(std::tmpfile()); }
int a_pipe() {
  int ends[2];
  return pipe(ends) == 0 ? ends[1] : -1;
}

TEST(OpenFiles, KnowsWhatIsAFile) {
  for (const char* path : {"/proc/self/stat", "/proc/cpuinfo", "/sys/devices/system/cpu/online", "/dev/zero", "/"}) {
    const int descriptor = open(path, O_RDONLY);
    ASSERT_GE(descriptor, 0) << path;
    EXPECT_FALSE(is_file(descriptor)) << path;
    close(descriptor);
  }
  EXPECT_FALSE(is_file(a_pipe()));
  EXPECT_FALSE(is_file(socket(AF_UNIX, SOCK_STREAM, 0)));
  EXPECT_FALSE(is_file(-1));
  EXPECT_TRUE(is_file(a_file()));
  EXPECT_TRUE(is_file(open("/proc/self/exe", O_RDONLY))) << "a link to a file elsewhere";
  EXPECT_TRUE(is_file(std::tmpfile()));
}

TEST(OpenFiles, StreamsInMemoryAreNoFiles) {
  const int before = dup(STDIN_FILENO);
  dup2(a_file(), STDIN_FILENO);
  mallopt(M_PERTURB, 0xff);  // memory is zero, and glibc leaves the descriptor of such a stream as it finds it
  char memory[10];
  char* grown = nullptr;
  std::size_t size = 0;
  FILE* const of_fixed_size = fmemopen(memory, sizeof memory, "w");
  FILE* const growing = open_memstream(&grown, &size);
  EXPECT_FALSE(is_file(of_fixed_size));
  EXPECT_FALSE(is_file(growing));
  std::fclose(of_fixed_size);
  std::fclose(growing);
  std::free(grown);
  mallopt(M_PERTURB, 0);
  dup2(before, STDIN_FILENO);
}

TEST(OpenFiles, KeepsAnAnswerUntilTheDescriptorIsForgotten) {
  open_files.begin();
  const int descriptor = dup(a_file());
  EXPECT_TRUE(is_file(descriptor));
  dup2(a_pipe(), descriptor);
  EXPECT_TRUE(is_file(descriptor)) << "asked again";
  open_files.forget(descriptor);
  EXPECT_FALSE(is_file(descriptor));
}

TEST(OpenFiles, KeepsNoAnswerAboutADescriptorThatIsNotOpen) {
  open_files.begin();
  const int descriptor = dup(a_pipe());
  close(descriptor);
  EXPECT_FALSE(is_file(descriptor));
  ASSERT_EQ(dup2(a_file(), descriptor), descriptor);
  EXPECT_TRUE(is_file(descriptor));
}

TEST(OpenFiles, AnAnswerThatAnotherThreadHasMadeWrongMeanwhileIsNotKept) {
  open_files.begin();
  const int file = a_file();
  const int other = a_pipe();
  const int descriptor = dup(file);
  std::atomic<bool> go_on{true};
  std::thread asking([&] {
    while (go_on) is_file(descriptor);
  });
  unsigned wrong = 0;
  for (int i = 0; i < 100000; ++i) {
    const bool to_file = i % 2 == 0;
    {
      const Forgotten forgotten(Closed::one(descriptor));
      dup2(to_file ? file : other, descriptor);
    }
    for (int times = 0; times < 20; ++times) wrong += is_file(descriptor) == to_file ? 0 : 1;
  }
  go_on = false;
  asking.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(OpenFiles, ARangeHasItsFiles) {
  open_files.begin();
  const int first = fcntl(a_file(), F_DUPFD, 600);
  fcntl(a_pipe(), F_DUPFD, first);
  fcntl(a_file(), F_DUPFD, first);
  EXPECT_EQ(Closed::range(static_cast<unsigned>(first), ~0u).files(), 2u);
  EXPECT_EQ(Closed::one(first).files(), 1u);
  EXPECT_EQ(Closed::range(~0u, ~0u).files(), 0u);
}

}  // namespace
