#include "cli/kept/known_records.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using namespace halcyon;
using namespace halcyon::cli;
using nlohmann::ordered_json;
using Path = ordered_json::json_pointer;

constexpr std::size_t larger_than_any_text = 100000;

KnownWork some_work() {
  KnownWork work{.circumstances = {"./app 400", 2, 1, "Some CPU", "Some MPI", "none"}, .runs = 3};
  KnownGroup group;
  group.description.segments = 400;
  group.description.signature.site = "MPI_Barrier at app.c:7";
  group.description.signature.counts[index_of(Feature::sends_blocking)] = 2.0;
  group.description.ranges[index_of(Feature::compute)] = {1e6, 2e6, 3e6};
  group.best_median = 1e-3;
  group.best_error = 1e-6;
  group.second_median = 2e-3;
  group.runs = 2;
  work.groups.push_back(group);
  work.parts = KnownParts{.segments = 400, .runs = 3, .parts = std::vector<KnownPart>(known_part_count, {0.1, 0.2})};
  return work;
}

KnownHost some_host() {
  KnownHost host{.host = "node1", .cpu = "Some CPU", .ranks = 2, .recorder_version = "1.0", .runs = 3};
  host.best.fill(1e-9);
  return host;
}

// Every value in a record: its members, and theirs.
void add_paths(const ordered_json& value, const Path& path, std::vector<Path>& paths) {
  if (!path.empty()) paths.push_back(path);
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) add_paths(inner, path / name, paths);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) add_paths(value[i], path / i, paths);
  }
}

// What a record reads as, with a wrong value in each place in turn, must be refused.
template <class Read>
void expect_every_value_is_checked(const ordered_json& whole, Read read) {
  ASSERT_TRUE(read(whole)) << read(whole).failure().message;
  std::vector<Path> paths;
  add_paths(whole, Path(), paths);
  const std::vector<ordered_json> wrong_values{nullptr,
                                               -1,
                                               1e300,
                                               "a text where none belongs",
                                               ordered_json::array({7}),
                                               ordered_json::object(),
                                               std::string(larger_than_any_text, 'x')};
  for (const Path& path : paths) {
    for (const ordered_json& wrong : wrong_values) {
      const ordered_json& right = whole[path];
      const bool may_be =
          right.is_string() && wrong.is_string() && wrong.get<std::string>().size() < 100 && path != Path("/kind");
      // Features that are zero are left out, so there may be none.
      const bool may_be_empty = right.is_object() && wrong.is_object() && path.back() == "features";
      ordered_json record = whole;
      record[path] = wrong;
      const auto outcome = read(record);
      ASSERT_EQ(static_cast<bool>(outcome), may_be || may_be_empty)
          << path.to_string() << " " << wrong.dump().substr(0, 30);
    }
  }
}

TEST(KnownRecords, OfWorksAreReadAsTheyWereWritten) {
  const ordered_json record = record_of(some_work());
  const Outcome<KnownWork> read = work_from(record);
  ASSERT_TRUE(read);
  EXPECT_EQ(record_of(*read), record);
}

TEST(KnownRecords, OfHostsAreReadAsTheyWereWritten) {
  const ordered_json record = record_of(some_host());
  const Outcome<KnownHost> read = host_from(record);
  ASSERT_TRUE(read);
  EXPECT_EQ(record_of(*read), record);
}

TEST(KnownRecords, OfWorksHaveNoValueThatIsNotChecked) {
  expect_every_value_is_checked(record_of(some_work()), work_from);
}

TEST(KnownRecords, OfHostsHaveNoValueThatIsNotChecked) {
  expect_every_value_is_checked(record_of(some_host()), host_from);
}

TEST(KnownRecords, NeedTheirMembers) {
  for (const char* name :
       {"kind", "version", "command", "ranks", "hosts", "cpus", "mpi", "counter", "runs", "groups"}) {
    ordered_json record = record_of(some_work());
    record.erase(name);
    EXPECT_FALSE(work_from(record)) << name;
  }
}

}  // namespace
