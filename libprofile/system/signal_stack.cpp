#include "libprofile/system/signal_stack.hpp"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace halcyon {

bool give_signal_stack(void*& memory) {
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) != 0) return false;
  if ((stack.ss_flags & SS_DISABLE) == 0) return memory != nullptr && stack.ss_sp == memory;
  // For our handler, and that of a library, which may look for names of functions. Pages that are not used cost
  // nothing.
  constexpr std::size_t for_handlers = std::size_t{256} << 10;
  const std::size_t page = getauxval(AT_PAGESZ);
  const std::size_t size = for_handlers + getauxval(AT_MINSIGSTKSZ) / page * page;  // the kernel puts registers there
  if (memory == nullptr) {
    const long mapped = syscall(SYS_mmap, nullptr, page + size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapped == -1) return false;
    syscall(SYS_mprotect, mapped, page, PROT_NONE);  // whoever uses up all gets there
    memory = reinterpret_cast<std::byte*>(mapped) + page;
  }
  stack = {};
  stack.ss_sp = memory;
  stack.ss_size = size;
  return sigaltstack(&stack, nullptr) == 0;
}

}  // namespace halcyon
