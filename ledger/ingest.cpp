#include "ledger/ingest.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "libprofile/format/stream.hpp"
#include "libprofile/shared/spool.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/legible.hpp"

namespace halcyon::ledger {
namespace {

// Numerics: a transaction takes a write to the disk, and its files are read again if it fails.
constexpr std::size_t most_files_at_once = 500;
constexpr std::size_t most_bytes_at_once = most_spool_bytes;
// Numerics: names of a spool that are listed at a time.
constexpr std::size_t most_names = 100000;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// Names beginning with a dot are files that are not complete. One that is so for an hour is of a process that was
// killed, and in a directory in which users cannot remove what they do not find.
void remove_if_given_up(int spool, const char* name) {
  constexpr std::time_t an_hour = 3600;
  struct stat state {};
  if (std::string_view(name).find(".run-") == std::string_view::npos ||
      fstatat(spool, name, &state, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(state.st_mode)) {
    return;
  }
  if (std::time(nullptr) - state.st_mtime > an_hour) unlinkat(spool, name, 0);
}

bool is_to_be_taken(const std::string& spool, std::string_view name) {
  if (name.starts_with('.') || name == name_of_refused || name.starts_with(spool::beginning_of_unfinished))
    return false;
  return !spool::is_for_the_operator(name) || !spool::has_file_of_the_operator(spool, name);
}

Outcome<std::vector<std::string>> names_in(const std::string& spool, const std::set<std::string>& passed_by) {
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(spool.c_str()));
  if (!directory) return Failure{"cannot list the spool " + spool + ": " + std::strerror(errno)};
  std::vector<std::string> names;
  for (errno = 0; names.size() < most_names; errno = 0) {
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr) {
      if (errno != 0) return Failure{"cannot list the spool " + spool + ": " + std::strerror(errno)};
      break;
    }
    const std::string name = entry->d_name;
    if (name.front() == '.') remove_if_given_up(dirfd(directory.get()), entry->d_name);
    if (is_to_be_taken(spool, name) && !passed_by.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());  // begin with the time of the run
  return names;
}

struct Read {
  std::string contents;
  uid_t owner = 0;
};
struct NotRead {
  std::string why;         // empty if the file is gone: another ingester took it
  bool is_refused = true;  // else it stays where it is
};

std::variant<Read, NotRead> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return NotRead{};
    if (errno == ELOOP || errno == ENXIO) return NotRead{"it is no regular file"};
    return NotRead{std::string("it cannot be read: ") + std::strerror(errno), false};
  }
  struct stat state {};
  if (fstat(file.number(), &state) != 0) return NotRead{std::strerror(errno), false};
  if (!S_ISREG(state.st_mode)) return NotRead{"it is no regular file"};
  if (static_cast<std::uint64_t>(state.st_size) > most_spool_bytes) return NotRead{"it is larger than any spool file"};
  Read read{.contents = std::string(static_cast<std::size_t>(state.st_size), '\0'), .owner = state.st_uid};
  if (!read_fully(file.number(), read.contents.data(), read.contents.size())) {
    return NotRead{std::string("it cannot be read: ") + std::strerror(errno != 0 ? errno : EIO), false};
  }
  return read;
}

// Nobody records runs in the name of others, but for the operator.
void set_user(RunRow& run, uid_t owner) {
  if (owner == 0 || owner == geteuid()) return;
  const passwd* user = getpwuid(owner);
  run.user_name = user == nullptr ? fmt::format("uid {}", owner) : legible(user->pw_name);
}

class Spool {
 public:
  Spool(Ledger& ledger, std::string directory, const Telling& telling)
      : ledger_(ledger), directory_(std::move(directory)), telling_(telling) {}

  Outcome<Ingested> take_all() {
    for (;;) {
      const Outcome<std::vector<std::string>> names = names_in(directory_, passed_by_);
      if (!names) return names.failure();
      if (names->empty()) return done_;
      for (std::size_t first = 0; first < names->size();) {
        const Outcome<std::size_t> end = take_some(*names, first);
        if (!end) return end.failure();
        first = *end;
        telling_.progress(done_);
      }
      if (names->size() < most_names) return done_;
    }
  }

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }

  // One transaction, from this name on; the end of what it took.
  Outcome<std::size_t> take_some(const std::vector<std::string>& names, std::size_t first) {
    struct Taken {
      std::string name;
      bool is_new;
    };
    std::vector<Taken> taken;
    std::vector<std::pair<std::string, std::string>> refused;  // names, and why
    std::size_t at = first;
    const Status stored = ledger_.in_transaction([&]() -> Status {
      std::size_t bytes = 0;
      for (; at < names.size() && at - first < most_files_at_once && bytes < most_bytes_at_once; ++at) {
        const std::string& name = names[at];
        if (spool::is_for_the_operator(name)) {  // who else makes one would keep the operator from it
          refused.emplace_back(name, "it counts only as a file of root or of the owner of the spool");
          continue;
        }
        const std::variant<Read, NotRead> read = read_file(path_of(name));
        if (const auto* not_read = std::get_if<NotRead>(&read)) {
          if (not_read->why.empty()) continue;
          if (not_read->is_refused) {
            refused.emplace_back(name, not_read->why);
          } else {
            leave(name, not_read->why);
          }
          continue;
        }
        const Read& file = std::get<Read>(read);
        bytes += file.contents.size();
        Outcome<SpooledRun> run = run_in(file.contents);
        if (!run) {
          refused.emplace_back(name, run.failure().message);
          continue;
        }
        set_user(run->record.run, file.owner);
        const Outcome<Stored> outcome = ledger_.store(*run);
        if (!outcome) return outcome.failure();
        const std::string objection = objection_to(*outcome);
        if (objection.empty()) {
          taken.push_back({name, *outcome == Stored::now});
        } else {
          refused.emplace_back(name, objection);
        }
      }
      return Done{};
    });
    if (!stored) return stored.failure();
    for (const Taken& file : taken) {
      ++(file.is_new ? done_.stored : done_.before);
      if (unlink(path_of(file.name).c_str()) != 0 && errno != ENOENT) {
        leave(file.name, std::string("it is in the ledger, but cannot be removed: ") + std::strerror(errno));
      }
    }
    for (const auto& [name, why] : refused) refuse(name, why);
    return at;
  }

  void leave(const std::string& name, const std::string& why) {
    telling_.complaint(path_of(name) + ": " + why);
    passed_by_.insert(name);
    ++done_.left;
  }

  void refuse(const std::string& name, const std::string& why) {
    const std::string place = path_of(name_of_refused);
    mkdir(place.c_str(), 0700);
    // Whoever may write into the spool may have made something else of that name.
    struct stat state {};
    if (lstat(place.c_str(), &state) != 0 || !S_ISDIR(state.st_mode) || state.st_uid != geteuid()) {
      return leave(name, fmt::format("{}; it stays, since {} is no directory of this user", why, place));
    }
    std::string free = name;
    // The reason comes first: a file that is put aside has one.
    for (int number = 2;; ++number) {
      const std::string reason = fmt::format("{}/{}.reason", place, free);
      const Descriptor file(open(reason.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
      if (!file && errno == EEXIST) {
        free = fmt::format("{}-{}", name, number);
        continue;
      }
      const std::string line = legible(why) + "\n";
      if (!file || !write_fully(file.number(), line.data(), line.size()) ||
          std::rename(path_of(name).c_str(), fmt::format("{}/{}", place, free).c_str()) != 0) {
        const int error_number = errno;
        if (file) unlink(reason.c_str());
        if (error_number == ENOENT) return;  // another ingester has put it aside
        const std::string error = std::strerror(error_number);
        return leave(name, fmt::format("{}; it cannot be put into {}: {}", why, place, error));
      }
      break;
    }
    ++done_.refused;
    telling_.complaint(fmt::format("{}: {}; it is now in {}", path_of(name), why, place));
  }

  Ledger& ledger_;
  std::string directory_;
  const Telling& telling_;
  Ingested done_;
  std::set<std::string> passed_by_;
};

}  // namespace

Outcome<Ingested> ingest(Ledger& ledger, const std::string& spool, const Telling& telling) {
  return Spool(ledger, spool, telling).take_all();
}

}  // namespace halcyon::ledger
