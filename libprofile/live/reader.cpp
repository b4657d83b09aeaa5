#include "libprofile/live/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "libprofile/live/checks.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::live {
namespace {

// Copies the first bytes of a slot while its rank may write it. False if the file is cut off, or the rank never stands
// still.
bool copy_slot(int file, std::size_t offset, std::size_t bytes, Slot& slot) {
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries; ++i) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    const std::size_t newest = offset + offsetof(Slot, newest);
    if (!read_at(file, newest, &before, sizeof before)) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!read_at(file, offset, static_cast<void*>(&slot), bytes)) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!read_at(file, newest, &after, sizeof after)) return false;
    if (before == after) return true;
  }
  return false;
}

}  // namespace

Outcome<Reader> Reader::open(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return Failure{path + " is not the path of a live record"};
  const Outcome<Descriptor> directory = open_directory(path.substr(0, slash), false);
  if (!directory) return directory.failure();
  Outcome<Descriptor> file = open_record(*directory, path.substr(slash + 1), O_RDONLY);
  if (!file) return file.failure();
  return Reader(path, std::move(*file));
}

Outcome<JobNow> Reader::read(Depth depth, Publication* copy) const {
  const auto refuse = [this](const std::string& why) { return Failure{path_ + " " + why}; };
  const auto beginning = std::make_unique<Header>();
  const Header& header = *beginning;
  if (!read_at(file_.number(), 0, static_cast<void*>(beginning.get()), sizeof header)) {
    return refuse("is not a live record");
  }
  Outcome<JobNow> checked = job_of(header, path_);
  if (!checked) return checked;
  JobNow job = std::move(*checked);
  job.hosts.front().read_monotonic = nanoseconds_of(CLOCK_MONOTONIC);
  struct stat state {};
  fstat(file_.number(), &state);
  const std::uint32_t slots = header.slots.load();
  if (static_cast<std::size_t>(state.st_size) < offset_of_slot(slots)) {
    return refuse("is cut off: it has no room for its " + std::to_string(slots) + " ranks");
  }
  if (copy != nullptr) copy->begin(header, job.hosts.front());
  const auto slot = std::make_unique<Slot>();  // without kinds
  const std::size_t bytes = depth == Depth::totals ? offsetof(Slot, kinds) : sizeof(Slot);
  for (std::uint32_t i = 0; i < slots; ++i) {
    const std::string which = "its rank number " + std::to_string(i);
    if (!copy_slot(file_.number(), offset_of_slot(i), bytes, *slot))
      return refuse("cannot be read: " + which + " is cut off or changes all the time");
    const Presence presence = presence_of(slot->owner);
    std::optional<RankNow> rank = rank_of(*slot, header.ranks, presence);
    if (!rank) return refuse("is corrupted: " + which + " contradicts itself");
    if (copy != nullptr) copy->add(*slot, presence);
    job.here.push_back(std::move(*rank));
  }
  return job;
}

Outcome<Publication> Reader::read_to_publish() const {
  Publication publication(path_.substr(path_.rfind('/') + 1));
  Outcome<JobNow> job = read(Depth::kinds, &publication);
  if (!job) return job.failure();
  publication.job = std::move(*job);
  return publication;
}

Outcome<std::vector<std::string>> find_records(const std::string& root) {
  const std::string path = directory_of_records(root);
  struct stat state {};
  if (lstat(path.c_str(), &state) != 0 && errno == ENOENT) return std::vector<std::string>();
  const Outcome<Descriptor> directory = open_directory(path, false);
  if (!directory) return directory.failure();
  std::vector<std::string> records;
  const DirectoryLock lock(directory->number());
  for (const std::string& name : names_in(path)) {
    if (!lock.is_held() || !remove_if_dead(*directory, name)) records.push_back(path + "/" + name);
  }
  return records;
}

}  // namespace halcyon::live
