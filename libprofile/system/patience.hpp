// How long a program that others watch waits for what is none of its business.
#pragma once

#include <chrono>

namespace halcyon {

/// For a file system that does not answer.
inline constexpr std::chrono::seconds patience(3);

}  // namespace halcyon
