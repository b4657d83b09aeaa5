#include "cli/kept/known_before.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <nlohmann/json.hpp>

#include "analyzer/known/known_displacement.hpp"
#include "analyzer/machine/probes.hpp"
#include "cli/console/output.hpp"
#include "report/json.hpp"

namespace halcyon::cli {
namespace {

constexpr RecordLimits limits_of_works{.most_records = 256, .most_bytes = std::size_t{256} << 10};
constexpr RecordLimits limits_of_hosts{.most_records = 1024, .most_bytes = std::size_t{16} << 10};
// One command on several inputs gives several works of the same circumstances.
constexpr int most_of_same_circumstances = 8;

bool is_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

Outcome<KnownBefore> KnownBefore::open(RecordStore::Use use) {
  Outcome<RecordStore> works = RecordStore::open("baselines", limits_of_works, use);
  if (!works) return works.failure();
  Outcome<RecordStore> hosts = RecordStore::open("hosts", limits_of_hosts, use);
  if (!hosts) return hosts.failure();
  return KnownBefore(std::move(*works), std::move(*hosts));
}

template <class Record>
std::optional<Record> KnownBefore::checked(const RecordStore& store, const std::string& name,
                                           Outcome<Record> (*parse)(const nlohmann::ordered_json&)) const {
  const auto ignore = [this](const std::string& why) -> std::optional<Record> {
    if (!has_told_of_damage_) cli::tell(why + "; it is ignored (halcyon baselines forget removes it)");
    has_told_of_damage_ = true;
    return std::nullopt;
  };
  const Outcome<std::optional<std::string>> text = store.read(name);
  if (!text) return ignore(text.failure().message);
  if (!*text) return std::nullopt;
  const Outcome<Record> record = parse(nlohmann::ordered_json::parse(**text, nullptr, false));
  if (!record) return ignore(store.path() + "/" + name + " is damaged: " + record.failure().message);
  return *record;
}

std::optional<KnownWork> KnownBefore::work_named(const std::string& name) const {
  return checked(works_, name, work_from);
}

std::optional<KnownHost> KnownBefore::host_named(const std::string& name) const {
  return checked(hosts_, name, host_from);
}

std::vector<KnownBefore::NamedWork> KnownBefore::works() const {
  std::vector<NamedWork> result;
  for (const RecordStore::Entry& entry : works_.entries()) {
    if (std::optional<KnownWork> work = work_named(entry.name)) {
      result.push_back({entry.name, entry.used, std::move(*work)});
    }
  }
  return result;
}

std::vector<KnownBefore::NamedHost> KnownBefore::hosts() const {
  std::vector<NamedHost> result;
  for (const RecordStore::Entry& entry : hosts_.entries()) {
    if (std::optional<KnownHost> host = host_named(entry.name)) {
      result.push_back({entry.name, entry.used, std::move(*host)});
    }
  }
  return result;
}

void KnownBefore::tell(Profile& profile, const Grouping& grouping) const {
  if (profile.exit_state == "finalized") {
    const Circumstances circumstances = kept(circumstances_of(profile));
    for (int place = 0; place < most_of_same_circumstances; ++place) {
      const std::optional<KnownWork> work = work_named(id_of(circumstances) + "-" + std::to_string(place));
      if (!work || work->circumstances != circumstances) continue;
      const std::optional<KnownRuns> displacement = displacement_from(profile, grouping, *work);
      const bool is_better =
          displacement && (!profile.known_runs || displacement->matched_seconds > profile.known_runs->matched_seconds);
      if (is_better) profile.known_runs = displacement;
    }
  }
  for (const HostProbes& probes : host_probes(profile)) {
    const std::optional<KnownHost> host = host_named(id_of(known_by(probes, profile.recorder_version)));
    if (!host || !host->is_of(probes, profile.recorder_version)) continue;
    for (std::size_t i = 0; i < probe_count; ++i) {
      std::vector<double>& known = profile.probes[i].known;
      if (std::isnan(host->best[i])) continue;
      known.resize(static_cast<std::size_t>(profile.ranks), std::numeric_limits<double>::quiet_NaN());
      for (std::size_t rank = 0; rank < known.size(); ++rank) {
        if (profile.rank_host[rank] == probes.host) known[rank] = host->best[i];
      }
    }
  }
}

std::string KnownBefore::place_of(const Circumstances& circumstances,
                                  const std::function<bool(const KnownWork&)>& is_it) const {
  const std::string id = id_of(circumstances);
  std::string free;
  for (int place = 0; place < most_of_same_circumstances; ++place) {
    const std::string name = id + "-" + std::to_string(place);
    const std::optional<KnownWork> work = work_named(name);
    const bool is_taken = work && work->circumstances == circumstances;
    if (is_taken && is_it(*work)) return name;
    if (!is_taken && free.empty()) free = name;
  }
  if (!free.empty()) return free;
  for (const RecordStore::Entry& entry : works_.entries()) {  // the last match is the least recently used
    if (entry.name.starts_with(id)) free = entry.name;
  }
  return free;
}

Status KnownBefore::learn_of_hosts(const Profile& profile) const {
  const Outcome<Descriptor> lock = hosts_.lock();
  if (!lock) return lock.failure();
  for (const HostProbes& probes : host_probes(profile)) {
    KnownHost now = known_by(probes, profile.recorder_version);
    now.host = valid_utf8(now.host);
    const std::string name = id_of(now);
    const std::optional<KnownHost> before = host_named(name);
    if (before && before->is_of(probes, profile.recorder_version)) now = with_run(*before, probes);
    if (const Status written = hosts_.write(name, text_of(now)); !written) return written;
  }
  return Done{};
}

Status KnownBefore::learn(const Profile& profile, const Grouping& grouping, bool has_medians) const {
  if (profile.exit_state != "finalized") return Done{};
  if (const Status learnt = learn_of_hosts(profile); !learnt) return learnt;
  const Outcome<Descriptor> lock = works_.lock();
  if (!lock) return lock.failure();
  const Circumstances circumstances = kept(circumstances_of(profile));
  const std::string name = place_of(
      circumstances, [&](const KnownWork& work) { return displacement_from(profile, grouping, work).has_value(); });
  std::optional<KnownWork> before = work_named(name);
  const bool is_known =
      before && before->circumstances == circumstances && displacement_from(profile, grouping, *before);
  if (!is_learnt_from(profile, has_medians)) {
    if (is_known) works_.touch(name);
    return Done{};
  }
  KnownWork now = is_known ? with_run(std::move(*before), profile, grouping) : known_by(profile, grouping);
  now.circumstances = circumstances;
  return works_.write(name, text_of(std::move(now), limits_of_works.most_bytes));
}

Outcome<bool> KnownBefore::take(const KnownWork& work) const {
  const Outcome<Descriptor> lock = works_.lock();
  if (!lock) return lock.failure();
  const std::string name =
      place_of(work.circumstances, [&](const KnownWork& other) { return is_same_work(work, other); });
  const std::optional<KnownWork> before = work_named(name);
  const bool is_known = before && before->circumstances == work.circumstances && is_same_work(work, *before);
  if (is_known && before->runs >= work.runs) return false;
  const Status written = works_.write(name, text_of(work, limits_of_works.most_bytes));
  return written ? Outcome<bool>(true) : written.failure();
}

Outcome<bool> KnownBefore::take(const KnownHost& host) const {
  const Outcome<Descriptor> lock = hosts_.lock();
  if (!lock) return lock.failure();
  const std::optional<KnownHost> before = host_named(id_of(host));
  if (before && before->runs >= host.runs) return false;
  const Status written = hosts_.write(id_of(host), text_of(host));
  return written ? Outcome<bool>(true) : written.failure();
}

std::vector<std::string> KnownBefore::names() const {
  std::vector<std::string> result;
  for (const RecordStore* store : {&works_, &hosts_}) {
    for (const RecordStore::Entry& entry : store->entries()) result.push_back(entry.name);
  }
  return result;
}

Outcome<bool> KnownBefore::forget(const std::string& name) const {
  if (!is_name(name)) return false;
  for (const RecordStore* store : {&works_, &hosts_}) {
    const Outcome<Descriptor> lock = store->lock();
    if (!lock) return lock.failure();
    if (store->remove(name)) return true;
  }
  return false;
}

}  // namespace halcyon::cli
