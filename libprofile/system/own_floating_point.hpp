// The recorder computes in the middle of programs that may have set traps for floating-point exceptions, another
// rounding, or look at the flags later.
#pragma once

#include <cstdint>

namespace halcyon {

/// While it lives, this thread's floating-point arithmetic is as at its start: no traps, to the nearest. Then it is as
/// before, with the flags that were set then. By the registers themselves: fenv.h needs libm. x87 is not ours to save,
/// since no arithmetic here uses it.
class OwnFloatingPoint {
 public:
#if defined(__x86_64__)
  OwnFloatingPoint() noexcept : control_(__builtin_ia32_stmxcsr()) {
    constexpr unsigned standard = 0x1f80;
    __builtin_ia32_ldmxcsr(standard);
  }
  ~OwnFloatingPoint() { __builtin_ia32_ldmxcsr(control_); }
#elif defined(__aarch64__)
  OwnFloatingPoint() noexcept {
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr" : "=r"(control_), "=r"(flags_)::"memory");
  }
  ~OwnFloatingPoint() { asm volatile("msr fpsr, %1\n\tmsr fpcr, %0" ::"r"(control_), "r"(flags_) : "memory"); }
#else
  OwnFloatingPoint() noexcept = default;
#endif
  OwnFloatingPoint(const OwnFloatingPoint&) = delete;
  OwnFloatingPoint& operator=(const OwnFloatingPoint&) = delete;

 private:
#if defined(__x86_64__)
  unsigned control_;
#elif defined(__aarch64__)
  std::uint64_t control_;
  std::uint64_t flags_;
#endif
};

}  // namespace halcyon
