// When a disturber works: throughout, in a part of the run, periodically, or in random bursts.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>

#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

struct Throughout {};

/// Begin and end, counted from the start of the run: in seconds, or in shares of its length.
struct PartOfRun {
  double from = 0.25;
  double to = 0.75;
  bool in_shares = true;
};

/// Seconds of work and of rest in turn, work first.
struct Periodic {
  double on = 1.0;
  double off = 1.0;
};

/// Mean lengths, in seconds, of exponentially distributed work and rest in turn, rest first.
struct Bursts {
  double on = 0.2;
  double off = 0.6;
};

using Schedule = std::variant<Throughout, PartOfRun, Periodic, Bursts>;

/// Reads `throughout`, `part[:FROM..TO]`, `periodic[:ON,OFF]` or `bursts[:ON,OFF]`; FROM and TO both times such as 2s
/// or both percentages such as 25%.
Outcome<Schedule> parse_schedule(std::string_view text);
/// The text of a schedule, with all its figures; parse_schedule() reads the same schedule from it.
std::string text_of(const Schedule& schedule);
/// Whether the schedule depends on the length of the run.
bool needs_length(const Schedule& schedule);

/// A stretch of work, in seconds since the run began; `to` may be infinite.
struct Stretch {
  double from = 0.0;
  double to = 0.0;
};

/// The stretches of a schedule, in order. The same seed gives the same bursts.
class Stretches {
 public:
  /// A part in shares of the run needs `run_seconds`.
  Stretches(const Schedule& schedule, double run_seconds, std::uint64_t seed)
      : schedule_(schedule), run_seconds_(run_seconds), random_(seed) {}

  /// The next stretch; nothing after the last one.
  std::optional<Stretch> next();

 private:
  Schedule schedule_;
  double run_seconds_;
  std::mt19937_64 random_;
  double reached_ = 0.0;
  bool is_over_ = false;
};

/// Does pieces of work in every stretch, and sleeps in between. `clock` has now() and sleep_until(seconds), both in
/// seconds since the run began. `begin` is called at the start of every stretch. `work` does a piece of a few
/// milliseconds at most, and returns false to end everything.
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
