#include "libprofile/record/python.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <functional>

#include "libprofile/interpose/next.hpp"

namespace halcyon {
namespace {

// Of CPython's C API, with opaque pointers: what is used is the same from 3.9 on, and PyPy has it under other names.
struct Interpreter {
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
#define HALCYON_PYTHON_POINTER(result, name, parameters) result(*name) parameters = nullptr;
  HALCYON_PYTHON_FUNCTIONS(HALCYON_PYTHON_POINTER)
#undef HALCYON_PYTHON_POINTER

  bool load() {
#define HALCYON_PYTHON_LOAD(result, name, parameters)                  \
  name = reinterpret_cast<decltype(name)>(dlsym(RTLD_DEFAULT, #name)); \
  if (name == nullptr) return false;
    HALCYON_PYTHON_FUNCTIONS(HALCYON_PYTHON_LOAD)
#undef HALCYON_PYTHON_LOAD
#undef HALCYON_PYTHON_FUNCTIONS
    return true;
  }
};

Interpreter api;

/// A reference of our own to an object, or to none.
class Reference {
 public:
  explicit Reference(void* owned) : object_(owned) {}
  ~Reference() {
    if (object_ != nullptr) api.Py_DecRef(object_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  void* get() const { return object_; }
  void become(void* owned) {
    if (object_ != nullptr) api.Py_DecRef(object_);
    object_ = owned;
  }

 private:
  void* object_;
};

// mpi4py lets go of the interpreter's lock while it is in MPI. It is taken where no other thread can hold it, so that
// nobody waits here for Python's other threads, nor they for us. Only this thread's own state is looked into before.
bool may_be_asked() {
  if (api.Py_IsInitialized() == 0) return false;
  void* const own = api.PyGILState_GetThisThreadState();
  if (own == nullptr) return false;
  if (api.PyGILState_Check() != 0) return true;
  return api.PyInterpreterState_ThreadHead(api.PyThreadState_GetInterpreter(own)) == own &&
         api.PyThreadState_Next(own) == nullptr;
}

bool is_file_of_mpi4py(std::string_view path) { return path.find("/mpi4py/") != std::string_view::npos; }

}  // namespace

void Python::find() { is_found_ = api.load(); }

// MPI.cpython-311-x86_64-linux-gnu.so, and such that wheels have for several MPI libraries.
bool Python::looks_like_mpi4py(const void* site) {
  Dl_info info{};
  const bool is_there = dladdr(site, &info) != 0 && info.dli_fname != nullptr && is_file_of_mpi4py(info.dli_fname) &&
                        std::string_view(base_name(info.dli_fname)).starts_with("MPI.");
  (is_there ? of_mpi4py_ : elsewhere_).add(site);
  return is_there;
}

const void* Python::line_behind(const void* site) {
  if (!may_be_asked()) return site;
  const PythonPlace* place = nullptr;
  const int state = api.PyGILState_Ensure();
  // Nothing is asked beside an exception that is on its way: it would be taken for one of ours.
  if (api.PyErr_Occurred() == nullptr) {
    constexpr int most_frames = 16;
    void* const innermost = api.PyEval_GetFrame();  // borrowed
    if (innermost != nullptr) api.Py_IncRef(innermost);
    Reference frame(innermost);
    for (int i = 0; i < most_frames && frame.get() != nullptr && place == nullptr; ++i) {
      const Reference code(api.PyFrame_GetCode(frame.get()));
      const Reference file(api.PyObject_GetAttrString(code.get(), "co_filename"));
      const char* path = file.get() != nullptr ? api.PyUnicode_AsUTF8(file.get()) : nullptr;
      if (path == nullptr) break;
      // mpi4py calls itself: mpi4py.util, mpi4py.futures.
      if (!is_file_of_mpi4py(path)) {
        place = known_place(base_name(path), api.PyFrame_GetLineNumber(frame.get()));
        break;
      }
      frame.become(api.PyFrame_GetBack(frame.get()));
    }
    if (api.PyErr_Occurred() != nullptr) api.PyErr_Clear();
  }
  api.PyGILState_Release(state);
  return place != nullptr ? static_cast<const void*>(place) : site;
}

// Under the interpreter's lock. Null where there is no room.
const PythonPlace* Python::known_place(std::string_view file, int line) {
  file = file.substr(0, std::tuple_size_v<decltype(PythonPlace::file)> - 1);
  const std::size_t known = known_places_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < known; ++i) {
    if (places_[i].line == line && file == places_[i].file.data()) return &places_[i];
  }
  if (known == places_.size()) return nullptr;
  std::copy(file.begin(), file.end(), places_[known].file.begin());
  places_[known].line = line;
  known_places_.store(known + 1, std::memory_order_release);
  return &places_[known];
}

const PythonPlace* Python::place_at(const void* address) const {
  const auto* place = static_cast<const PythonPlace*>(address);
  const std::less<> is_before;
  const bool is_inside = !is_before(place, places_.data()) && is_before(place, places_.data() + places_.size());
  return is_inside ? place : nullptr;
}

}  // namespace halcyon
