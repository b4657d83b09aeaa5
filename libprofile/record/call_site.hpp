// A place in the program that ends segments.
#pragma once

#include <string>

#include "libprofile/format/features.hpp"
#include "libprofile/format/module.hpp"

namespace halcyon {

struct CallSite {
  const void* address = nullptr;
  Boundary boundary = Boundary::finalize;
  std::string text;  // as the profile has it: boundary@module+offset, or boundary@file:line of Python
};

}  // namespace halcyon
