#include "libprofile/record/parts/spool_keeper.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "libprofile/record/block/segment_block.hpp"
#include "libprofile/record/parts/spool_address.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/patience.hpp"
#include "libprofile/system/pieces.hpp"

namespace halcyon {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t longest_wait = std::uint64_t{patience.count()} * second;

// 0, or errno. All ranks of a host may come at once: one waits until there is room for it.
int connect_to(std::string_view name, OwnDescriptor& socket) {
  socket = OwnDescriptor(static_cast<int>(syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
  if (!socket) return errno;
  const timeval longest{patience.count(), 0};
  syscall(SYS_setsockopt, socket.number(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  const SpoolAddress address(name);
  const std::uint64_t until = nanoseconds_of(CLOCK_MONOTONIC) + longest_wait;
  while (syscall(SYS_connect, socket.number(), address.get(), address.size) != 0) {
    if (errno != EINTR) return errno;
    if (nanoseconds_of(CLOCK_MONOTONIC) >= until) return EAGAIN;
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (syscall(SYS_getsockopt, socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return errno;
  return peer.uid == direct::effective_user() ? 0 : EPERM;
}

}  // namespace

bool SpoolKeeper::is_there(OwnDescriptor& spare) {
  if (state_ != State::unknown) return state_ != State::none;
  state_ = State::none;
  if (name_.empty()) return false;
  spare = OwnDescriptor();  // its number is free for the socket
  const int error = connect_to(name_, socket_);
  if (error == 0) {
    state_ = State::there;
  } else {
    socket_ = OwnDescriptor();
    spare = spare_descriptor();
    if (error == EAGAIN) state_ = State::silent;
  }
  return state_ != State::none;
}

bool SpoolKeeper::hangs() {
  take_answers();
  return state_ == State::silent || (state_ == State::there && unanswered_ != 0);
}

void SpoolKeeper::let_go() {
  if (state_ == State::none || name_.empty()) return;
  state_ = State::lost;
  socket_ = OwnDescriptor();
}

int SpoolKeeper::create(const char* directory, const char* path, std::uint64_t beginning_at) {
  const int error = ask_about(SpoolRequest::create, beginning_at, directory, path);
  if (state_ == State::lost && !has_answered_) state_ = State::none;  // it was just ending
  return error;
}

int SpoolKeeper::write(std::uint64_t offset, std::span<iovec> pieces) {
  while (!pieces.empty()) {
    std::array<iovec, most_pieces_of_block + 1> some;
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (; count < std::min(some.size(), pieces.size()) && bytes < most_in_spool_request; ++count) {
      some[count] = {pieces[count].iov_base, std::min(pieces[count].iov_len, most_in_spool_request - bytes)};
      bytes += some[count].iov_len;
    }
    pieces = behind(pieces, bytes);
    const int error = send({.kind = SpoolRequest::write, .offset = offset}, {some.data(), count});
    if (error != 0) return error;
    offset += bytes;
  }
  return is_last_ ? 0 : wait_for_answers();
}

int SpoolKeeper::remove(const char* directory, const char* path) {
  hurry(true);
  ask_about(SpoolRequest::remove, 0, directory, path);
  return wait_for_answers();
}
int SpoolKeeper::remove_run(const char* directory, const char* path) {
  hurry(true);
  ask_about(SpoolRequest::remove_run, 0, directory, path);
  return wait_for_answers();
}

int SpoolKeeper::save(const std::string& profile, int frames) {
  const std::string directory = profile.substr(0, profile.rfind('/'));
  return ask_about(SpoolRequest::save, 0, directory.c_str(), profile.c_str(), frames);
}

int SpoolKeeper::ask_about(SpoolRequest::Kind kind, std::uint64_t offset, const char* directory, const char* path,
                           int file) {
  const std::array<iovec, 2> names{iovec{const_cast<char*>(directory), std::strlen(directory) + 1},
                                   iovec{const_cast<char*>(path), std::strlen(path) + 1}};  // which are only read
  const int error = send({.kind = kind, .offset = offset}, names, file);
  return error != 0 || is_last_ ? error : wait_for_answers();
}

int SpoolKeeper::send(const SpoolRequest& request, std::span<const iovec> bytes, int file) {
  if (state_ == State::there && !socket_.is_still_ours()) state_ = State::lost;  // the program has closed it
  if (state_ != State::there) return EPIPE;
  if (unanswered_ == 0) failed_ = 0;
  if (!is_last_ && has_waited_long_enough() && hangs()) return ETIMEDOUT;
  std::array<iovec, most_pieces_of_block + 2> pieces;
  pieces[0] = {const_cast<SpoolRequest*>(&request), sizeof request};  // which is only read
  std::copy(bytes.begin(), bytes.end(), pieces.begin() + 1);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = 1 + bytes.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof file)> descriptor{};
  if (file >= 0) {
    message.msg_control = descriptor.data();
    message.msg_controllen = descriptor.size();
    cmsghdr* const sent = CMSG_FIRSTHDR(&message);
    sent->cmsg_level = SOL_SOCKET;
    sent->cmsg_type = SCM_RIGHTS;
    sent->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(sent), &file, sizeof file);
  }
  while (syscall(SYS_sendmsg, socket_.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != ENOBUFS) return give_up(errno);
    if (!wait(POLLOUT)) return state_ == State::there ? ETIMEDOUT : EPIPE;
    take_answers();
  }
  ++unanswered_;
  return 0;
}

int SpoolKeeper::wait_for_answers() {
  for (;;) {
    take_answers();
    if (state_ != State::there) return EPIPE;
    if (unanswered_ == 0) return failed_;
    if (!wait(0)) return is_last_ ? 0 : ETIMEDOUT;
  }
}

void SpoolKeeper::take_answers() {
  if (unanswered_ != 0 && !socket_.is_still_ours()) state_ = State::lost;  // the program has closed it
  int answer = 0;
  while (state_ == State::there && unanswered_ != 0) {
    const long got = syscall(SYS_recvfrom, socket_.number(), &answer, sizeof answer, MSG_DONTWAIT, nullptr, nullptr);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got != sizeof answer) {
      give_up(errno);
      return;
    }
    has_answered_ = true;
    until_ = 0;
    if (answer == EINPROGRESS) continue;
    if (failed_ == 0) failed_ = answer;
    --unanswered_;
  }
}

bool SpoolKeeper::has_waited_long_enough() const { return until_ != 0 && nanoseconds_of(CLOCK_MONOTONIC) >= until_; }

// For answers, too. False if this rank has waited long enough.
bool SpoolKeeper::wait(short events) {
  const std::uint64_t now = nanoseconds_of(CLOCK_MONOTONIC);
  if (until_ == 0) until_ = now + longest_wait;
  if (now >= until_) return false;
  timespec changed{static_cast<time_t>((until_ - now) / second), static_cast<long>((until_ - now) % second)};
  pollfd ready{socket_.number(), static_cast<short>(POLLIN | events), 0};
  const long found = syscall(SYS_ppoll, &ready, 1, &changed, nullptr, 0);
  if (found >= 0 || errno != EINTR || is_last_) return found != 0;
  until_ = now;  // the signal may want the records saved at once, and is answered after this write
  return false;
}

int SpoolKeeper::give_up(int error) {
  state_ = State::lost;
  return error;
}

}  // namespace halcyon
