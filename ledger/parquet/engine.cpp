#include "ledger/parquet/engine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/memfd.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ledger/parquet/engine_script.hpp"
#include "libprofile/system/environment.hpp"

namespace halcyon::ledger {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* python = "python3";
constexpr int socket_there = 3;  // descriptors of the process
constexpr int script_there = 4;

// A file that is nowhere else. The C library has no function for it before 2.27.
int file_in_memory(const char* name) { return static_cast<int>(syscall(SYS_memfd_create, name, MFD_CLOEXEC)); }

// Beyond those that the process has, so that making these does not close others.
Descriptor out_of_the_way(int descriptor) {
  const Descriptor closed(descriptor);
  constexpr int first = 10;
  return Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, first));
}

std::string last_line(int file) {
  constexpr off_t most = 4096;
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, std::min(size, most))), '\0');
  if (!read_at(file, static_cast<std::size_t>(size) - text.size(), text.data(), text.size())) return {};
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return {};
  text.resize(end + 1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Outcome<std::unique_ptr<ParquetEngine>> ParquetEngine::start(const std::string& directory, const ordered_json& tables,
                                                             std::string engine) {
  if (const char* const named = environment_value("HALCYON_PARQUET_ENGINE"); engine.empty() && named != nullptr) {
    engine = named;
  }
  if (engine.empty()) engine = "duckdb";
  if (engine != "duckdb" && engine != "spark") {
    return Failure{"HALCYON_PARQUET_ENGINE is '" + engine + "': it can be duckdb or spark"};
  }
  std::unique_ptr<ParquetEngine> started(new ParquetEngine(directory, engine));
  Status done = started->spawn();
  if (done) done = started->ask({{"open", directory}, {"engine", engine}, {"tables", tables}});
  if (!done) return done.failure();
  return {std::move(started)};
}

Status ParquetEngine::spawn() {
  const auto failed = [this](int error) {
    return Failure{fmt::format("{}: {} cannot be started: {}; it is needed for Parquet", directory_, python,
                               std::strerror(error))};
  };
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failed(errno);
  socket_ = Descriptor(ends[0]);
  const Descriptor other_end = out_of_the_way(ends[1]);
  const Descriptor script = out_of_the_way(file_in_memory("engine.py"));
  said_ = out_of_the_way(file_in_memory("engine's output"));
  constexpr std::size_t size = sizeof engine_script - 1;
  if (!other_end || !said_ || write(script.number(), engine_script, size) != static_cast<ssize_t>(size)) {
    return failed(errno);
  }
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&streams, said_.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, said_.number(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&streams, other_end.number(), socket_there);
  posix_spawn_file_actions_adddup2(&streams, script.number(), script_there);
  const std::string file = fmt::format("/dev/fd/{}", script_there);
  const char* const arguments[] = {python, file.c_str(), nullptr};
  const int error = posix_spawnp(&process_, python, &streams, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (error == 0) return Done{};
  process_ = -1;
  return failed(error);
}

// It ends when nobody is there to ask it.
ParquetEngine::~ParquetEngine() {
  socket_ = Descriptor();
  wait();
}

int ParquetEngine::wait() {
  int status = 0;
  while (process_ > 0 && waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

bool ParquetEngine::send(const std::string& line) const {
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t some = ::send(socket_.number(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    sent += static_cast<std::size_t>(some);
  }
  return true;
}

bool ParquetEngine::receive(std::string& line) {
  for (;;) {
    const std::size_t end = received_.find('\n', looked_at_);
    if (end != std::string::npos) {
      line = received_.substr(0, end);
      received_.erase(0, end + 1);
      looked_at_ = 0;
      return true;
    }
    looked_at_ = received_.size();
    char some[1 << 16];
    const ssize_t got = recv(socket_.number(), some, sizeof some, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    received_.append(some, static_cast<std::size_t>(got));
  }
}

Failure ParquetEngine::ended() {
  socket_ = Descriptor();
  const int status = wait();
  const std::string how = WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                                              : fmt::format("with status {}", WEXITSTATUS(status));
  const std::string last = last_line(said_.number());
  return {fmt::format("{}: the process that reads it ({}, {}) has ended {}{}", directory_, python, name_, how,
                      last.empty() ? ": has it enough memory?" : ": " + last)};
}

Status ParquetEngine::ask(const ordered_json& request, const std::function<void(const json& rows)>& visit) {
  if (process_ < 0) return Failure{directory_ + ": the process that reads it has ended"};
  if (!send(request.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n")) return ended();
  std::string line;
  while (receive(line)) {
    const json answer = json::parse(line, nullptr, false);
    if (answer.is_array()) {
      visit(answer);
    } else if (answer.contains("done")) {
      return Done{};
    } else if (const auto error = answer.find("error"); error != answer.end() && error->is_string()) {
      return Failure{directory_ + ": " + error->get<std::string>()};
    } else {
      return Failure{directory_ + ": what the process that reads it answers is not understood"};
    }
  }
  return ended();
}

}  // namespace halcyon::ledger
