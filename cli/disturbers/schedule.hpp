// When a disturber works: throughout, in a part of the run, periodically, or in bursts that come by chance.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>

#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

struct Throughout {};

/// From and to since the run began: in seconds, or in shares of its length.
struct Part {
  double from = 0.25;
  double to = 0.75;
  bool in_shares = true;
};

/// Seconds of work and of rest by turns, work first.
struct Periodic {
  double on = 1.0;
  double off = 1.0;
};

/// Means of exponential laws of work and of rest, in seconds; rest first.
struct Bursts {
  double on = 0.2;
  double off = 0.6;
};

using Schedule = std::variant<Throughout, Part, Periodic, Bursts>;

/// Reads `throughout`, `part[:FROM..TO]`, `periodic[:ON,OFF]` or `bursts[:ON,OFF]`; FROM and TO both times such as 2s
/// or both percentages such as 25%.
Outcome<Schedule> parse_schedule(std::string_view text);
/// In the words that it is read from, with all its figures.
std::string text_of(const Schedule& schedule);
/// Whether it says nothing without the length of the run.
bool needs_length(const Schedule& schedule);

/// A time of work, in seconds since the run began; `to` may be infinite.
struct Stretch {
  double from = 0.0;
  double to = 0.0;
};

/// The stretches of a schedule one after another. The same seed gives the same bursts.
class Stretches {
 public:
  /// The length is that of the run, for a part in shares of it.
  Stretches(const Schedule& schedule, double run_seconds, std::uint64_t seed)
      : schedule_(schedule), run_seconds_(run_seconds), random_(seed) {}

  /// None after the last one.
  std::optional<Stretch> next();

 private:
  Schedule schedule_;
  double run_seconds_;
  std::mt19937_64 random_;
  double reached_ = 0.0;
  bool is_over_ = false;
};

/// Does pieces of work in every stretch, and sleeps in between. `clock` has now() and sleep_until(seconds), both since
/// the run began; `begin` hears of every stretch; `work` does a piece of some milliseconds at most, and gives false
/// when there is no more to do.
template <class Clock, class Begin, class Work>
void follow(Stretches stretches, Clock&& clock, Begin&& begin, Work&& work) {
  while (const std::optional<Stretch> stretch = stretches.next()) {
    if (clock.now() >= stretch->to) continue;  // slept too long
    clock.sleep_until(stretch->from);
    begin();
    while (clock.now() < stretch->to) {
      if (!work()) return;
    }
  }
}

}  // namespace halcyon::cli
