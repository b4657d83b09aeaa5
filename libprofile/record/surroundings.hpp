// What the machine was like around a run: what the operating system counted, background, and probes.
#pragma once

#include <array>

#include "libprofile/record/meters.hpp"
#include "libprofile/format/rank_figures.hpp"
#include "libprofile/record/settings.hpp"

namespace halcyon {

class Surroundings {
 public:
  /// Just before the first segment: takes as long as the settings want.
  void measure_before(const Meters& meters, const Settings& settings);
  /// Just after the last one.
  void measure_after(const Meters& meters, const Settings& settings);

  /// Begins to count what the operating system counts.
  void begin();
  /// Reads what it has counted since; put_into() gives what was read last.
  void look();

  /// The names of the host, and of its processor.
  void find_names();

  /// Async-signal-safe.
  void put_into(RankFigures& figures) const;

 private:
  std::array<char, 256> host_{};
  std::array<char, most_cpu_text> cpu_{};
  EvidenceValues at_start_{};
  EvidenceValues evidence_{};  // since the start, when it was last looked at
  BackgroundTimes background_before_;
  BackgroundTimes background_after_;
  ProbeTimes probes_before_{};
  ProbeTimes probes_after_{};
};

}  // namespace halcyon
