// A place in the program that ends segments.
#pragma once

#include <cstddef>
#include <string>

#include "libprofile/format/boundary.hpp"

namespace halcyon {

// Limits of the tail of a part.
inline constexpr std::size_t most_sites = 255;
inline constexpr std::size_t most_site_text = 255;  // longer ones are cut in a tail
inline constexpr std::size_t most_modules = 64;
inline constexpr std::size_t most_module_text = 1023;  // modules with longer texts are left out

struct CallSite {
  const void* address = nullptr;
  Boundary boundary = Boundary::finalize;
  std::string text;  // as the profile has it: boundary@module+offset, or boundary@file:line of Python
};

}  // namespace halcyon
