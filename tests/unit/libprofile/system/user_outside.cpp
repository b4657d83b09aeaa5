#include "libprofile/system/user_outside.hpp"

#include <gtest/gtest.h>

namespace {

using halcyon::user_outside;

TEST(UserOutside, AUserHasTheNumberThatFilesHaveOnTheHost) {
  const char* const of_a_host = "         0          0 4294967295\n";
  EXPECT_EQ(user_outside(1000, of_a_host), 1000u);
  const char* const of_a_container = "         0       1000          1\n         1     100000      65536\n";
  EXPECT_EQ(user_outside(0, of_a_container), 1000u);
  EXPECT_EQ(user_outside(33, of_a_container), 100032u);
}

TEST(UserOutside, WhatTheMapDoesNotNameStays) {
  EXPECT_EQ(user_outside(7, "0 1000 1\n"), 7u);
  EXPECT_EQ(user_outside(7, ""), 7u);
  EXPECT_EQ(user_outside(7, "not a map"), 7u);
}

}  // namespace
