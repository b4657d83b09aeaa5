#include "libprofile/record/parts/part_on_disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "libprofile/interpose/signal_blocked.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/pieces.hpp"

namespace halcyon {

int PartOnDisk::create(const char* directory, const char* path, std::uint64_t beginning_at) {
  if (direct::make_directory(directory, 0755) == 0) {
    direct::allow(directory, S_IRWXU);
  } else if (errno != EEXIST) {
    return errno;
  }
  is_new_ = true;
  int opened = direct::open(path, O_CREAT | O_EXCL | O_RDWR, 0644);
  if (opened < 0 && errno == EEXIST) {
    is_new_ = false;
    opened = direct::open(path, O_RDWR | O_NOFOLLOW);
  }
  if (opened < 0) return errno;
  OwnDescriptor file(opened);
  struct stat made {};
  direct::status(file.number(), made);
  if (is_new_) syscall(SYS_fchmod, file.number(), made.st_mode | S_IRUSR | S_IWUSR);  // whatever the umask
  // Who owns the directory may read, rename and replace what is in it.
  struct stat around {};
  const bool is_among_ours =
      direct::status_of_name(directory, around) == 0 && S_ISDIR(around.st_mode) && around.st_uid == made.st_uid;
  // Another rank has created the file, and this rank's place in it must be empty: what an earlier run left is kept.
  PartMagic taken{};
  const bool is_ours =
      is_among_ours &&
      (is_new_ || (S_ISREG(made.st_mode) && made.st_uid == direct::effective_user() &&
                   (!read_at(file.number(), beginning_at, taken.data(), taken.size()) || is_free(taken))));
  if (is_new_ && !is_among_ours) direct::remove_file(path);
  if (!is_ours) return EEXIST;
  file_ = std::move(file);
  return 0;
}

int PartOnDisk::write(std::uint64_t offset, std::span<iovec> pieces) const {
  const SignalBlocked no_death_by_quota(SIGXFSZ);
  if (!file_.is_still_ours()) return EBADF;
  if (struct stat state{}; direct::status(file_.number(), state) == 0 && state.st_nlink == 0) return ENOENT;
  while (!pieces.empty()) {
    const ssize_t written = direct::write_at(file_.number(), pieces.data(), pieces.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    offset += static_cast<std::uint64_t>(written);
    pieces = behind(pieces, static_cast<std::size_t>(written));
  }
  return 0;
}

void PartOnDisk::remove(const char* directory, const char* path) const {
  struct stat state {};
  const bool is_removed =
      file_ && direct::status(file_.number(), state) == 0 && state.st_nlink == 0;  // by another rank
  if (is_removed) return;
  direct::remove_file(path);
  direct::remove_directory(directory);  // fails while it holds the parts of other ranks
}

void PartOnDisk::remove_run(const std::string& directory, const std::string& path) {
  // DIRECTORY/RUN.HOST-FIRST.part
  const std::string beginning = path.substr(0, path.rfind('.', path.rfind('.') - 1) + 1);
  std::vector<std::string> parts;
  if (DIR* listed = opendir(directory.c_str()); listed != nullptr) {
    while (const dirent* entry = readdir(listed)) {
      const std::string found = directory + "/" + entry->d_name;
      if (found.starts_with(beginning)) parts.push_back(found);
    }
    closedir(listed);
  }
  for (const std::string& part : parts) direct::remove_file(part.c_str());
  if (!parts.empty()) direct::remove_directory(directory.c_str());
}

}  // namespace halcyon
