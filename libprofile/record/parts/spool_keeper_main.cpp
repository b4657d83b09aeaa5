// halcyon-keep: the process of a host that touches the spool of a site for the ranks of a run there, so that none of
// them waits for a file system that hangs. It goes on when its standard input and all ranks have gone, until it has
// written what they have sent.
//
// In the meantime it holds that in memory. The ranks find in time that it does not answer (spool_keeper.hpp).
//
// usage: halcyon-keep NAME [SPOOL PROGRAM FILE]   Listens at this name, unless it is empty or another one does. With
// SPOOL, prints "yes" if the run gets a row in the ledger, or "no: " and why; nothing behind it if the site does not
// want it.
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "libprofile/record/parts/part_on_disk.hpp"
#include "libprofile/record/parts/spool_address.hpp"
#include "libprofile/record/parts/spool_keeper.hpp"
#include "libprofile/shared/admission.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/let_go.hpp"

namespace halcyon {
namespace {

// What the ranks have sent and is not written yet: as much as the records of one.
struct Held {
  static constexpr std::size_t most = std::size_t{memory_mebibytes_for_ledger} << 20;
  std::mutex lock;
  std::condition_variable changed;
  std::size_t bytes = 0;
};
Held held;

// One rank, and its part. What it has sent is received while the file system hangs: its socket has little room.
class Served {
 public:
  explicit Served(Descriptor socket) : socket_(std::move(socket)) {}

  void until_it_ends() {
    std::thread writing([this] { write(); });
    try {
      receive();
    } catch (const std::bad_alloc&) {  // to the rank it is as if this process had ended
    }
    {
      const std::scoped_lock lock(held.lock);
      is_over_ = true;
    }
    held.changed.notify_all();
    writing.join();
  }

 private:
  struct Message {
    SpoolRequest request;
    std::vector<char> bytes;
  };

  void receive() {
    std::vector<char> bytes(most_in_spool_request);
    SpoolRequest request;
    std::array<iovec, 2> pieces{iovec{&request, sizeof request}, {bytes.data(), bytes.size()}};
    msghdr header{};
    header.msg_iov = pieces.data();
    header.msg_iovlen = pieces.size();
    for (;;) {
      const ssize_t got = recvmsg(socket_.number(), &header, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < static_cast<ssize_t>(sizeof request)) return;
      std::unique_lock lock(held.lock);
      messages_.push_back({request, {bytes.begin(), bytes.begin() + got - sizeof request}});
      held.bytes += static_cast<std::size_t>(got);
      held.changed.notify_all();
      held.changed.wait(lock, [] { return held.bytes <= Held::most; });
    }
  }

  void write() {
    for (std::unique_lock lock(held.lock);;) {
      held.changed.wait(lock, [this] { return is_over_ || !messages_.empty(); });
      if (messages_.empty()) return;
      Message message = std::move(messages_.front());
      messages_.pop_front();
      lock.unlock();
      const std::size_t size = sizeof message.request + message.bytes.size();
      const int answer = answer_to(message);
      send(socket_.number(), &answer, sizeof answer, MSG_NOSIGNAL);  // who has ended needs none
      lock.lock();
      held.bytes -= size;
      held.changed.notify_all();
    }
  }

  int answer_to(Message& message) try {
    if (message.request.kind == SpoolRequest::write) {
      iovec piece{message.bytes.data(), message.bytes.size()};
      return part_.write(message.request.offset, &piece, 1);
    }
    message.bytes.insert(message.bytes.end(), 2, '\0');  // two names, at any rate
    const char* const directory = message.bytes.data();
    const char* const path = directory + std::strlen(directory) + 1;
    switch (message.request.kind) {
      case SpoolRequest::create:
        // A rank that was not answered in time asks again.
        return part_.is_still_ours() ? 0 : part_.create(directory, path, message.request.offset);
      case SpoolRequest::remove: part_.remove(directory, path); return 0;
      case SpoolRequest::remove_run: PartOnDisk::remove_run(directory, path); return 0;
      default: return EINVAL;
    }
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }

  Descriptor socket_;
  PartOnDisk part_;
  std::deque<Message> messages_;
  bool is_over_ = false;
};

// Threads for each rank: as where they write themselves, none waits for another.
class Keeper {
 public:
  /// `most_descriptors`: of this process.
  Keeper(std::string_view name, std::size_t most_descriptors) : most_ranks_(most_descriptors / 2) {
    const SpoolAddress address(name);
    int ends[2];
    if (name.empty() || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    ended_ = Descriptor(ends[0]);
    tells_end_ = Descriptor(ends[1]);
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (bind(made.number(), address.get(), address.size) == 0 && listen(made.number(), SOMAXCONN) == 0) {
      listening_ = std::move(made);
    }
  }
  explicit operator bool() const { return static_cast<bool>(listening_); }

  void go_on() {
    std::array<pollfd, 3> ready{
        pollfd{STDIN_FILENO, POLLIN, 0}, {ended_.number(), POLLIN, 0}, {listening_.number(), POLLIN, 0}};
    for (bool is_awaited = true; is_awaited || ranks_ > 0;) {
      if (poll(ready.data(), ready.size(), -1) < 0) continue;
      char ended = 0;
      while (read(ended_.number(), &ended, 1) == 1) --ranks_;
      accept_ranks();
      if (ready[0].revents == 0) continue;
      is_awaited = false;  // who has started it has ended
      ready[0].fd = -1;
      ready[0].revents = 0;
    }
  }

 private:
  void accept_ranks() {
    for (;;) {
      Descriptor rank(accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!rank) return;
      ucred peer{};
      socklen_t size = sizeof peer;
      const bool is_ours =
          getsockopt(rank.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
      // To a rank that is not served it is as if nobody were here.
      if (!is_ours || ranks_ >= most_ranks_) continue;
      try {
        std::thread([this, rank = std::move(rank)]() mutable {
          try {
            Served(std::move(rank)).until_it_ends();
          } catch (const std::system_error&) {  // no second thread: as below
          }
          [[maybe_unused]] const ssize_t told = ::write(tells_end_.number(), "", 1);
        }).detach();
        ++ranks_;
      } catch (const std::system_error&) {  // no thread for it
      }
    }
  }

  Descriptor listening_;
  Descriptor ended_;
  Descriptor tells_end_;
  std::size_t most_ranks_;
  std::size_t ranks_ = 0;
};

}  // namespace
}  // namespace halcyon

int main(int argc, char** argv) {
  using namespace halcyon;
  if (argc != 2 && argc != 5) {
    std::puts("no: usage: halcyon-keep NAME [SPOOL PROGRAM FILE]");
    return 2;
  }
  // These signals ask all processes of a job to end. This one ends after the ranks.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE}) std::signal(number, SIG_IGN);
  close_all_but_streams();
  let_go({STDERR_FILENO});
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  // A rank takes two. What this process needs itself, and who is only being told that there is no room, takes some
  // more.
  constexpr rlim_t of_its_own = 16;
  Keeper keeper(argv[1], descriptors.rlim_cur - std::min(of_its_own, descriptors.rlim_cur));
  if (argc == 5) {
    const Admission admission = ask_for_admission(argv[2], argv[3], argv[4]);
    std::puts(admission.is_admitted ? "yes" : ("no: " + admission.why_not).c_str());
    std::fflush(stdout);
    if (!admission.is_admitted) return 0;
  }
  let_go({STDOUT_FILENO});
  if (keeper) keeper.go_on();
  return 0;
}
