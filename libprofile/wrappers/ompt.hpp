// LLVM's and Intel's OpenMP tell a tool by themselves what their threads do: OMPT (OpenMP 5.0, chapter 4).
#pragma once

namespace halcyon {

/// The runtime tells. Then what is called of it by GCC's names counts already.
bool ompt_is_active() noexcept;

}  // namespace halcyon
