#include "libprofile/system/process_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace {

using namespace halcyon;

TEST(ProcessMemory, IsReadableWhereItIsMapped) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_TRUE(is_readable(static_cast<std::uintptr_t*>(memory)));
  mprotect(memory, page, PROT_NONE);
  EXPECT_FALSE(is_readable(static_cast<std::uintptr_t*>(memory)));
  munmap(memory, page);
  EXPECT_FALSE(is_readable(static_cast<std::uintptr_t*>(memory)));
}

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

TEST(ProcessMemory, TellsWhatIsOfOneFile) {
  static const int here = 0;
  int on_stack = 0;
  const std::uintptr_t of_code = number_of(reinterpret_cast<void*>(&number_of));
  const std::uintptr_t of_libc = number_of(reinterpret_cast<void*>(&std::abort));
  EXPECT_TRUE(are_of_one_file(of_code, number_of(&here)));
  EXPECT_FALSE(are_of_one_file(of_code, of_libc));
  EXPECT_FALSE(are_of_one_file(of_code, number_of(&on_stack)));
  EXPECT_FALSE(are_of_one_file(number_of(&on_stack), number_of(&on_stack)));  // of no file
}

}  // namespace
