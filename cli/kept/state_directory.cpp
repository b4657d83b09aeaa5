#include "cli/kept/state_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "libprofile/format/stream.hpp"
#include "libprofile/system/fnv1a.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_of_lock = ".lock";
constexpr const char* name_of_new = ".new";
constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
constexpr std::int64_t nanoseconds_of_a_second = 1000000000;
constexpr auto longest_wait_for_lock = std::chrono::seconds(2);

Failure because_of(const std::string& what, const std::string& path, int error) {
  return {"cannot " + what + " " + path + ": " + std::strerror(error)};
}

// A file that others own or can write to cannot be trusted.
Status check_is_private(const Descriptor& file, const std::string& path) {
  struct stat state {};
  if (fstat(file.number(), &state) != 0) return because_of("look at", path, errno);
  if (state.st_uid != geteuid()) return Failure{path + " belongs to another user"};
  if ((state.st_mode & writable_by_others) != 0) {
    return Failure{path + " is writable by others: run chmod go-w on it, or remove it"};
  }
  return Done{};
}

// Another user who owns a directory can replace what is created in it; root is trusted.
Status make_directories(const fs::path& path) {
  fs::path existing = path;
  std::error_code error;
  while (!fs::exists(existing, error) && existing.has_relative_path()) existing = existing.parent_path();
  struct stat state {};
  if (stat(existing.c_str(), &state) != 0) return because_of("look at", existing.string(), errno);
  if (state.st_uid != geteuid() && state.st_uid != 0) {
    return Failure{existing.string() + " belongs to another user"};
  }
  std::vector<fs::path> missing;
  for (fs::path each = path; each != existing; each = each.parent_path()) missing.push_back(each);
  for (auto each = missing.rbegin(); each != missing.rend(); ++each) {
    if (mkdir(each->c_str(), S_IRWXU) != 0 && errno != EEXIST) return because_of("make", each->string(), errno);
  }
  return Done{};
}

bool is_name_of_record(const std::string& name) { return !name.empty() && name.front() != '.'; }

}  // namespace

// The hash includes the end of each text, so that different lists of texts do not become one.
std::string record_name_of(std::initializer_list<std::string> texts) {
  std::uint64_t hash = fnv1a_start;
  for (const std::string& text : texts) hash = fnv1a(text + '\0', hash);
  return fmt::format("{:016x}", hash);
}

Outcome<std::string> state_directory() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text != nullptr ? text : "");
  };
  // The specification requires that relative paths are ignored.
  if (const std::string home = value("XDG_STATE_HOME"); home.starts_with('/')) return home + "/halcyon";
  if (const std::string home = value("HOME"); home.starts_with('/')) return home + "/.local/state/halcyon";
  return Failure{"neither XDG_STATE_HOME nor HOME names a directory"};
}

Outcome<RecordStore> RecordStore::open(const std::string& kind, RecordLimits limits, Use use) {
  const Outcome<std::string> state = state_directory();
  if (!state) return state.failure();
  const fs::path ours = fs::path(*state).lexically_normal();
  if (use == Use::writes) {
    if (const Status made = make_directories(ours.parent_path()); !made) return made.failure();
  }
  Descriptor directory(::open(ours.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  fs::path path = ours.parent_path();
  for (const std::string& name : {ours.filename().string(), kind}) {
    path /= name;
    const auto missing = [&] { return errno == ENOENT && use == Use::reads; };
    if (!directory) {
      if (missing()) return RecordStore(Descriptor(), path.string(), limits);
      return because_of("open", path.parent_path().string(), errno);
    }
    if (use == Use::writes && mkdirat(directory.number(), name.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return because_of("make", path.string(), errno);
    }
    Descriptor inner(openat(directory.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner) {
      if (missing()) return RecordStore(Descriptor(), path.string(), limits);
      return because_of("open", path.string(), errno);
    }
    if (const Status checked = check_is_private(inner, path.string()); !checked) return checked.failure();
    directory = std::move(inner);
  }
  return RecordStore(std::move(directory), path.string(), limits);
}

std::vector<RecordStore::Entry> RecordStore::entries() const {
  std::vector<Entry> found;
  // Opens the directory again, since readdir moves the position of an open directory.
  const int number = directory_ ? openat(directory_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  DIR* const directory = number >= 0 ? fdopendir(number) : nullptr;
  if (directory == nullptr) return found;
  // We never store more than the limit; the loop ends even if someone else filled the directory.
  for (std::size_t left = 4 * limits_.most_records; left > 0; --left) {
    const dirent* entry = readdir(directory);
    if (entry == nullptr) break;
    struct stat state {};
    if (!is_name_of_record(entry->d_name)) continue;
    if (fstatat(directory_.number(), entry->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0) continue;
    found.push_back({entry->d_name, state.st_mtim.tv_sec * nanoseconds_of_a_second + state.st_mtim.tv_nsec});
  }
  closedir(directory);
  std::sort(found.begin(), found.end(),
            [](const Entry& a, const Entry& b) { return std::pair(b.used, a.name) < std::pair(a.used, b.name); });
  return found;
}

Outcome<std::optional<std::string>> RecordStore::read(const std::string& name) const {
  using Found = std::optional<std::string>;
  if (!directory_) return Found();
  const std::string path = path_ + "/" + name;
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const Descriptor file(openat(directory_.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return Found();
  if (!file) return because_of("open", path, errno);
  if (const Status checked = check_is_private(file, path); !checked) return checked.failure();
  struct stat state {};
  if (fstat(file.number(), &state) != 0 || !S_ISREG(state.st_mode)) return Failure{path + " is not a file"};
  if (state.st_size > static_cast<off_t>(limits_.most_bytes)) return Failure{path + " is larger than any record"};
  std::string text(static_cast<std::size_t>(state.st_size), '\0');
  if (!read_fully(file.number(), text.data(), text.size())) return because_of("read", path, errno);
  return Found(std::move(text));
}

Outcome<Descriptor> RecordStore::lock() const {
  const std::string path = path_ + "/" + name_of_lock;
  Descriptor file(openat(directory_.number(), name_of_lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                         S_IRUSR | S_IWUSR));
  if (!file) return because_of("open", path, errno);
  const auto began = std::chrono::steady_clock::now();
  while (flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return because_of("lock", path, errno);
    if (std::chrono::steady_clock::now() - began > longest_wait_for_lock) return because_of("lock", path, EWOULDBLOCK);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return file;
}

Status RecordStore::write(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  if (text.size() > limits_.most_bytes) return Failure{path + " would be larger than any record"};
  remove(name_of_new);  // left by a command that was killed: nobody else writes while we hold the lock
  {
    const Descriptor file(
        openat(directory_.number(), name_of_new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file || !write_fully(file.number(), text.data(), text.size()) || fsync(file.number()) != 0) {
      const int error = errno;
      remove(name_of_new);
      return because_of("write", path, error);
    }
  }
  if (renameat(directory_.number(), name_of_new, directory_.number(), name.c_str()) != 0) {
    return because_of("write", path, errno);
  }
  const std::vector<Entry> all = entries();
  for (std::size_t i = limits_.most_records; i < all.size(); ++i) remove(all[i].name);
  return Done{};
}

void RecordStore::touch(const std::string& name) const {
  utimensat(directory_.number(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

bool RecordStore::remove(const std::string& name) const { return unlinkat(directory_.number(), name.c_str(), 0) == 0; }

}  // namespace halcyon::cli
