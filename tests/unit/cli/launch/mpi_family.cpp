#include "cli/launch/mpi_family.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace halcyon::cli {
namespace {

// Where a library of glibc lies that this program uses.
std::string place_of(const char* library, const char* symbol) {
  void* const handle = dlopen(library, RTLD_LAZY);
  Dl_info info{};
  return handle != nullptr && dladdr(dlsym(handle, symbol), &info) != 0 ? info.dli_fname : "";
}

const std::string libc = place_of("libc.so.6", "fopen");
const std::string libm = place_of("libm.so.6", "cos");

TEST(WhyNotBeside, NothingIsMissingOfTheLibcThatALibraryWasLinkedWith) {
  EXPECT_EQ(why_not_beside(libm, libc), "");
  EXPECT_EQ(why_not_beside(libm + ":" + libm, libc), "");
}

TEST(WhyNotBeside, AVersionThatALibcLacksIsNamed) {
  // libm defines fewer versions than libc does, and stands for one that is older.
  const std::string why = why_not_beside("/proc/self/exe", libm);
  EXPECT_NE(why.find("exe needs GLIBC_2."), std::string::npos) << why;
  EXPECT_NE(why.find(libm + " lacks"), std::string::npos) << why;
}

TEST(WhyNotBeside, WhatIsNotKnownIsNoObstacle) {
  EXPECT_EQ(why_not_beside(libm, ""), "");
  EXPECT_EQ(why_not_beside(libm, "/no/such/libc.so.6"), "");
  EXPECT_EQ(why_not_beside("/no/such/library.so", libc), "");
}

}  // namespace
}  // namespace halcyon::cli
