#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "cli/disturbers/kinds.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t sent_block_bytes = std::size_t{64} << 10;
constexpr int longest_wait_milliseconds = 10;

struct Stream {
  int sender = -1;
  int receiver = -1;
  std::vector<char> block = std::vector<char>(sent_block_bytes, 'x');
};

Failure cannot(const char* what) { return {std::string("cannot ") + what + ": " + std::strerror(errno)}; }

Status enter(const std::string& network) {
  const int file = open(network.c_str(), O_RDONLY | O_CLOEXEC);
  const bool entered = file >= 0 && setns(file, CLONE_NEWNET) == 0;
  if (!entered) return cannot("enter a network namespace");
  close(file);
  return Done{};
}

// A socket stays in the namespace in which it was made.
Outcome<Stream> stream_between(const TwoHosts& hosts, int from, int to) {
  Stream stream;
  if (const Status entered = enter(hosts.network_of(to)); !entered) return entered.failure();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, TwoHosts::address_of(to), &address.sin_addr);
  socklen_t length = sizeof address;
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, general, length) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, general, &length) != 0) {
    return cannot("listen on the network link");
  }
  if (const Status entered = enter(hosts.network_of(from)); !entered) return entered.failure();
  stream.sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (stream.sender < 0 || connect(stream.sender, general, length) != 0) return cannot("connect over the network link");
  stream.receiver = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (stream.receiver < 0) return cannot("accept over the network link");
  close(listener);
  return stream;
}

}  // namespace

int network_workers() { return 2; }

Outcome<Piece> network_work(const WorkerPlace& place) {
  Outcome<Stream> made = stream_between(*place.hosts, place.number, 1 - place.number);
  if (!made) return made.failure();
  const std::shared_ptr<Stream> stream = std::make_shared<Stream>(std::move(*made));
  return Piece([stream]() -> Outcome<std::uint64_t> {
    std::array<pollfd, 2> ends{pollfd{stream->sender, POLLOUT, 0}, pollfd{stream->receiver, POLLIN, 0}};
    if (poll(ends.data(), ends.size(), longest_wait_milliseconds) <= 0) return std::uint64_t{0};
    if (ends[0].revents != 0 &&
        send(stream->sender, stream->block.data(), sent_block_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
        errno != EAGAIN) {
      return cannot("send over the network link");
    }
    if (ends[1].revents == 0) return std::uint64_t{0};
    const ssize_t got = recv(stream->receiver, stream->block.data(), sent_block_bytes, MSG_DONTWAIT);
    if (got < 0 && errno != EAGAIN) return cannot("receive over the network link");
    return static_cast<std::uint64_t>(std::max<ssize_t>(got, 0));
  });
}

}  // namespace halcyon::cli
