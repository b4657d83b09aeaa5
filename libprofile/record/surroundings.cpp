#include "libprofile/record/surroundings.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/record/background.hpp"
#include "libprofile/record/cpu_model.hpp"
#include "libprofile/record/probes.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/fnv1a.hpp"

namespace halcyon {
namespace {

// Takes half of the time that the settings give to the background.
BackgroundTimes measure_background(const Meters& meters, const Settings& settings) {
  const FixedWork work = measure_fixed_work(meters.clock, meters.ticks_of(0.5 * settings.background_seconds));
  return {meters.seconds_of(work.quantum), meters.seconds_of(work.mean)};
}

// All unknown if the settings turn the probes off. A ledger compares the ranks of a run, by their registers; caches and
// memory only say something beside earlier runs of the same user.
ProbeTimes probes(const Meters& meters, const Settings& settings) {
  if (!settings.probes) return {};
  return measure_probes(meters.clock, meters.scale.nanoseconds_per_tick(), !settings.keeps_profile);
}

// Of a host, the same for all its processes; tells nobody its name where the kernel says how it has numbered its start.
std::uint64_t number_of_host(std::string_view name) {
  const Descriptor file(direct::open("/proc/sys/kernel/random/boot_id", O_RDONLY));
  std::array<char, 64> text{};
  const ssize_t size = file ? direct::read(file.number(), text.data(), text.size()) : 0;
  return fnv1a(size > 0 ? std::string_view(text.data(), static_cast<std::size_t>(size)) : name);
}

}  // namespace

void Surroundings::measure_before(const Meters& meters, const Settings& settings) {
  background_before_ = measure_background(meters, settings);
  probes_before_ = probes(meters, settings);
}

void Surroundings::measure_after(const Meters& meters, const Settings& settings) {
  background_after_ = measure_background(meters, settings);
  probes_after_ = probes(meters, settings);
}

Surroundings::Surroundings() { evidence_.fill(std::numeric_limits<double>::quiet_NaN()); }

void Surroundings::begin() {
  system_.begin();
  at_start_ = system_.read();
}

void Surroundings::look() {
  const EvidenceValues now = system_.read();
  for (std::size_t i = 0; i < evidence_count; ++i) {
    // NaN stays NaN. Small differences between clocks, and threads that have ended, must not make a value negative.
    evidence_[i] = evidence_infos[i].is_sum ? std::max(now[i] - at_start_[i], 0.0) : now[i];
  }
}

void Surroundings::find_names(const Settings& settings) {
  int length = 0;
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  mpi.Get_processor_name(name, &length);
  if (!settings.names) std::snprintf(name, sizeof name, "host-%08x", static_cast<unsigned>(number_of_host(name)));
  std::copy_n(name, std::min(sizeof name, host_.size() - 1), host_.begin());
  const std::string cpu = cpu_model();
  std::copy_n(cpu.begin(), std::min(cpu.size(), cpu_.size() - 1), cpu_.begin());
}

void Surroundings::put_into(RankFigures& figures) const {
  figures.host = host_;
  figures.cpu = cpu_;
  figures.background_before = background_before_;
  figures.background_after = background_after_;
  figures.probes_before = probes_before_;
  figures.probes_after = probes_after_;
  figures.evidence = evidence_;
}

}  // namespace halcyon
