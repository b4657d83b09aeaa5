// Known runs and hosts: a run gets the known data before it is judged, and becomes known afterwards.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "cli/kept/known_records.hpp"
#include "cli/kept/state_directory.hpp"
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
  /// The most recently used first. Damaged records are left out; the first of them causes a message.
  std::vector<NamedWork> works() const;
  std::vector<NamedHost> hosts() const;

  /// Fills in the profile's known runs and the best known speeds of its hosts.
  void tell(Profile& profile, const Grouping& grouping) const;
  /// Makes the run known, if it may become known.
  Status learn(const Profile& profile, const Grouping& grouping, bool has_medians) const;

  /// Replaces a record of the same work or host, unless that one has as many runs or more. Returns whether it did.
  Outcome<bool> take(const KnownWork& work) const;
  Outcome<bool> take(const KnownHost& host) const;
  /// The names of all records, also of damaged ones.
  std::vector<std::string> names() const;
  /// Removes the record of a work or a host. False if there is none of that name.
  Outcome<bool> forget(const std::string& name) const;

 private:
  KnownBefore(RecordStore works, RecordStore hosts) : works_(std::move(works)), hosts_(std::move(hosts)) {}
  template <class Record>
  std::optional<Record> checked(const RecordStore& store, const std::string& name,
                                Outcome<Record> (*parse)(const nlohmann::ordered_json&)) const;
  std::optional<KnownWork> work_named(const std::string& name) const;
  std::optional<KnownHost> host_named(const std::string& name) const;
  /// The name of the record that `is_it` accepts, else the name under which a new record of these circumstances
  /// belongs.
  std::string place_of(const Circumstances& circumstances, const std::function<bool(const KnownWork&)>& is_it) const;
  Status learn_of_hosts(const Profile& profile) const;

  RecordStore works_;
  RecordStore hosts_;
  mutable bool has_told_of_damage_ = false;
};

}  // namespace halcyon::cli
