#include "report/words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace halcyon {
namespace {

constexpr double least_told_share = 0.001;  // of the run time, of what the operating system saw

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

std::string seconds(double value) {
  const double size = 1.000005 * std::abs(value);  // what would be rounded to 1000.00 has the next unit
  if (size >= 100.0) return fmt::format("{:.1f} s", value);
  if (size >= 1.0) return fmt::format("{:.2f} s", value);
  if (size >= 1e-3) return fmt::format("{:.2f} ms", value * 1e3);
  return size > 0.0 ? fmt::format("{:.2f} µs", value * 1e6) : "0 s";
}

std::string plural(std::uint64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string_view advice(const Profile& profile, Verdict verdict) {
  if (!profile.composed_of.empty()) return "Composed of several runs: compare with it, do not quote it.";
  switch (verdict) {
    case Verdict::green: return "Quote the number.";
    case Verdict::yellow: return "Measure again if you can.";
    case Verdict::red: return "Throw the number away and measure again.";
    case Verdict::unknown: break;
  }
  return "Nothing can be said of this run.";
}

std::string counter_words(const std::string& counter) {
  if (counter == "cpu") return "CPU time (no hardware counter was used)";
  if (counter == "none") return "none";
  return counter.substr(0, 5) == "papi:" ? "PAPI event " + counter.substr(5) : counter;
}

std::string boundary_words(const Profile& profile) {
  std::string text;
  for (const BoundaryCount& count : profile.boundaries()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.operation, count.segments);
  }
  if (text.empty()) text = "none";
  return profile.boundary.empty() ? text : fmt::format("{} (--boundary {})", text, profile.boundary);
}

std::string with_interval(const MethodResult& result) {
  return fmt::format("{:.1f} % (90 % interval {:.1f} to {:.1f})", result.interference_percent,
                     result.interval_percent.low, result.interval_percent.high);
}

std::string_view words_of(ExcessKind kind) {
  switch (kind) {
    case ExcessKind::computation: return "computation";
    case ExcessKind::point_to_point: return "point-to-point";
    case ExcessKind::collective: return "collective";
    case ExcessKind::file_io: break;
  }
  return "file I/O";
}

std::string known_runs_words(const Profile& profile) {
  const KnownRuns& known = *profile.known_runs;
  const auto percent = [&profile](double seconds_more) {
    return profile.run_time_seconds > 0.0 ? 100.0 * seconds_more / profile.run_time_seconds : 0.0;
  };
  const double displacement = percent(known.displacement_seconds);
  const std::string of =
      fmt::format("the best of {} known {} of this work", known.runs, known.runs == 1 ? "run" : "runs");
  const std::string interval =
      fmt::format("(90 % interval {:.1f} to {:.1f} %)", percent(known.low_seconds), percent(known.high_seconds));
  constexpr double least_told_percent = 0.1;
  const bool may_be_none = known.low_seconds <= 0.0 && known.high_seconds >= 0.0;
  if (may_be_none || std::abs(displacement) < least_told_percent) {
    return fmt::format("as fast as {}, {:+.1f} % {}", of, displacement, interval);
  }
  return fmt::format("{} than {} by {:.1f} % of its time {}", displacement > 0.0 ? "slower" : "faster", of,
                     std::abs(displacement), interval);
}

std::string probes_words(const Analysis& analysis) {
  std::string text;
  for (const ProbeInfo& info : probe_infos) {
    if (const std::optional<ProbeDisplacement>& displacement = analysis.probes[index_of(info.probe)]) {
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", info.words, displacement->speed_percent());
    }
  }
  return text.empty() ? text : text + " of the best speed known here";
}

std::string evidence_words(const Profile& profile, const Attribution& attribution) {
  std::string text;
  const auto add = [&text](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (attribution.off_cpu_seconds) {
    add(fmt::format("{:.0f} % of it off the CPU", 100.0 * *attribution.off_cpu_seconds / attribution.seconds));
  }
  const auto count = [&](Evidence evidence, std::string_view word) {
    if (const double all = sum(profile.evidence[index_of(evidence)]); all > 0.0) {
      add(plural(static_cast<std::uint64_t>(all), word));
    }
  };
  const auto time = [&](Evidence evidence, std::string_view words) {
    const double all = sum(profile.by_host(evidence));
    if (all >= least_told_share * profile.run_time_seconds) add(fmt::format("{} {}", words, seconds(all)));
  };
  count(Evidence::involuntary_switches, "preemption");
  count(Evidence::major_faults, "major page fault");
  time(Evidence::steal, "stolen by the hypervisor");
  time(Evidence::cpu_pressure, "waits for a CPU");
  time(Evidence::io_pressure, "waits for I/O");
  time(Evidence::memory_pressure, "waits for memory");
  return text;
}

}  // namespace halcyon
