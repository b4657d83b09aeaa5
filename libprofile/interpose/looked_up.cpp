#include "libprofile/interpose/looked_up.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libprofile/interpose/loaded_mpi.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/system/environment.hpp"

namespace halcyon {
namespace {

link_map* module_of(const void* address) {
  Dl_info info;
  link_map* module = nullptr;
  return find_place(address, info, &module) ? module : nullptr;
}

void* own_library() {
  Dl_info info;
  static void* const handle = find_place(reinterpret_cast<void*>(&own_library), info)
                                  ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                                  : nullptr;
  return handle;
}

// Programs ask where a function is in order to find its library, and then search that.
template <class Ask>
int place_as_without_wrapper(const void* address, Dl_info* place, Ask ask) {
  Dl_info real;
  link_map* module = nullptr;
  const bool is_wrapper = find_place(address, real, &module) && real.dli_saddr == address && module == own_library();
  const void* const next = is_wrapper ? find_next(real.dli_sname) : address;
  if (!is_wrapper || module_of(next) == module) return ask(address);  // a function that no library has is our own
  const int is_found = ask(next);
  if (is_found != 0) place->dli_saddr = const_cast<void*>(address);
  return is_found;
}

}  // namespace
}  // namespace halcyon

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" {
[[gnu::used]] constinit void* halcyon_next_dlsym = nullptr;
[[gnu::used]] void* halcyon_looked_up(void* handle, const char* name, const void* caller) noexcept;
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
  const link_map* const module = module_of(function);
  if (module == nullptr || !is_mpi_library(base_name(module->l_name)) || module != mpi_library()) return false;
  return is_of_own_interface(family_of_loaded(mpi_library(), module->l_name));
}

// The wrapper of a function that has been found. Some programs look a function up at each call.
class KnownWrappers {
 public:
  void* of(std::uintptr_t function) const {
    const Known& known = known_[place_of(function)];
    const std::uintptr_t wrapper = known.wrapper.load(std::memory_order_relaxed);
    const bool is_known = wrapper != 0 && (known.mixed.load(std::memory_order_relaxed) ^ wrapper) == function;
    return is_known ? reinterpret_cast<void*>(wrapper) : nullptr;
  }
  void add(std::uintptr_t function, void* wrapper) {
    Known& known = known_[place_of(function)];
    known.wrapper.store(reinterpret_cast<std::uintptr_t>(wrapper), std::memory_order_relaxed);
    known.mixed.store(reinterpret_cast<std::uintptr_t>(wrapper) ^ function, std::memory_order_relaxed);
  }

 private:
  // A wrapper, and that address with the function's bits turned over: both fit together only if one thread wrote them.
  struct Known {
    std::atomic<std::uintptr_t> wrapper;
    std::atomic<std::uintptr_t> mixed;
  };
  static constexpr std::size_t places = 512;
  static std::size_t place_of(std::uintptr_t function) { return ((function >> 5) ^ function) % places; }

  std::array<Known, places> known_{};
};
constinit KnownWrappers known_wrappers;

// The wrapper by this name, if it goes on to `next`.
void* wrapper_before(const void* next, const char* name) {
  void* const own = own_library();
  void* const wrapper = own != nullptr ? find_symbol(own, name) : nullptr;
  return wrapper != nullptr && find_next(name) == next ? wrapper : nullptr;
}

void* find_wrapper(void* handle, const char* name, const void* function) {
  if (!is_of_own_mpi(function)) return nullptr;
  const auto next_by = [handle](const char* one) { return next_dlsym()(handle, one); };
  const void* const next = next_by(name);  // our other library's, if that is behind this one
  if (void* const wrapper = wrapper_before(next, name); wrapper != nullptr || name[0] == 'P') return wrapper;
  std::array<char, 128> of_pmpi{'P'};
  if (std::strlen(name) + 2 > of_pmpi.size()) return nullptr;
  std::strcpy(of_pmpi.data() + 1, name);
  // A tool that answers dlsym itself may have given a function of its own: then it is called, and not this library.
  const void* const next_of_pmpi = next_by(of_pmpi.data());
  return next_of_pmpi != nullptr && module_of(next) == module_of(next_of_pmpi)
             ? wrapper_before(next_of_pmpi, of_pmpi.data())
             : nullptr;
}

void* wrapper_of(void* handle, const char* name) {
  void* const function = find_symbol(handle, name);
  if (function == nullptr) return nullptr;
  // MPI_X and PMPI_X may be one function with two names, and two wrappers.
  const auto number = reinterpret_cast<std::uintptr_t>(function) << 1 | (name[0] == 'P' ? 1u : 0u);
  if (void* const wrapper = known_wrappers.of(number); wrapper != nullptr) return wrapper;
  void* const wrapper = find_wrapper(handle, name, function);
  if (wrapper != nullptr) {
    known_wrappers.add(number, wrapper);
    dlerror();  // a search on the way may have failed
  }
  return wrapper;
}

// Whether a module has a function of this name, as MPI's or as PMPI's.
bool has_function_of(const link_map* module, const char* name) {
  void* const opened = dlopen(module->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) return false;
  const auto has = [=](const char* one) {
    const void* const found = find_symbol(opened, one);  // in this one, or in one that it needs
    return found != nullptr && module_of(found) == module;
  };
  std::array<char, 128> of_pmpi{'P'};
  const char* const of_mpi = name[0] == 'P' ? name + 1 : name;
  std::strncpy(of_pmpi.data() + 1, of_mpi, of_pmpi.size() - 2);
  const bool has_one = has(of_mpi) || has(of_pmpi.data());
  dlclose(opened);
  return has_one;
}

bool is_behind(const link_map* module, const link_map* other) {
  while (other != nullptr && other != module) other = other->l_next;
  return other != nullptr;
}

// For a library between this one and MPI's that asks for MPI's function by RTLD_NEXT: from there, no search finds the
// wrapper. A tool asks so, too, to go on from its own function of that name: it gets what it asks for. So does a
// library behind a tool, which would hear of calls that do not reach it.
void* wrapper_for_next(const char* name, const void* caller) {
  const link_map* const asking = module_of(caller);
  const auto* const own = static_cast<const link_map*>(own_library());
  if (asking == nullptr || own == nullptr || !is_behind(asking, own->l_next)) return nullptr;
  const void* const of_mpi = find_in_mpi(name);
  if (of_mpi == nullptr || !is_of_own_mpi(of_mpi) || !is_behind(module_of(of_mpi), asking->l_next)) return nullptr;
  const void* const next = find_next(name);
  const link_map* const behind = module_of(next);
  const bool passes_none = is_behind(behind, asking->l_next) || is_library_of_ours(base_name(behind->l_name));
  void* const wrapper = passes_none && !has_function_of(asking, name) ? wrapper_before(next, name) : nullptr;
  dlerror();  // a search on the way may have failed
  return wrapper;
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
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void* halcyon_looked_up(void* handle, const char* name,
                                                                              const void* caller) noexcept {
  using namespace halcyon;
  next_dlsym();  // found, for the jump
  if (handle == RTLD_DEFAULT || name == nullptr) return nullptr;
  const char* const without_p = name[0] == 'P' ? name + 1 : name;
  const bool is_of_mpi = without_p[0] == 'M' && without_p[1] == 'P' && without_p[2] == 'I';
  if (!is_of_mpi || !answers_lookups()) return nullptr;
  return handle == RTLD_NEXT ? wrapper_for_next(name, caller) : wrapper_of(handle, name);
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
mov 16(%rsp), %rdx
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
mov x2, x30
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

extern "C" {

HALCYON_EXPORT int dladdr(const void* address, Dl_info* place) noexcept {
  static constinit std::atomic<void*> next{nullptr};
  return halcyon::place_as_without_wrapper(address, place, [place](const void* asked) {
    return reinterpret_cast<decltype(&dladdr)>(halcyon::next_once(next, "dladdr"))(asked, place);
  });
}

HALCYON_EXPORT int dladdr1(const void* address, Dl_info* place, void** extra, int flags) noexcept {
  static constinit std::atomic<void*> next{nullptr};
  return halcyon::place_as_without_wrapper(address, place, [=](const void* asked) {
    return reinterpret_cast<decltype(&dladdr1)>(halcyon::next_once(next, "dladdr1"))(asked, place, extra, flags);
  });
}
}
