#include "libprofile/record/python.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <functional>

#include "libprofile/interpose/next.hpp"

namespace halcyon {
namespace {

/// Owns a reference to an object, or to none.
class Reference {
 public:
  Reference(const PythonApi& api, void* owned) : api_(api), object_(owned) {}
  ~Reference() { become(nullptr); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  void* get() const { return object_; }
  void become(void* owned) {
    if (object_ != nullptr) api_.Py_DecRef(object_);
    object_ = owned;
  }

 private:
  const PythonApi& api_;
  void* object_;
};

// mpi4py releases the interpreter's lock while it is in MPI. It may be taken again only if no other thread can hold it,
// so that this thread and Python's other threads never wait for each other. Until then, only this thread's own state is
// read.
bool may_be_asked(const PythonApi& api) {
  if (api.Py_IsInitialized() == 0) return false;
  void* const own = api.PyGILState_GetThisThreadState();
  if (own == nullptr) return false;
  if (api.PyGILState_Check() != 0) return true;
  return api.PyInterpreterState_ThreadHead(api.PyThreadState_GetInterpreter(own)) == own &&
         api.PyThreadState_Next(own) == nullptr;
}

bool is_file_of_mpi4py(std::string_view path) { return path.find("/mpi4py/") != std::string_view::npos; }

}  // namespace

bool PythonApi::load() noexcept {
  bool complete = true;
#define HALCYON_PYTHON_LOAD(result, name, parameters)                        \
  name = reinterpret_cast<decltype(name)>(find_symbol(RTLD_DEFAULT, #name)); \
  complete = complete && name != nullptr;
  HALCYON_PYTHON_FUNCTIONS(HALCYON_PYTHON_LOAD)
#undef HALCYON_PYTHON_LOAD
  return complete;
}

void Python::find() { is_found_ = api_.load(); }

// The module is MPI.cpython-311-x86_64-linux-gnu.so, or one of those that wheels have for several MPI libraries.
bool Python::looks_like_mpi4py(const void* site) {
  Dl_info info{};
  const bool is_there = dladdr(site, &info) != 0 && info.dli_fname != nullptr && is_file_of_mpi4py(info.dli_fname) &&
                        std::string_view(base_name(info.dli_fname)).starts_with("MPI.");
  (is_there ? of_mpi4py_ : elsewhere_).add(site);
  return is_there;
}

const void* Python::line_behind(const void* site) {
  if (!may_be_asked(api_)) return site;
  const PythonPlace* place = nullptr;
  const int state = api_.PyGILState_Ensure();
  // Python is not asked while an exception is pending, which would be taken for one of these calls' own.
  if (api_.PyErr_Occurred() == nullptr) {
    constexpr int most_frames = 16;
    void* const innermost = api_.PyEval_GetFrame();  // borrowed
    if (innermost != nullptr) api_.Py_IncRef(innermost);
    Reference frame(api_, innermost);
    for (int i = 0; i < most_frames && frame.get() != nullptr && place == nullptr; ++i) {
      const Reference code(api_, api_.PyFrame_GetCode(frame.get()));
      const Reference file(api_, api_.PyObject_GetAttrString(code.get(), "co_filename"));
      const char* path = file.get() != nullptr ? api_.PyUnicode_AsUTF8(file.get()) : nullptr;
      if (path == nullptr) break;
      // Skips mpi4py's own frames, since it calls itself: mpi4py.util, mpi4py.futures.
      if (!is_file_of_mpi4py(path)) {
        place = known_place(base_name(path), api_.PyFrame_GetLineNumber(frame.get()));
        break;
      }
      frame.become(api_.PyFrame_GetBack(frame.get()));
    }
    if (api_.PyErr_Occurred() != nullptr) api_.PyErr_Clear();
  }
  api_.PyGILState_Release(state);
  return place != nullptr ? static_cast<const void*>(place) : site;
}

// Needs the interpreter's lock. Null if there is no room.
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
