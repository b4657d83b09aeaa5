#include "libprofile/interpose/next.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include "libprofile/interpose/mpi_names.hpp"

namespace halcyon {

const char* base_name(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

namespace {

constexpr int error_of_an_absent_function = 16;  // any non-zero code is a failure

int absent() { return error_of_an_absent_function; }

bool is_language_layer(const char* path) {
  const std::string_view name = base_name(path);
  return name.starts_with("libmpi_") || name.starts_with("libmpifort.so") || name.starts_with("libmpichfort.so");
}

// The MPI library that is already in the process; this function never loads one.
void* mpi_library() {
  static std::atomic<void*> known;
  void* handle = known.load(std::memory_order_acquire);
  if (handle == nullptr) {
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* found) {
          if (info->dlpi_name == nullptr || !is_mpi_library(base_name(info->dlpi_name))) return 0;
          *static_cast<void**>(found) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
          return 1;
        },
        static_cast<void*>(&handle));
    known.store(handle, std::memory_order_release);
  }
  return handle;
}

struct Wanted {
  const char* name;
  void* found;
};

// Searches the libraries of MPI's Fortran layer, which a plugin may have loaded into its own scope. They stay open,
// since the addresses found in them are remembered.
void* find_in_language_layer(const char* name) {
  Wanted wanted{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* sought = static_cast<Wanted*>(argument);
        if (info->dlpi_name == nullptr || !is_language_layer(info->dlpi_name)) return 0;
        void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library != nullptr) sought->found = dlsym(library, sought->name);
        return sought->found != nullptr ? 1 : 0;
      },
      &wanted);
  return wanted.found;
}

}  // namespace

void* find_in_mpi(const char* name) noexcept {
  void* library = mpi_library();
  return library != nullptr ? dlsym(library, name) : dlsym(RTLD_NEXT, name);
}

void* find_mpi_data(const char* name) noexcept {
  void* data = dlsym(RTLD_DEFAULT, name);
  return data != nullptr ? data : find_in_mpi(name);
}

void* find_next(const char* name) noexcept {
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) next = find_in_mpi(name);
  if (next == nullptr) next = find_in_language_layer(name);
  return next != nullptr ? next : reinterpret_cast<void*>(&absent);
}

}  // namespace halcyon
