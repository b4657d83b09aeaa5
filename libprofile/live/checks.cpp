#include "libprofile/live/checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "libprofile/system/process_facts.hpp"

namespace halcyon::live {
namespace {

// No real run exceeds it; sums over ranks stay finite.
constexpr double most_seconds = 1e12;
constexpr double most_work = 1e24;
constexpr double most_squared_seconds = most_seconds * most_seconds;

template <std::size_t N>
std::string text_of(const std::array<char, N>& text) {
  return text_in(text.data(), N);
}

bool is_seconds(double value) { return value >= 0.0 && value <= most_seconds; }  // false for NaN

bool are_possible(const Totals& totals) {
  const auto all_seconds = [](const auto& values) { return std::all_of(values.begin(), values.end(), is_seconds); };
  return is_seconds(totals.seconds) && is_seconds(totals.usual_seconds) && is_seconds(totals.last_wait) &&
         is_seconds(totals.suspended_seconds) && all_seconds(totals.parts) && all_seconds(totals.beyond) &&
         totals.work >= 0.0 && totals.work <= most_work && totals.last_place < most_places;
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

}  // namespace

std::string text_in(const char* begin, std::size_t most) { return {begin, strnlen(begin, most)}; }

Presence presence_of(const Owner& owner) {
  if (owner.process <= 0) return {};
  const std::optional<ProcessFacts> facts = facts_of(owner.process);
  if (!facts || facts->has_ended() || facts->start_time != owner.start_time) return {};
  return {.is_alive = true, .is_stopped = facts->state == 'T' || facts->state == 't'};
}

Outcome<JobNow> job_of(const Header& header, const std::string& path) {
  const auto refuse = [&path](const std::string& why) { return Failure{path + " " + why}; };
  if (header.magic != magic) return refuse("is not a live record");
  if (header.version != layout_version) {
    return refuse("is a live record of version " + std::to_string(header.version) + ", this Halcyon reads version " +
                  std::to_string(layout_version));
  }
  const std::uint32_t slots = header.slots.load();
  constexpr std::uint32_t most_ranks = 1u << 24;
  if (header.header_bytes != header_bytes || header.slot_bytes != slot_bytes || header.ranks == 0 ||
      header.ranks > most_ranks || slots > most_slots || slots > header.ranks || header.user != geteuid()) {
    return refuse("is corrupted: its header contradicts itself");
  }
  return JobNow{.file = path,
                .job = text_of(header.job),
                .hosts = {{.name = text_of(header.host), .start_monotonic = header.start_monotonic}},
                .command = text_of(header.command),
                .ranks = header.ranks,
                .launcher = header.launcher,
                .start_time = header.start_time};
}

std::optional<RankNow> rank_of(const Slot& slot, std::uint32_t ranks, const Presence& presence) {
  const std::uint32_t state = slot.state.load();
  RankNow now{.rank = slot.owner.rank,
              .process = slot.owner.process,
              .is_alive = presence.is_alive,
              .is_stopped = presence.is_stopped,
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

}  // namespace halcyon::live
