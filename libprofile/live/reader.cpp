#include "libprofile/live/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::live {
namespace {

// No real run exceeds it; sums over ranks stay finite.
constexpr double most_seconds = 1e12;
constexpr double most_squared_seconds = most_seconds * most_seconds;

template <std::size_t N>
std::string text_of(const std::array<char, N>& text) {
  return one_line(std::string(text.data(), strnlen(text.data(), N)));
}

bool is_seconds(double value) { return value >= 0.0 && value <= most_seconds; }  // false for NaN

bool are_possible(const Totals& totals) {
  const auto all_seconds = [](const auto& values) { return std::all_of(values.begin(), values.end(), is_seconds); };
  return is_seconds(totals.seconds) && is_seconds(totals.usual_seconds) && is_seconds(totals.last_wait) &&
         is_seconds(totals.suspended_seconds) && all_seconds(totals.parts) && all_seconds(totals.beyond) &&
         totals.last_place < most_places;
}

// None if its values contradict each other.
std::optional<KindNow> kind_of(const Kind& kind, const Slot& slot) {
  const std::uint32_t place = kind.place.load();
  KindNow now{.key = kind.key.load(),
              .place = place < most_places ? text_of(slot.places[place]) : std::string(),
              .segments = kind.segments.load(),
              .seconds = kind.seconds.load(),
              .squared_seconds = kind.squared_seconds.load(),
              .usual_seconds = kind.usual_seconds.load(),
              .first_bin = kind.first_bin.load(),
              .below = kind.below.load(),
              .below_seconds = kind.below_seconds.load(),
              .above = kind.above.load(),
              .above_seconds = kind.above_seconds.load()};
  for (std::size_t i = 0; i < bin_count; ++i) now.bins[i] = kind.bins[i].load();
  const bool is_possible = place < most_places && is_seconds(now.seconds) && is_seconds(now.usual_seconds) &&
                           is_seconds(now.below_seconds) && is_seconds(now.above_seconds) &&
                           now.squared_seconds >= 0.0 && now.squared_seconds <= most_squared_seconds &&
                           now.first_bin <= bin_of(most_seconds * 1e9);
  return is_possible ? std::optional(std::move(now)) : std::nullopt;
}

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

// None if its values contradict each other.
std::optional<RankNow> rank_of(const Slot& slot, std::uint32_t ranks) {
  const std::uint32_t state = slot.state.load();
  RankNow now{.rank = slot.owner.rank,
              .process = slot.owner.process,
              .is_alive = slot.owner.process > 0 && is_alive(slot.owner.process, slot.owner.start_time),
              .state = static_cast<State>(state),
              .boundaries = slot.boundaries.load(),
              .totals = slot.totals[slot.newest.load() % 2]};
  if (slot.owner.process <= 0 || slot.owner.rank >= ranks || state > static_cast<std::uint32_t>(State::ended) ||
      !are_possible(now.totals)) {
    return std::nullopt;
  }
  now.last_place = text_of(slot.places[now.totals.last_place]);
  for (const Kind& kind : slot.kinds) {
    if (kind.key.load() == 0) continue;
    std::optional<KindNow> one = kind_of(kind, slot);
    if (!one) return std::nullopt;
    now.kinds.push_back(std::move(*one));
  }
  return now;
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

Outcome<JobNow> Reader::read(Depth depth) const {
  const auto refuse = [this](const std::string& why) { return Failure{path_ + " " + why}; };
  const auto beginning = std::make_unique<Header>();
  const Header& header = *beginning;
  if (!read_at(file_.number(), 0, static_cast<void*>(beginning.get()), sizeof header) || header.magic != magic) {
    return refuse("is not a live record");
  }
  if (header.version != layout_version) {
    return refuse("is a live record of version " + std::to_string(header.version) + ", this Halcyon reads version " +
                  std::to_string(layout_version));
  }
  struct stat state {};
  fstat(file_.number(), &state);
  const std::uint32_t slots = header.slots.load();
  constexpr std::uint32_t most_ranks = 1u << 24;
  if (header.header_bytes != header_bytes || header.slot_bytes != slot_bytes || header.ranks == 0 ||
      header.ranks > most_ranks || slots > most_slots || slots > header.ranks || header.user != geteuid()) {
    return refuse("is corrupted: its header contradicts itself");
  }
  if (static_cast<std::size_t>(state.st_size) < offset_of_slot(slots)) {
    return refuse("is cut off: it has no room for its " + std::to_string(slots) + " ranks");
  }
  JobNow job{.file = path_,
             .job = text_of(header.job),
             .host = text_of(header.host),
             .command = text_of(header.command),
             .ranks = header.ranks,
             .launcher = header.launcher,
             .start_time = header.start_time,
             .start_monotonic = header.start_monotonic,
             .read_monotonic = nanoseconds_of(CLOCK_MONOTONIC)};
  const auto slot = std::make_unique<Slot>();  // without kinds
  const std::size_t bytes = depth == Depth::totals ? offsetof(Slot, kinds) : sizeof(Slot);
  for (std::uint32_t i = 0; i < slots; ++i) {
    const std::string which = "its rank number " + std::to_string(i);
    if (!copy_slot(file_.number(), offset_of_slot(i), bytes, *slot))
      return refuse("cannot be read: " + which + " is cut off or changes all the time");
    std::optional<RankNow> rank = rank_of(*slot, header.ranks);
    if (!rank) return refuse("is corrupted: " + which + " contradicts itself");
    job.here.push_back(std::move(*rank));
  }
  return job;
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
