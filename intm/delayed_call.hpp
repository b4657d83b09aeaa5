// One call of the program in libintm.so, and where it is delayed.
#pragma once

#include <stdio_ext.h>

#include "intm/injector.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/interpose/posix.hpp"

namespace halcyon {

/// One call of the application, or of a tool that is preloaded before this library. MPI calls are delayed before they
/// begin. Calls that MPI makes inside are not delayed again.
class DelayedCall {
 public:
  [[gnu::always_inline]] DelayedCall(CallClass call_class, Caller caller)
      : DelayedCall(caller, !outermost_call.is_around(caller)) {
    if (outermost_) inject(call_class);
  }
  ~DelayedCall() {
    if (outermost_) outermost_call.end();
  }
  DelayedCall(const DelayedCall&) = delete;
  DelayedCall& operator=(const DelayedCall&) = delete;

  bool records() const { return outermost_; }
  void ended() {}

 protected:
  DelayedCall(Caller caller, bool outermost) : outermost_(outermost) {
    if (outermost_) outermost_call.begin(caller);
  }

 private:
  bool outermost_;
};

/// A call about files: they are delayed when they have ended, since only then it is known whether they reached the file
/// system. `files`: what the call is about. A call that opens a path has none yet.
class DelayedFileCall : public DelayedCall {
 public:
  template <class... Files>
  [[gnu::always_inline]] DelayedFileCall(CallClass, Caller caller, Files... files)
      : DelayedCall(caller, is_injecting() && !outermost_call.is_around(caller) &&
                                (sizeof...(files) == 0 || (is_file(files) || ...))) {}

  void was_no_file() {}

  /// Notes the contents of a stream's buffer. If the buffer serves a stdio call, the call does not reach the file
  /// system, so it is not delayed.
  void remember_buffer_of(FILE* stream) {
    if (stream == nullptr) return;
    to_read_ = static_cast<std::size_t>(stream->_IO_read_end - stream->_IO_read_ptr);
    to_write_ = __fpending(stream);
  }

  template <class File>
  void opened(File file) {
    if (is_file(file)) inject(CallClass::posixio);
  }
  void closed(unsigned files) {
    if (files > 0) inject(CallClass::posixio);
  }
  void read_from(int file, ssize_t) { opened(file); }
  void written_to(int file, ssize_t) { opened(file); }
  void read_from(FILE* stream, std::size_t size) {
    if (size > to_read_) opened(stream);
  }
  void written_to(FILE* stream, std::size_t size) {
    if (__fpending(stream) < to_write_ + size) opened(stream);
  }
  void character_from(FILE* stream) { read_from(stream, 1); }
  void character_to(FILE* stream) { written_to(stream, 1); }
  /// An asynchronous operation has ended.
  void moved(int, int file, ssize_t) { opened(file); }

 private:
  std::size_t to_read_ = 0;
  std::size_t to_write_ = 0;
};

}  // namespace halcyon
