// The line of a Python program that mpi4py calls MPI for. The interpreter is found at run time, if there is one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "libprofile/interpose/known_sites.hpp"

namespace halcyon {

struct PythonPlace {
  std::array<char, 128> file{};  // its name without directories, NUL-ended
  int line = 0;
};

class Python {
 public:
  /// Looks for CPython (3.9 or later) in this process.
  void find();

  /// Whether code of mpi4py is there.
  bool is_mpi4py(const void* site) {
    return is_found_ && !elsewhere_.contains(site) && (of_mpi4py_.contains(site) || looks_like_mpi4py(site));
  }
  /// Where the Python program is that has this thread in a call of MPI from `site`, as an address that is the same
  /// each time and no code's. `site` itself where that is not mpi4py's, or Python cannot be asked.
  const void* place_of(const void* site) { return is_mpi4py(site) ? line_behind(site) : site; }
  /// What is at an address that place_of() has given; null for one of code.
  const PythonPlace* place_at(const void* address) const;

 private:
  bool looks_like_mpi4py(const void* site);
  const void* line_behind(const void* site);
  const PythonPlace* known_place(std::string_view file, int line);

  bool is_found_ = false;
  KnownSites of_mpi4py_;
  KnownSites elsewhere_;
  std::array<PythonPlace, 200> places_;  // what is beyond is told as mpi4py's own
  std::atomic<std::size_t> known_places_{0};
};

}  // namespace halcyon
