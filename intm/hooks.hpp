// What the generated wrappers of libintm.so call.
#pragma once

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include "intm/injector.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/interpose/posix.hpp"

namespace halcyon {

/// One call of the application or of a tool in front of this one. MPI calls are delayed before they begin; file calls when
/// they are known to have met a regular file. What MPI calls inside is never delayed again.
class Call {
 public:
  explicit Call(CallClass call_class) : outermost_(injector_depth == 0) {
    ++injector_depth;
    if (outermost_ && call_class != CallClass::posixio) inject(call_class);
  }
  ~Call() { --injector_depth; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool records() const { return outermost_; }
  void ended() {}

  template <class File>
  void opened(File file) {
    if (is_regular(file)) inject(CallClass::posixio);
  }
  void closed(bool was_regular) {
    if (was_regular) inject(CallClass::posixio);
  }
  template <class File, class Size>
  void read_from(File file, Size) {
    opened(file);
  }
  template <class File, class Size>
  void written_to(File file, Size) {
    opened(file);
  }

 private:
  bool outermost_;
};

}  // namespace halcyon
