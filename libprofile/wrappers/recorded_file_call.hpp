// One recorded call of POSIX or stdio in libhalcyon.so. The notes of posix.table are its member functions.
#pragma once

#include <unistd.h>

#include "libprofile/interpose/posix.hpp"
#include "libprofile/wrappers/recorded_call.hpp"

namespace halcyon {

/// A call about files. One about anything else is not recorded: its CPU time is the program's work, and what it waits
/// for is the program's business.
class RecordedFileCall : public RecordedCall {
 public:
  /// `files`: what the call is about. A call that opens a path has none yet.
  template <class... Files>
  [[gnu::always_inline]] RecordedFileCall(CallClass call_class, Caller caller, Files... files) noexcept
      : RecordedCall(call_class, caller, [=](const ThreadState& thread) { return is_recorded(thread, files...); }) {}

  /// What was opened is no file.
  void was_no_file() { leave_out(); }

  // -- the notes of the table

  template <class File>
  void opened(File file) {
    if (is_file(file)) file_open();
  }
  void closed(unsigned files) {
    for (; files > 0; --files) file_close();
  }
  template <class File, class Size>
  void read_from(File, Size size) {
    file_read(static_cast<std::uint64_t>(size));
  }
  void written_to(int, ssize_t size) { file_write(static_cast<std::uint64_t>(size)); }
  void written_to(FILE*, std::uint64_t size) {
    if (size > 0) file_write(size);  // fwrite returns 0 on failure
  }
  void character_from(FILE*) { move(Feature::bytes_read, 1); }
  void character_to(FILE*) { move(Feature::bytes_written, 1); }
  /// An asynchronous operation has ended, and moved so much.
  void moved(int operation, int file, ssize_t size) {
    constexpr int large_file = 128;  // glibc adds it for aio_read64 and aio_write64
    if ((operation & ~large_file) == LIO_READ) read_from(file, size);
    if ((operation & ~large_file) == LIO_WRITE) written_to(file, size);
  }

 private:
  template <class... Files>
  [[gnu::always_inline]] static bool is_recorded(const ThreadState& thread, Files... files) noexcept {
    if (!thread.is_application) return false;
    if (sizeof...(files) > 0 && !(is_file(files) || ...)) return false;
    // A child of vfork shares this memory, and only getpid() tells it from its parent. It must not use streams.
    constexpr bool only_streams = sizeof...(files) > 0 && (std::is_same_v<Files, FILE*> && ...);
    return only_streams || getpid() == recorder->run.process;
  }
};

}  // namespace halcyon
