#include "libprofile/interpose/next.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <string_view>

#include "libprofile/interpose/loaded_module.hpp"
#include "libprofile/interpose/mpi_names.hpp"

namespace halcyon {

const char* base_name(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool is_language_layer(const char* path) noexcept {
  const std::string_view name = base_name(path);
  return name.starts_with("libmpi_") || name.starts_with("libmpifort.so") || name.starts_with("libmpichfort.so");
}

namespace {

constexpr int error_of_an_absent_function = 16;  // any non-zero code is a failure

int absent_in_mpi() { return error_of_an_absent_function; }
long absent_in_libc() {
  errno = ENOSYS;
  return -1;
}

bool is_of_mpi(std::string_view name) {
  if (name.starts_with('P') || name.starts_with('p')) name.remove_prefix(1);
  return name.starts_with("MPI") || name.starts_with("mpi");
}

// Before glibc 2.34, these are in a library of their own, which a plugin may load later into its own scope: too late
// for a function that a signal handler may be the first to call.
bool was_of_librt(std::string_view name) {
  return name.starts_with("aio_") || name.starts_with("lio_") || name.starts_with("shm_");
}

// The library whose path `is_wanted`, number `index` of these; null if there are not so many. Never loads one.
//
// dl_iterate_phdr holds one of the loader's locks, and dlopen takes another one before it: so the library is opened
// afterwards.
void* loaded_library(bool (*is_wanted)(const char* path), int index) {
  struct Search {
    bool (*is_wanted)(const char* path);
    int before;  // so many come first
    char path[PATH_MAX];
  };
  Search search{is_wanted, index, {}};
  const auto look = [](dl_phdr_info* info, size_t, void* argument) {
    auto& sought = *static_cast<Search*>(argument);
    if (info->dlpi_name == nullptr || !sought.is_wanted(info->dlpi_name) || sought.before-- > 0) return 0;
    std::strncpy(sought.path, info->dlpi_name, sizeof sought.path - 1);
    return 1;
  };
  return dl_iterate_phdr(look, &search) != 0 ? dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

// Of a device or of OpenMP. Packages of Python put a hash behind the name.
bool is_optional_library(const char* path) {
  const std::string_view name = base_name(path);
  constexpr std::array<std::string_view, 7> names{"libOpenCL", "libcudart", "libcuda", "libamdhip64",
                                                  "libgomp",   "libomp",    "libiomp5"};
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) {
    return name.starts_with(one) && name.size() > one.size() && (name[one.size()] == '.' || name[one.size()] == '-');
  });
}

const void* base_of_module(const void* address) {
  Dl_info info;
  return find_place(address, info) ? info.dli_fbase : nullptr;
}
const void* own_base() { return base_of_module(reinterpret_cast<void*>(&find_next)); }

// The versions of these functions that each glibc for this processor has.
#if defined(__x86_64__)
constexpr char oldest_dlsym[] = "GLIBC_2.2.5";
constexpr char oldest_dladdr1[] = "GLIBC_2.3.3";
#elif defined(__aarch64__)
constexpr char oldest_dlsym[] = "GLIBC_2.17";
constexpr char oldest_dladdr1[] = "GLIBC_2.17";
#endif

#if defined(__x86_64__) || defined(__aarch64__)
// A function of the loader that this library has, too: asked for by version, it is libc's. That is behind this library,
// or in front of it if it is preloaded itself.
//
// The first search may come from the start of another library, before anything is initialised.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void* of_libc(void*& known, const char* name,
                                                                    const char* oldest) {
  void* found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = dlvsym(RTLD_NEXT, name, oldest);
    if (found == nullptr) found = dlvsym(RTLD_DEFAULT, name, oldest);
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return found;
}
#endif

void* not_own(void* function) {
  return function != nullptr && base_of_module(function) != own_base() ? function : nullptr;
}

// What a module finds in the libraries that it was loaded with. Not that of this library: a function that we have
// called may end with a jump to one of ours, which then seems to be called from here.
void* find_beside(const void* site, const char* name) {
  Dl_info info;
  if (!find_place(site, info) || info.dli_fbase == own_base()) return nullptr;
  void* const module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) return nullptr;
  void* const found = not_own(find_symbol(module, name));
  dlclose(module);
  return found;
}

// Libraries in which a function of a device or of OpenMP was found. They stay open, since the address is remembered.
std::array<std::atomic<void*>, 16> kept_libraries;

void keep(void* function) {
  Dl_info info;
  void* const library = find_place(function, info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return;
  for (std::atomic<void*>& kept : kept_libraries) {
    void* none = nullptr;
    if (kept.compare_exchange_strong(none, library) || none == library) return;
  }
}

void* find_in_kept_library(const char* name) {
  for (const std::atomic<void*>& kept : kept_libraries) {
    void* const library = kept.load();
    void* const found = library != nullptr ? not_own(find_symbol(library, name)) : nullptr;
    if (found != nullptr) return found;
  }
  return nullptr;
}

// Searches the libraries of MPI's Fortran layer, which a plugin may have loaded into its own scope. They stay open,
// since the addresses found in them are remembered.
void* find_in_language_layer(const char* name) {
  for (int index = 0;; ++index) {
    void* const library = loaded_library(is_language_layer, index);
    if (library == nullptr) return nullptr;
    if (void* const found = find_symbol(library, name); found != nullptr) return found;
  }
}

}  // namespace

[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void* find_symbol(void* handle, const char* name) noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
  static constinit void* known = nullptr;
  return reinterpret_cast<decltype(&dlsym)>(of_libc(known, "dlsym", oldest_dlsym))(handle, name);
#else
  return dlsym(handle, name);
#endif
}

[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool find_place(const void* address, Dl_info& place,
                                                                      link_map** module) noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
  static constinit void* known = nullptr;
  const auto ask = reinterpret_cast<decltype(&dladdr1)>(of_libc(known, "dladdr1", oldest_dladdr1));
#else
  const auto ask = &dladdr1;
#endif
  link_map* of_place = nullptr;
  const bool is_found = ask(address, &place, reinterpret_cast<void**>(&of_place), RTLD_DL_LINKMAP) != 0;
  if (module != nullptr) *module = of_place;
  return is_found;
}

void* mpi_library() noexcept {
  static std::atomic<void*> known;
  void* handle = known.load(std::memory_order_acquire);
  if (handle == nullptr) {
    handle = loaded_library([](const char* path) { return is_mpi_library(base_name(path)); }, 0);
    known.store(handle, std::memory_order_release);
  }
  return handle;
}

void* find_in_mpi(const char* name) noexcept {
  void* library = mpi_library();
  return library != nullptr ? find_symbol(library, name) : find_symbol(RTLD_NEXT, name);
}

void* find_mpi_data(const char* name) noexcept {
  void* data = find_symbol(RTLD_DEFAULT, name);
  return data != nullptr ? data : find_in_mpi(name);
}

void* find_next(const char* name) noexcept {
  void* next = find_symbol(RTLD_NEXT, name);
  if (!is_of_mpi(name)) {
    void* const librt = next == nullptr && was_of_librt(name) ? dlopen("librt.so.1", RTLD_LAZY) : nullptr;
    if (librt != nullptr) next = find_symbol(librt, name);
    if (next == nullptr) next = not_own(find_symbol(RTLD_DEFAULT, name));
    return next != nullptr ? next : reinterpret_cast<void*>(&absent_in_libc);
  }
  if (next == nullptr) next = find_in_mpi(name);
  if (next == nullptr) next = find_in_language_layer(name);
  return next != nullptr ? next : reinterpret_cast<void*>(&absent_in_mpi);
}

void* find_and_keep(std::atomic<void*>& known, const char* name) noexcept {
  void* const next = find_next(name);
  if (next != reinterpret_cast<void*>(&absent_in_mpi)) known.store(next, std::memory_order_relaxed);
  return next;
}

void* NextByCaller::of_site(const char* name, const void* site) noexcept {
  if (void* const next = find_symbol(RTLD_NEXT, name); next != nullptr) {
    keep(next);
    of_all_.store(next, std::memory_order_relaxed);
    return next;
  }
  const auto number = reinterpret_cast<std::uintptr_t>(site);
  Known& known = known_[(number >> 4) % std::size(known_)];
  if (const std::uintptr_t next = known.next.load(std::memory_order_relaxed);
      next != 0 && (known.mixed.load(std::memory_order_relaxed) ^ next) == number) {
    return reinterpret_cast<void*>(next);
  }
  void* next = find_beside(site, name);
  if (next == nullptr) next = find_in_kept_library(name);
  for (int index = 0; next == nullptr; ++index) {
    void* const library = loaded_library(is_optional_library, index);
    if (library == nullptr) return nullptr;
    next = not_own(find_symbol(library, name));
    dlclose(library);
  }
  keep(next);
  known.next.store(reinterpret_cast<std::uintptr_t>(next), std::memory_order_relaxed);
  known.mixed.store(reinterpret_cast<std::uintptr_t>(next) ^ number, std::memory_order_relaxed);
  return next;
}

bool is_of_program(const void* function) noexcept {
  struct Search {
    std::uintptr_t address;
    std::uintptr_t begin = 0;  // of the module that has it
    std::uintptr_t end = 0;
    bool is_of_program = false;
  };
  static Search last{};  // nearly all functions are libc's
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  if (address >= last.begin && address < last.end) return last.is_of_program;
  const auto look = [](dl_phdr_info* info, size_t, void* argument) {
    auto& sought = *static_cast<Search*>(argument);
    const LoadedModule module(*info);
    if (!module.contains(sought.address)) return 0;
    sought.begin = info->dlpi_addr;
    sought.end = module.end();
    const std::string_view file = base_name(info->dlpi_name);
    // The last two are libc's, too: before glibc 2.34 by themselves.
    sought.is_of_program =
        !file.starts_with("libc.so") && !file.starts_with("libpthread.so") && !file.starts_with("librt.so");
    module.for_each_reference([&sought](std::string_view name, std::uintptr_t) {
      if (name == "dlsym" || name == "dlvsym") sought.is_of_program = false;
    });
    return 1;
  };
  last = {.address = address};
  dl_iterate_phdr(look, &last);
  return last.is_of_program;
}

}  // namespace halcyon
