#include "libprofile/interpose/looked_up.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include "libprofile/interpose/loaded_mpi.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/system/environment.hpp"

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" {
// Of the library that is linked, which has the lists of all its wrappers.
extern const halcyon::LookedUp __start_halcyon_looked_up[] __attribute__((visibility("hidden")));  // NOLINT
extern const halcyon::LookedUp __stop_halcyon_looked_up[] __attribute__((visibility("hidden")));   // NOLINT

[[gnu::used]] constinit void* halcyon_next_dlsym = nullptr;
[[gnu::used]] void* halcyon_looked_up(void* handle, const char* name) noexcept;
}

namespace halcyon {
namespace {

using Dlsym = decltype(&dlsym);

// Allocators and sanitizers look functions up before anything is initialised, this library included.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] Dlsym next_dlsym() {
  void* next = __atomic_load_n(&halcyon_next_dlsym, __ATOMIC_RELAXED);
  if (__builtin_expect(next == nullptr, 0)) {
    next = find_symbol(RTLD_NEXT, "dlsym");
    __atomic_store_n(&halcyon_next_dlsym, next, __ATOMIC_RELAXED);
  }
  return reinterpret_cast<Dlsym>(next);
}

// Of the first MPI library of the process, if its handles are those of this build.
bool is_of_own_mpi(const void* function) {
  Dl_info info;
  void* library = nullptr;
  if (dladdr1(function, &info, &library, RTLD_DL_LINKMAP) == 0 || library == nullptr) return false;
  const char* const path = static_cast<const link_map*>(library)->l_name;
  return is_mpi_library(base_name(path)) && library == mpi_library() &&
         is_of_own_interface(family_of_loaded(library, path));
}

void* own_library() {
  Dl_info info;
  static void* const handle = dladdr(reinterpret_cast<void*>(&own_library), &info) != 0
                                  ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                                  : nullptr;
  return handle;
}

// The entry that goes on to `next`; null if it goes on to something else, or there is none.
void* entry_past_tools(std::string_view name, void* next) {
  if (name.starts_with('P')) name.remove_prefix(1);
  for (const LookedUp* one = __start_halcyon_looked_up; one != __stop_halcyon_looked_up; ++one) {
    if (one->name != name) continue;
    void* known = nullptr;
    return one->next->compare_exchange_strong(known, next) || known == next ? one->entry : nullptr;
  }
  return nullptr;
}

void* wrapper_of(void* handle, const char* name) {
  void* const function = find_symbol(handle, name);
  if (function == nullptr || !is_of_own_mpi(function)) return nullptr;
  void* const own = own_library();
  void* const wrapper = own != nullptr ? find_symbol(own, name) : nullptr;
  if (wrapper == nullptr) return nullptr;
  void* const next = next_dlsym()(handle, name);  // our other library's, if that is behind this one
  return find_next(name) == next ? wrapper : entry_past_tools(name, next);
}

}  // namespace

bool answers_lookups() noexcept {
  static const bool is_on = [] {
    const char* const setting = environment_value("HALCYON_DLSYM");
    return setting == nullptr || std::strcmp(setting, "off") != 0;
  }();
  return is_on;
}

}  // namespace halcyon

// What dlsym() is to return; null where the next one is to answer.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void* halcyon_looked_up(void* handle, const char* name) noexcept {
  using namespace halcyon;
  next_dlsym();  // found, for the jump
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || name == nullptr) return nullptr;
  const char* const without_p = name[0] == 'P' ? name + 1 : name;
  const bool is_of_mpi = without_p[0] == 'M' && without_p[1] == 'P' && without_p[2] == 'I';
  if (!is_of_mpi || !answers_lookups()) return nullptr;
  void* const wrapper = wrapper_of(handle, name);
  if (wrapper != nullptr) dlerror();  // a search on the way may have failed
  return wrapper;
}

// dlsym() itself. libc's takes its return address for that of the caller, so it is reached by a jump.
#if defined(__x86_64__)
__asm__(R"(
.pushsection .text.dlsym,"ax",%progbits
.globl dlsym
.type dlsym,%function
.p2align 4
dlsym:
.cfi_startproc
endbr64
push %rdi
.cfi_adjust_cfa_offset 8
push %rsi
.cfi_adjust_cfa_offset 8
sub $8, %rsp
.cfi_adjust_cfa_offset 8
call halcyon_looked_up
add $8, %rsp
.cfi_adjust_cfa_offset -8
pop %rsi
.cfi_adjust_cfa_offset -8
pop %rdi
.cfi_adjust_cfa_offset -8
test %rax, %rax
je 1f
ret
1: jmp *halcyon_next_dlsym(%rip)
.cfi_endproc
.size dlsym, . - dlsym
.popsection
)");
#else
__asm__(R"(
.pushsection .text.dlsym,"ax",%progbits
.globl dlsym
.type dlsym,%function
.p2align 4
dlsym:
.cfi_startproc
hint 34
stp x29, x30, [sp, #-32]!
.cfi_def_cfa_offset 32
.cfi_offset x29, -32
.cfi_offset x30, -24
mov x29, sp
stp x0, x1, [sp, #16]
bl halcyon_looked_up
mov x9, x0
ldp x0, x1, [sp, #16]
ldp x29, x30, [sp], #32
.cfi_restore x30
.cfi_restore x29
.cfi_def_cfa_offset 0
cbnz x9, 1f
adrp x16, halcyon_next_dlsym
ldr x16, [x16, :lo12:halcyon_next_dlsym]
br x16
1: mov x0, x9
ret
.cfi_endproc
.size dlsym, . - dlsym
.popsection
)");
#endif

#else  // without this jump, RTLD_NEXT would lose its meaning: dlsym is left alone

bool halcyon::answers_lookups() noexcept { return false; }

#endif
