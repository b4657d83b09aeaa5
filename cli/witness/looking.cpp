#include "cli/witness/looking.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "cli/running/beside.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::cli {
namespace {

constexpr double between_looks = 0.5;     // s
constexpr double most_of_a_core = 0.001;  // that samples use
constexpr double most_at_first = 0.02;    // s of CPU time, beside that: else a short run would have no second sample

constexpr std::size_t most_processes = 1 << 16;  // that are known at a time; each takes some 300 bytes

double cpu_seconds() { return 1e-9 * static_cast<double>(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID)); }

}  // namespace

Witness::Witness(std::optional<Switches> switches, pid_t ancestor)
    : switches_(std::move(switches)), processes_(ancestor), waits_(is_watched_) {}

// Who had them so far; what has ended since is then not needed any more.
void Witness::tell_apart() {
  for (const auto& [process, seconds] : switches_ ? waits_.take() : sampled_.take()) {
    parties_[processes_.party_of(process)] += seconds;
  }
  processes_.forget_ended();
}

void Witness::watch(const std::stop_token& stop) {
  const std::uint64_t began = Switches::now();
  const double cpu_began = cpu_seconds();
  // As seldom as keeps it cheap, however many processes there are.
  const auto pause = [&] {
    const double passed = 1e-9 * static_cast<double>(Switches::now() - began);
    return std::max(between_looks, (cpu_seconds() - cpu_began - most_at_first) / most_of_a_core - passed);
  };
  if (switches_) {
    while (!stop.stop_requested()) read_switches(between_looks);
    read_switches(0.0);
  } else {
    do {
      take_sample();
    } while (waited(stop, pause()));
    take_sample();
  }
  waits_.end(Switches::now());
  seen_.seconds = 1e-9 * static_cast<double>(Switches::now() - began);
  seen_.cpu_seconds = cpu_seconds() - cpu_began;
}

Seen Witness::seen() {
  tell_apart();
  seen_.parties.assign(parties_.begin(), parties_.end());
  std::ranges::stable_sort(seen_.parties, std::greater(), &std::pair<Party, double>::second);
  for (const auto& [party, seconds] : seen_.parties) seen_.waited_seconds += seconds;
  seen_.by = switches_ ? "switches" : "samples";
  if (switches_) seen_.lost_records = switches_->lost();
  return seen_;
}

void Witness::read_switches(double seconds) {
  records_.clear();
  switches_->read(seconds, records_);
  for (const Record& record : records_) {
    if (const auto* one = std::get_if<Switch>(&record.what)) waits_.add(*one);
    if (const auto* forked = std::get_if<Forked>(&record.what)) processes_.add(*forked);
    if (const auto* renamed = std::get_if<Renamed>(&record.what)) processes_.add(*renamed);
  }
  if (processes_.size() > most_processes) tell_apart();
}

void Witness::take_sample() {
  const std::vector<Sample> samples = samples_now(is_watched_);
  for (const Sample& sample : samples) processes_.see(sample.process, sample.name);
  sampled_.add(samples);
  if (processes_.size() > most_processes) tell_apart();
}

Witnessed in_profile(const Seen& seen) {
  constexpr double least_share = 0.001;
  Witnessed witnessed{
      .by = std::string(seen.by), .seconds = seen.seconds, .waited_seconds = seen.waited_seconds, .whose = {}};
  for (const auto& [party, had] : seen.parties) {
    if (had >= least_share * seen.waited_seconds) witnessed.add(party, had);
  }
  return witnessed;
}

}  // namespace halcyon::cli
