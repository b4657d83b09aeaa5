// The way from a rank to the process of its host that alone touches the spool (spool_keeper_main.cpp). Nothing
// interrupts a call of the kernel that waits for a file system, and a process that has a thread in one cannot end: so
// the ranks send that process what they would write.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// What a rank asks for, before the bytes of the request. Each is answered by an `int`: 0, or errno. EINPROGRESS says
/// that the answer takes longer.
struct SpoolRequest {
  enum Kind : std::uint32_t {
    create,      // the part whose beginning is at `offset`; its directory and its path, each ended by a zero
    write,       // these bytes at `offset` of its file
    remove,      // the file; as `create`
    remove_run,  // the files of all ranks of the run; as `create`. What was saved is judged then
    save,        // the frames in the file that comes with the request; as `create`, with the profile's path
  };
  std::uint64_t kind = create;
  std::uint64_t offset = 0;
};
/// A request has no more bytes than this: some have room in a socket.
inline constexpr std::size_t most_in_spool_request = std::size_t{64} << 10;

/// What is asked for is answered by 0 or errno. A rank waits for an answer for a few seconds, and then no more until
/// one has come: until then nothing is sent, unless it may be the last. What was sent is written also when the rank has
/// ended. Async-signal-safe, the constructors aside.
class SpoolKeeper {
 public:
  SpoolKeeper() = default;
  /// The process of that name; none if it is empty.
  explicit SpoolKeeper(const std::string& name) : name_(name) {}

  /// Whether there is one here, which belongs to this user: looked up once. `spare`: gives its number to the socket.
  bool is_there(OwnDescriptor& spare);
  /// It does not answer. One that has ended does not hang.
  bool hangs();
  /// What is asked for from now on may be the last, since the rank may be killed soon: all is sent before any answer is
  /// waited for, by wait_for_answers().
  void hurry(bool is_last) { is_last_ = is_last; }
  bool hurries() const { return is_last_; }
  /// What the first failed by. 0 also where there is no answer to what may be the last.
  int wait_for_answers();

  /// Nothing more is asked for.
  void let_go();

  int create(const char* directory, const char* path, std::uint64_t beginning_at);
  /// Changes `pieces`.
  int write(std::uint64_t offset, std::span<iovec> pieces);
  int remove(const char* directory, const char* path);
  int remove_run(const char* directory, const char* path);
  /// `frames`: the descriptor of a file that holds all of a run. They stay only if remove_run() follows. Not
  /// async-signal-safe.
  int save(const std::string& profile, int frames);

 private:
  int ask_about(SpoolRequest::Kind kind, std::uint64_t offset, const char* directory, const char* path, int file = -1);
  int send(const SpoolRequest& request, std::span<const iovec> bytes, int file = -1);
  void take_answers();
  bool has_waited_long_enough() const;
  bool wait(short events);
  int give_up(int error);

  enum class State : std::uint8_t { unknown, there, none, silent, lost };  // silent: from the beginning
  std::string name_;
  OwnDescriptor socket_;
  State state_ = State::unknown;
  bool is_last_ = false;
  bool has_answered_ = false;     // once
  std::uint64_t unanswered_ = 0;  // requests
  std::uint64_t until_ = 0;       // this rank waits for them, in ns of the monotonic clock; 0: it does not yet
  int failed_ = 0;                // what the first of them failed by
};

}  // namespace halcyon
