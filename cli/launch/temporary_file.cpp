#include "cli/launch/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

namespace halcyon::cli {
namespace {

[[noreturn]] void remove_at_the_end(const char* path, int lifeline) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  setsid();  // signals to the command's process group are not for this process
  // Who reads the command's output must not wait for this process.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
  char nothing = 0;
  while (read(lifeline, &nothing, 1) < 0 && errno == EINTR) {
  }
  unlink(path);
  _exit(0);
}

bool has_room_for(std::size_t bytes, const Descriptor& file) {
  const std::string zeros(bytes, '\0');
  const auto before = std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes must not end the command
  const ssize_t written = write(file.number(), zeros.data(), zeros.size());
  std::signal(SIGXFSZ, before);
  if (written >= 0 && static_cast<std::size_t>(written) < bytes) errno = ENOSPC;
  return written == static_cast<ssize_t>(bytes);
}

void end(pid_t child) {
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// A new file that is locked, where the file system has locks. Another process may take it for an abandoned one before
// it is locked, and remove it: then a new one is made.
Descriptor new_locked_file(const std::string& path) {
  for (;;) {
    Descriptor file(open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
    struct stat state {};
    const bool is_locked = file && flock(file.number(), LOCK_EX) == 0;
    if (!is_locked || fstat(file.number(), &state) != 0 || state.st_nlink > 0) return file;
  }
}

}  // namespace

// The remover is there before the file is: this process may be killed at any time.
Outcome<TemporaryFile> TemporaryFile::make(const std::string& path, std::size_t bytes) {
  const auto cannot = [&path] { return Failure{"cannot write " + path + ": " + std::strerror(errno)}; };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return cannot();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    remove_at_the_end(path.c_str(), ends[0]);
  }
  Descriptor file = child > 0 ? new_locked_file(path) : Descriptor();
  const Failure failure = cannot();
  close(ends[0]);
  if (file) {
    TemporaryFile made(path, std::move(file), child, ends[1]);
    if (has_room_for(bytes, made.file_)) return made;
    return cannot();
  }
  if (child > 0) end(child);  // it would remove a file that is not ours
  close(ends[1]);
  return failure;
}

TemporaryFile::~TemporaryFile() {
  if (remover_ == 0) return;
  end(remover_);
  close(lifeline_);
  unlink(path_.c_str());
}

std::string TemporaryFile::content() const {
  // Opened again: a network file system then asks for what was written on another host.
  const Descriptor again(open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const int file = again ? again.number() : file_.number();
  struct stat state {};
  fstat(file, &state);
  std::string content(static_cast<std::size_t>(state.st_size), '\0');
  if (!read_at(file, 0, content.data(), content.size())) content.clear();
  return content;
}

void remove_abandoned(const std::string& directory, std::string_view beginning, std::string_view ending) {
  std::error_code error;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning) || !name.ends_with(ending)) continue;
    const Descriptor file(open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && flock(file.number(), LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
  }
}

}  // namespace halcyon::cli
