// Functions of libc that are written by hand in front of it: `extern "C"` functions halcyon_NAME, which
// HALCYON_INTERPOSE exports as NAME.
#pragma once

#include "libprofile/interpose/next.hpp"

namespace halcyon {

template <class Function>
struct Interposed {
  Function* entry;  // where calls of the name go; the first member, since the jump knows no other
  const char* name;
  Function* known = nullptr;

  /// The function that ours stands in front of. It is found when the library is loaded, since searching is not
  /// async-signal-safe: only the constructors of other libraries may be earlier.
  Function* next() {
    if (known == nullptr) known = reinterpret_cast<Function*>(find_next(name));
    return known;
  }
  /// A library of the program may have a function of its own by this name, whose arguments are anything. Without us all
  /// calls would reach that one: so they do, with registers and stack as they are.
  void give_way() {
    if (is_of_program(reinterpret_cast<void*>(next()))) entry = known;
  }
};

}  // namespace halcyon

// A jump to where `place` points to.
#if defined(__x86_64__)
#define HALCYON_JUMP(place) "jmp *" place "(%rip)\n"
#elif defined(__aarch64__)
#define HALCYON_JUMP(place) "hint 34\nadrp x16, " place "\nldr x16, [x16, :lo12:" place "]\nbr x16\n"
#endif

#if defined(HALCYON_JUMP)
#define HALCYON_EXPORT_INTERPOSED(NAME)                                                              \
  __asm__(".pushsection .text." #NAME ",\"ax\",%progbits\n.globl " #NAME "\n.type " #NAME            \
          ",%function\n"                                                                             \
          ".p2align 4\n" #NAME ":\n" HALCYON_JUMP("halcyon_at_" #NAME) ".size " #NAME ", . - " #NAME \
                                                                       "\n"                          \
                                                                       ".popsection\n")
#else  // calls then always reach ours
#define HALCYON_EXPORT_INTERPOSED(NAME)                                                   \
  extern "C" HALCYON_EXPORT decltype(halcyon_##NAME) halcyon_export_##NAME __asm__(#NAME) \
      __attribute__((alias("halcyon_" #NAME)))
#endif

#define HALCYON_INTERPOSE(NAME)                                                                                    \
  extern "C" {                                                                                                     \
  [[gnu::used]] constinit halcyon::Interposed<decltype(halcyon_##NAME)> halcyon_at_##NAME{&halcyon_##NAME, #NAME}; \
  }                                                                                                                \
  [[gnu::constructor]] static void give_way_to_##NAME() { halcyon_at_##NAME.give_way(); }                          \
  HALCYON_EXPORT_INTERPOSED(NAME)
