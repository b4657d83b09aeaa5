// The state of the machine around a run: the operating system's counters, background, and probes.
#pragma once

#include <array>

#include "libprofile/format/rank_figures.hpp"
#include "libprofile/record/meters.hpp"
#include "libprofile/record/settings.hpp"
#include "libprofile/record/system_totals.hpp"

namespace halcyon {

class Surroundings {
 public:
  Surroundings();

  /// Called just before the first segment; the settings say how long it takes.
  void measure_before(const Meters& meters, const Settings& settings);
  /// Called just after the last segment.
  void measure_after(const Meters& meters, const Settings& settings);

  /// Reads the operating system's counters at the start, in the thread that calls MPI.
  void begin();
  /// Reads the counters again; put_into() gives their change since the start. Async-signal-safe.
  void look();

  /// The names of the host, and of its processor. If the settings leave names out, the host gets one that is the same
  /// on all ranks there, until it boots again.
  void find_names(const Settings& settings);
  const char* host() const { return host_.data(); }

  /// Async-signal-safe.
  void put_into(RankFigures& figures) const;

 private:
  std::array<char, 256> host_{};
  std::array<char, most_cpu_text> cpu_{};
  SystemTotals system_;
  EvidenceValues at_start_{};
  EvidenceValues evidence_;  // since the start, at the last look(); unknown before
  BackgroundTimes background_before_;
  BackgroundTimes background_after_;
  ProbeTimes probes_before_{};
  ProbeTimes probes_after_{};
};

}  // namespace halcyon
