#include "libprofile/live/publication.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "libprofile/format/stream.hpp"
#include "libprofile/live/place.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::live {
namespace {

// It may be anybody's: each file in it is checked.
Outcome<Descriptor> open_any_directory(const std::string& path) {
  Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Failure{"cannot open " + path + ": " + std::strerror(errno)};
  return directory;
}

/// Reads a file from its beginning to its end.
class Bytes {
 public:
  explicit Bytes(int file) : file_(file) {}

  bool next(void* data, std::size_t bytes) {
    if (!read_at(file_, at_, data, bytes)) return false;
    at_ += bytes;
    return true;
  }

 private:
  int file_;
  std::size_t at_ = 0;
};

}  // namespace

void Publication::begin(const Header& header, const HostNow& host) {
  PublicationHeader own{.magic = publication_magic,
                        .version = publication_version,
                        .header_bytes = sizeof(PublicationHeader),
                        .published_at = nanoseconds_of(CLOCK_REALTIME),
                        .read_monotonic = host.read_monotonic,
                        .record = {}};
  record_.copy(own.record.data(), own.record.size() - 1);
  append(&own, sizeof own);
  append(&header, sizeof header);
}

void Publication::add(const Slot& slot, const Presence& presence) {
  const auto is_used = [](const Kind& kind) { return kind.key.load() != 0; };
  const PublishedRank rank{
      .is_alive = presence.is_alive,
      .is_stopped = presence.is_stopped,
      .kinds = static_cast<std::uint32_t>(std::count_if(slot.kinds.begin(), slot.kinds.end(), is_used)),
      .reserved = 0};
  append(&rank, sizeof rank);
  append(&slot, offsetof(Slot, kinds));
  for (const Kind& kind : slot.kinds) {
    if (is_used(kind)) append(&kind, sizeof kind);
  }
}

Status Publication::write_to(const std::string& directory) const {
  const Outcome<Descriptor> opened = open_any_directory(directory);
  if (!opened) return opened.failure();
  std::string name = record_ + "." + job.hosts.front().name;
  std::replace(name.begin(), name.end(), '/', '_');
  name += publication_suffix;
  const std::string next = "." + name + "." + std::to_string(getpid());
  const auto refuse = [&](const std::string& what) {
    return Failure{"cannot " + what + " " + directory + "/" + name + ": " + std::strerror(errno)};
  };
  unlinkat(opened->number(), next.c_str(), 0);
  const Descriptor file(
      openat(opened->number(), next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return refuse("write");
  const bool is_written = write_fully(file.number(), bytes_.data(), bytes_.size());
  if (is_written && renameat(opened->number(), next.c_str(), opened->number(), name.c_str()) == 0) return Done{};
  const Failure failure = refuse("replace");
  unlinkat(opened->number(), next.c_str(), 0);
  return failure;
}

Outcome<std::vector<std::string>> find_publications(const std::string& directory) {
  const Outcome<Descriptor> opened = open_any_directory(directory);
  if (!opened) return opened.failure();
  std::vector<std::string> names = names_in(directory);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(publication_suffix); });
  return names;
}

Outcome<PublishedJob> read_publication(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const auto refuse = [&path](const std::string& why) { return Failure{path + " " + why}; };
  const Outcome<Descriptor> opened = open_any_directory(directory);
  if (!opened) return opened.failure();
  const Outcome<Descriptor> file = open_record(*opened, name, O_RDONLY);
  if (!file) return Failure{path + ": " + file.failure().message};
  Bytes bytes(file->number());
  PublicationHeader own{};
  if (!bytes.next(&own, sizeof own) || own.magic != publication_magic) {
    return refuse("was not written by halcyon watch --publish");
  }
  if (own.version != publication_version) {
    return refuse("has version " + std::to_string(own.version) + ", this Halcyon reads version " +
                  std::to_string(publication_version));
  }
  if (own.header_bytes != sizeof own) return refuse("is corrupted: its header contradicts itself");
  const auto header = std::make_unique<Header>();
  if (!bytes.next(static_cast<void*>(header.get()), sizeof *header)) return refuse("is cut off");
  Outcome<JobNow> job = job_of(*header, path);
  if (!job) return job.failure();
  PublishedJob published{.job = std::move(*job),
                         .record = text_in(own.record.data(), own.record.size()),
                         .published_at = own.published_at};
  published.job.hosts.front().read_monotonic = own.read_monotonic;
  for (std::uint32_t i = 0; i < header->slots.load(); ++i) {
    PublishedRank rank{};
    const auto slot = std::make_unique<Slot>();
    if (!bytes.next(&rank, sizeof rank) || !bytes.next(static_cast<void*>(slot.get()), offsetof(Slot, kinds))) {
      return refuse("is cut off");
    }
    if (rank.kinds > most_kinds)
      return refuse("is corrupted: its rank number " + std::to_string(i) + " has too many kinds");
    if (!bytes.next(static_cast<void*>(slot->kinds.data()), rank.kinds * sizeof(Kind))) return refuse("is cut off");
    std::optional<RankNow> now =
        rank_of(*slot, header->ranks,
                {.is_alive = rank.is_alive != 0, .is_stopped = rank.is_alive != 0 && rank.is_stopped != 0});
    if (!now) return refuse("is corrupted: its rank number " + std::to_string(i) + " contradicts itself");
    published.job.here.push_back(std::move(*now));
  }
  return published;
}

}  // namespace halcyon::live
