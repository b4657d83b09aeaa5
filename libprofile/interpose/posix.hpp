// Questions about a POSIX or stdio call that the wrappers of both tools ask.
#pragma once

#include <aio.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "libprofile/interpose/call_class.hpp"
#include "libprofile/interpose/open_files.hpp"

namespace halcyon {

inline std::uint64_t text_length(const char* text) { return text != nullptr ? std::strlen(text) : 0; }

/// CLOSE_RANGE_CLOEXEC, for which a libc before 2.34 has no name: nothing is closed yet.
constexpr int close_range_cloexec = 4;

/// Whether a POSIX or stdio call succeeded, by the type of its result.
template <class Result>
bool succeeded(Result result) {
  if constexpr (std::is_pointer_v<Result>) return result != nullptr;
  if constexpr (std::is_signed_v<Result>) return result >= 0;
  return true;
}

/// How many bytes a call like scanf takes from a stream.
class Taken {
 public:
  explicit Taken(FILE* stream)
      : stream_(stream), next_(stream->_IO_read_ptr), end_(stream->_IO_read_end), position_(where_needed()) {}

  std::int64_t bytes() const {
    if (position_ >= 0) return std::max<std::int64_t>(position() - position_, 0);
    if (stream_->_IO_read_end == end_ && stream_->_IO_read_ptr >= next_) return stream_->_IO_read_ptr - next_;
    return end_ - next_ + (stream_->_IO_read_ptr - stream_->_IO_read_base);  // the buffer was filled again
  }

 private:
  // ftello asks the kernel each time. It is needed only where the buffer may be filled more than once.
  std::int64_t where_needed() const {
    constexpr std::int64_t longest_usual = 256;  // what a scan takes
    return end_ - next_ < longest_usual ? position() : -1;
  }
  std::int64_t position() const {
    const int saved = errno;
    const off64_t position = ftello64(stream_);
    errno = saved;
    return position;
  }

  FILE* stream_;
  const char* next_;
  const char* end_;
  std::int64_t position_;
};

/// The class of a call that moves one character. If the stream's buffer serves it, the call takes less time than to
/// read the clock.
inline CallClass class_of_read(const FILE* stream) {
  return stream->_IO_read_ptr < stream->_IO_read_end ? CallClass::local : CallClass::posixio;
}
inline CallClass class_of_write(const FILE* stream) {
  return stream->_IO_write_ptr < stream->_IO_write_end ? CallClass::local : CallClass::posixio;
}

/// Requests of asynchronous I/O, which are waited for together.
template <class Request>
struct Requests {
  Request list;
  int count;
};
template <class Request>
Requests(Request, int) -> Requests<Request>;  // clang deduces it from version 17 on
template <class Request>
bool is_file(Requests<Request> requests) {
  for (int i = 0; i < requests.count; ++i) {
    if (requests.list[i] != nullptr && is_file(requests.list[i]->aio_fildes)) return true;
  }
  return false;
}

}  // namespace halcyon
