// halcyon-keep: the process of a host that touches the spool of a site for the ranks of a run there, so that none of
// them waits for a file system that hangs. It goes on when its standard input and all ranks have gone, until it has
// written what they have sent.
//
// One thread receives, and another one touches the spool: what the ranks send waits in memory while that hangs. They
// find in time that it does not answer (spool_keeper.hpp).
//
// A run that only the ledger wants is saved as frames, and judged when the program has ended. Where that fails, or is
// ended with the job, the frames stay, and `halcyon ledger collect` tries it again.
//
// usage: halcyon-keep NAME [SPOOL PROGRAM FILE]   Listens at this name, unless it is empty or another one does. With
// SPOOL, prints "yes" if the run gets a row in the ledger, or "no: " and why; nothing behind it if the site does not
// want it.
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "libprofile/format/save_frames.hpp"
#include "libprofile/record/parts/part_on_disk.hpp"
#include "libprofile/record/parts/spool_address.hpp"
#include "libprofile/record/parts/spool_keeper.hpp"
#include "libprofile/shared/admission.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/into_ledger.hpp"
#include "libprofile/system/let_go.hpp"
#include "libprofile/system/outlives_job.hpp"

namespace halcyon {
namespace {

// A rank, and what there is of it in the spool.
struct Rank {
  Descriptor socket;
  PartOnDisk part;
  SavedFrames saved;
};

struct Request {
  std::shared_ptr<Rank> rank;
  SpoolRequest what;
  std::vector<char> bytes;
  Descriptor frames;
  bool is_last = false;  // the rank has gone
};

// The next message of a rank. That it has gone is the last one; to the rank, the lack of memory for one is as if this
// process had ended.
Request next_request(const std::shared_ptr<Rank>& rank, std::vector<char>& room) {
  Request request{.rank = rank, .what = {}, .bytes = {}, .frames = Descriptor()};
  std::array<iovec, 2> pieces{iovec{&request.what, sizeof request.what}, {room.data(), room.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> descriptor{};
  msghdr header{};
  header.msg_iov = pieces.data();
  header.msg_iovlen = pieces.size();
  header.msg_control = descriptor.data();
  header.msg_controllen = descriptor.size();
  ssize_t got = 0;
  while ((got = recvmsg(rank->socket.number(), &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (const cmsghdr* sent = CMSG_FIRSTHDR(&header);
      got >= 0 && sent != nullptr && sent->cmsg_type == SCM_RIGHTS && sent->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(sent), sizeof number);
    request.frames = Descriptor(number);
  }
  request.is_last = got < static_cast<ssize_t>(sizeof request.what);
  try {
    if (!request.is_last) request.bytes.assign(room.begin(), room.begin() + got - sizeof request.what);
  } catch (const std::bad_alloc&) {
    request.is_last = true;
  }
  return request;
}

// Does what the ranks ask for, in order, and judges what they have saved.
class Spool {
 public:
  explicit Spool(std::string place) : place_(std::move(place)) {}

  void do_all() {
    for (std::unique_lock lock(lock_);;) {
      changed_.wait(lock, [this] { return is_over_ || !requests_.empty(); });
      if (requests_.empty()) break;
      Request request = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      const std::size_t bytes = request.bytes.size();
      do_one(std::move(request));
      lock.lock();
      bytes_ -= bytes;
    }
    for (const SavedFrames& run : to_judge_) {
      if (put_into_ledger(run.path, place_, false)) unlink(run.path.c_str());
    }
  }

  void add(Request request) {
    const std::lock_guard lock(lock_);
    bytes_ += request.bytes.size();
    requests_.push_back(std::move(request));
    changed_.notify_one();
  }
  /// For another request, beside as much as the records of one rank.
  bool has_room() {
    constexpr std::size_t most = std::size_t{memory_mebibytes_for_ledger} << 20;
    const std::lock_guard lock(lock_);
    return bytes_ <= most;
  }
  /// Nothing more is added.
  void end() {
    const std::lock_guard lock(lock_);
    is_over_ = true;
    changed_.notify_one();
  }

 private:
  static void tell(const Rank& rank, int answer) {
    // Who has ended needs none, and who is stopped holds up no other rank.
    send(rank.socket.number(), &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void do_one(Request request) {
    Rank& rank = *request.rank;
    if (request.is_last) return forget(rank);
    tell(rank, answer_to(request));
  }

  int answer_to(Request& request) try {
    Rank& rank = *request.rank;
    std::vector<char>& bytes = request.bytes;
    if (request.what.kind == SpoolRequest::write) {
      iovec piece{bytes.data(), bytes.size()};
      return rank.part.write(request.what.offset, {&piece, 1});
    }
    bytes.insert(bytes.end(), 2, '\0');  // two names, at any rate
    const char* const directory = bytes.data();
    const char* const path = directory + std::strlen(directory) + 1;
    switch (request.what.kind) {
      case SpoolRequest::create:
        // A rank that was not answered in time asks again.
        return rank.part.is_still_ours() ? 0 : rank.part.create(directory, path, request.what.offset);
      case SpoolRequest::remove: rank.part.remove(directory, path); return 0;
      case SpoolRequest::remove_run:
        PartOnDisk::remove_run(directory, path);
        if (!rank.saved.path.empty()) to_judge_.push_back(std::exchange(rank.saved, SavedFrames()));
        return 0;
      case SpoolRequest::save:
        if (!request.frames) return EBADF;
        if (direct::make_directory(directory, S_IRWXU) == 0) direct::allow(directory, S_IRWXU);  // somebody removed it
        rank.saved = save_frames(request.frames, path, [&rank] { tell(rank, EINPROGRESS); });
        return rank.saved.error;
      default: return EINVAL;
    }
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }

  // The program has waited long enough for its frames, and has left its parts.
  static void forget(const Rank& rank) {
    if (!rank.saved.path.empty()) unlink(rank.saved.path.c_str());
  }

  std::string place_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  std::size_t bytes_ = 0;  // of the requests, and the one that is being done
  bool is_over_ = false;
  std::vector<SavedFrames> to_judge_;
};

class Keeper {
 public:
  /// `most_descriptors`: of this process. A rank takes two.
  Keeper(std::string_view name, std::size_t most_descriptors) : most_ranks_(most_descriptors / 2) {
    if (name.empty()) return;
    const SpoolAddress address(name);
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (bind(made.number(), address.get(), address.size) == 0 && listen(made.number(), SOMAXCONN) == 0) {
      listening_ = std::move(made);
    }
  }
  explicit operator bool() const { return static_cast<bool>(listening_); }

  /// Until who has started this, and all ranks, have gone.
  void receive_all(Spool& spool) {
    constexpr int for_room_ms = 10;
    for (bool is_awaited = true; is_awaited || !ranks_.empty();) {
      const bool has_room = spool.has_room();
      std::vector<pollfd> ready{{is_awaited ? STDIN_FILENO : -1, POLLIN, 0}, {listening_.number(), POLLIN, 0}};
      const std::size_t first = ready.size();
      for (const std::shared_ptr<Rank>& rank : ranks_)
        ready.push_back({has_room ? rank->socket.number() : -1, POLLIN, 0});
      if (poll(ready.data(), ready.size(), has_room ? -1 : for_room_ms) < 0) continue;
      for (std::size_t i = ready.size(); i > first; --i) {
        if (ready[i - 1].revents != 0) receive(i - 1 - first, spool);
      }
      accept_ranks();
      if (ready[0].revents != 0) is_awaited = false;
    }
  }

 private:
  void receive(std::size_t at, Spool& spool) {
    Request request = next_request(ranks_[at], room_);
    if (request.is_last) ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(at));
    spool.add(std::move(request));
  }

  void accept_ranks() {
    for (;;) {
      Descriptor rank(accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!rank) return;
      ucred peer{};
      socklen_t size = sizeof peer;
      const bool is_ours =
          getsockopt(rank.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
      // To a rank that is not served it is as if nobody were here.
      if (!is_ours || ranks_.size() >= most_ranks_) continue;
      ranks_.push_back(std::make_shared<Rank>());
      ranks_.back()->socket = std::move(rank);
    }
  }

  Descriptor listening_;
  std::size_t most_ranks_;
  std::vector<std::shared_ptr<Rank>> ranks_;
  std::vector<char> room_ = std::vector<char>(most_in_spool_request);
};

}  // namespace
}  // namespace halcyon

int main(int argc, char** argv) {
  using namespace halcyon;
  if (argc != 2 && argc != 5) {
    std::puts("no: usage: halcyon-keep NAME [SPOOL PROGRAM FILE]");
    return 2;
  }
  outlive_the_job();
  close_all_but_streams();
  let_go({STDERR_FILENO});
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  // What this process needs itself, and who is only being told that there is no room, takes some more.
  constexpr rlim_t of_its_own = 16;
  Keeper keeper(argv[1], descriptors.rlim_cur - std::min(of_its_own, descriptors.rlim_cur));
  if (argc == 5) {
    const Admission admission = ask_for_admission(argv[2], argv[3], argv[4]);
    std::puts(admission.is_admitted ? "yes" : ("no: " + admission.why_not).c_str());
    std::fflush(stdout);
    if (!admission.is_admitted) return 0;
  }
  let_go({STDOUT_FILENO});
  if (!keeper) return 0;
  try {
    Spool spool(argc == 5 ? argv[2] : "");
    std::thread touching([&spool] { spool.do_all(); });
    keeper.receive_all(spool);
    spool.end();
    touching.join();
  } catch (const std::system_error&) {  // no thread: to the ranks it is as if nobody were here
  }
  return 0;
}
