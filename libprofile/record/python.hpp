// Finds the line of a Python program that made mpi4py call MPI. The interpreter is found at run time, if there is one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "libprofile/interpose/known_sites.hpp"

namespace halcyon {

/// Functions of CPython's C API, with opaque pointers. They are the same from 3.9 on; PyPy has them under other names.
#define HALCYON_PYTHON_FUNCTIONS(X)                                  \
  X(int, Py_IsInitialized, ())                                       \
  X(int, PyGILState_Check, ())                                       \
  X(void*, PyGILState_GetThisThreadState, ())                        \
  X(void*, PyThreadState_GetInterpreter, (void* thread))             \
  X(void*, PyInterpreterState_ThreadHead, (void* interpreter))       \
  X(void*, PyThreadState_Next, (void* thread))                       \
  X(int, PyGILState_Ensure, ())                                      \
  X(void, PyGILState_Release, (int state))                           \
  X(void*, PyErr_Occurred, ())                                       \
  X(void, PyErr_Clear, ())                                           \
  X(void*, PyEval_GetFrame, ())                                      \
  X(void*, PyFrame_GetBack, (void* frame))                           \
  X(void*, PyFrame_GetCode, (void* frame))                           \
  X(int, PyFrame_GetLineNumber, (void* frame))                       \
  X(void*, PyObject_GetAttrString, (void* object, const char* name)) \
  X(const char*, PyUnicode_AsUTF8, (void* text))                     \
  X(void, Py_IncRef, (void* object))                                 \
  X(void, Py_DecRef, (void* object))

struct PythonApi {
#define HALCYON_PYTHON_POINTER(result, name, parameters) result(*name) parameters = nullptr;
  HALCYON_PYTHON_FUNCTIONS(HALCYON_PYTHON_POINTER)
#undef HALCYON_PYTHON_POINTER

  /// False if this process lacks one of them.
  bool load() noexcept;
};

struct PythonPlace {
  std::array<char, 128> file{};  // its name without directories, NUL-ended
  int line = 0;
};

class Python {
 public:
  /// Looks for CPython (3.9 or later) in this process.
  void find();

  /// Whether the code at `site` is mpi4py's.
  bool is_mpi4py(const void* site) {
    return is_found_ && !elsewhere_.contains(site) && (of_mpi4py_.contains(site) || looks_like_mpi4py(site));
  }
  /// The line of the Python program behind this thread's MPI call from `site`, as an address. A line always has the
  /// same address, and no code has it. Returns `site` if that is not in mpi4py, or if Python gives no answer.
  const void* place_of(const void* site) { return is_mpi4py(site) ? line_behind(site) : site; }
  /// The line behind an address from place_of(); null for an address of code.
  const PythonPlace* place_at(const void* address) const;

 private:
  bool looks_like_mpi4py(const void* site);
  const void* line_behind(const void* site);
  const PythonPlace* known_place(std::string_view file, int line);

  PythonApi api_;
  bool is_found_ = false;
  KnownSites of_mpi4py_;
  KnownSites elsewhere_;
  std::array<PythonPlace, 200> places_;  // further lines are reported as mpi4py's own call site
  std::atomic<std::size_t> known_places_{0};
};

}  // namespace halcyon
