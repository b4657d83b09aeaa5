// Finds the function that a wrapper stands in front of: the next symbol of the same name in the process.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>

#define HALCYON_EXPORT __attribute__((visibility("default")))

namespace halcyon {

/// A handle that is an int in this build's MPI family, passed on as the whole register. In a process with another
/// family, where the tools do nothing, it is a pointer, which an int would truncate.
template <class Handle>
struct Whole {
  std::uint64_t bits;
  operator Handle() const { return static_cast<Handle>(bits); }
};

/// A handle as a wrapper takes and passes it.
template <class Handle>
using Passed = std::conditional_t<std::is_pointer_v<Handle>, Handle, Whole<Handle>>;

/// The file name at the end of a path.
const char* base_name(const char* path) noexcept;

/// Whether this is the file name of a recorder or an injector, for any MPI.
constexpr bool is_library_of_ours(std::string_view name) {
  return name.starts_with("libhalcyon") || name.starts_with("libintm");
}

/// Whether this is a library of MPI's Fortran or C++ interface.
bool is_language_layer(const char* path) noexcept;

/// libc's dlsym(), past those of the tools, and asked by this library: RTLD_NEXT means the libraries behind it.
void* find_symbol(void* handle, const char* name) noexcept;

/// libc's dladdr(), past those of the tools: where the code is, be it a wrapper. With `module`, the loader's name of
/// that module, too.
bool find_place(const void* address, Dl_info& place, link_map** module = nullptr) noexcept;

/// The MPI library that is already in the process, as dlopen() returns it: the first one, if there are several. It
/// stays open. Null if there is none.
void* mpi_library() noexcept;

/// The next definition of `name` after this library in load order, so that preloaded tools stack. If the MPI library
/// was opened with RTLD_LOCAL (mpi4py, Julia), `name` is looked up in that library. Never null: if no library has the
/// function, the result is a function that returns an error. Not async-signal-safe.
void* find_next(const char* name) noexcept;
/// The same, kept in `known`; but not the lack of a function of MPI, whose library may be opened later.
void* find_and_keep(std::atomic<void*>& known, const char* name) noexcept;

/// Whether a function that find_next() has found under a name of libc's is something else that a library of the program
/// calls so: neither libc's, nor that of a tool in front of it, which has to look libc's up. Not async-signal-safe.
bool is_of_program(const void* function) noexcept;

/// A function of that type that fails: with an error code, or by mapping nothing.
template <class Result, class... Parameters>
auto absent_on_device(Result (*)(Parameters...)) noexcept {
  return +[](Parameters...) -> Result {
    if constexpr (std::is_pointer_v<Result>) {
      return nullptr;
    } else {
      return 500;  // "not found" of CUDA and HIP; to OpenCL, any code but zero is a failure
    }
  };
}

/// find_next(name), looked up once and kept in `known`. Several threads may look it up at once; all find the same
/// address. Relaxed order is enough: no thread has written the code at that address.
inline void* next_once(std::atomic<void*>& known, const char* name) noexcept {
  void* const next = known.load(std::memory_order_relaxed);
  return __builtin_expect(next != nullptr, 1) ? next : find_and_keep(known, name);
}

/// The function of a name that a caller would reach without this library in front of it. A process may hold several
/// libraries that have it, each for the modules that need that one, such as those of a Python package: then it depends
/// on the caller, and what one of them begins, the same one must end.
class NextByCaller {
 public:
  /// `site`: an address in the code of the caller. Null if no library that is loaded has the function.
  void* of(const char* name, const void* site) noexcept {
    void* const next = of_all_.load(std::memory_order_relaxed);
    return __builtin_expect(next != nullptr, 1) ? next : of_site(name, site);
  }

 private:
  // A function, and that address with the site's bits turned over: both fit together only if one thread wrote them.
  struct Known {
    std::atomic<std::uintptr_t> next;
    std::atomic<std::uintptr_t> mixed;
  };
  void* of_site(const char* name, const void* site) noexcept;

  std::atomic<void*> of_all_{nullptr};  // callers, as the whole process can see it
  Known known_[16] = {};
};

/// The function of a device's library, or one that fails: a library may be opened later.
template <class Pointer>
Pointer next_of_device(NextByCaller& known, const char* name, const void* site) noexcept {
  void* const next = known.of(name, site);
  return next != nullptr ? reinterpret_cast<Pointer>(next) : absent_on_device(Pointer{});
}

/// The symbol as the MPI library itself defines it, bypassing every interposed tool. Null if there is none. Data
/// symbols are looked up in the program first, which may hold a copy-relocated instance.
void* find_in_mpi(const char* name) noexcept;
void* find_mpi_data(const char* name) noexcept;

}  // namespace halcyon
