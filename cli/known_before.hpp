// What is known of earlier runs and of hosts: told to a run before it is judged, and told of it when that is done.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "cli/known_records.hpp"
#include "cli/state_directory.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon::cli {

/// The works and the hosts that are known, in the state directory.
class KnownBefore {
 public:
  static Outcome<KnownBefore> open(RecordStore::Use use);

  struct NamedWork {
    std::string name;
    std::int64_t used = 0;
    KnownWork work;
  };
  struct NamedHost {
    std::string name;
    std::int64_t used = 0;
    KnownHost host;
  };
  /// The last used first. Of damaged records, which are taken for none, the first one is told of.
  std::vector<NamedWork> works() const;
  std::vector<NamedHost> hosts() const;

  /// Fills in the profile's known runs, and the best that is known of its hosts.
  void tell(Profile& profile, const Grouping& grouping) const;
  /// Enters the run, where it is one to learn from.
  Status learn(const Profile& profile, const Grouping& grouping, bool has_medians) const;

  /// What of the same is known by more runs stays. Whether anything changed.
  Outcome<bool> take(const KnownWork& work) const;
  Outcome<bool> take(const KnownHost& host) const;
  /// Of all records, also of damaged ones.
  std::vector<std::string> names() const;
  /// Of a work or a host. False: there is none of that name.
  Outcome<bool> forget(const std::string& name) const;

 private:
  KnownBefore(RecordStore works, RecordStore hosts) : works_(std::move(works)), hosts_(std::move(hosts)) {}
  template <class Record>
  std::optional<Record> checked(const RecordStore& store, const std::string& name,
                                Outcome<Record> (*parse)(const nlohmann::ordered_json&)) const;
  std::optional<KnownWork> work_named(const std::string& name) const;
  std::optional<KnownHost> host_named(const std::string& name) const;
  /// Where `is_it` the same work, or where another of the same circumstances has its place.
  std::string place_of(const Circumstances& circumstances, const std::function<bool(const KnownWork&)>& is_it) const;
  Status learn_of_hosts(const Profile& profile) const;

  RecordStore works_;
  RecordStore hosts_;
  mutable bool has_told_of_damage_ = false;
};

}  // namespace halcyon::cli
