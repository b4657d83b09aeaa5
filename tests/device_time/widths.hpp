// How wide the result and the parameters of a function are.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "libprofile/interpose/device.hpp"

using namespace halcyon;

template <class Result, class... Parameters>
constexpr std::vector<std::size_t> widths_of(Result (*)(Parameters...)) {
  return {sizeof(Result), sizeof(Parameters)...};
}
