// What the ledger keeps of one run: a row of each table. ledger/record/columns.hpp says what the members mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halcyon::ledger {

/// Runs are numbered by ns since 1970.
inline constexpr std::int64_t nanoseconds_of_a_second = 1000000000;

/// The exit state of a run that reached MPI_Finalize.
inline constexpr const char* name_of_whole_run = "finalized";

struct WorkRow {
  std::string work;
  std::string program;
  std::string command;
};

struct RunRow {
  std::int64_t run = 0;
  std::string key;
  std::string work;
  std::string label;
  std::string user_name;
  std::string project;
  std::string cluster;
  std::string partition_name;
  std::string job;
  std::string job_step;
  std::int64_t ranks = 0;
  std::int64_t hosts = 0;
  std::int64_t segments = 0;
  double run_time_seconds = 0.0;
  std::optional<double> undisturbed_seconds;
  std::optional<double> undisturbed_low_seconds;
  std::optional<double> undisturbed_high_seconds;
  double coverage_percent = 0.0;
  std::string verdict;
  std::string no_verdict;
  std::string cause;
  std::int64_t may_be_own = 0;
  std::int64_t is_injected = 0;
  std::string exit_state;
  std::string mpi;
  std::string counter;
  std::string recorder_version;
  std::int64_t slice_seconds = 0;
  std::string note;
};

/// Of the same run: a part of its ranks, or of its time, may have been taken for the whole.
inline bool knows_more(const RunRow& one, const RunRow& other) {
  const auto known = [](const RunRow& run) { return std::pair(run.exit_state == name_of_whole_run, run.segments); };
  return known(one) > known(other);
}

struct GroupRow {
  std::string site;
  std::int64_t segments = 0;
  double seconds = 0.0;
  double baseline_seconds = 0.0;
  double excess_seconds = 0.0;
};

struct HostRow {
  std::string host;
  std::string cpu;
  std::int64_t ranks = 0;
  double excess_seconds = 0.0;
  std::optional<double> log_pace;
  std::optional<double> log_pace_error;
  std::optional<double> cpu_wait_seconds;
  std::optional<double> stolen_seconds;
  std::optional<double> tcp_retransmissions;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
};

struct SliceRow {
  std::int64_t second = 0;
  double computation = 0.0;
  double point_to_point = 0.0;
  double collective = 0.0;
  double file_io = 0.0;
  double device = 0.0;
  std::int64_t host = -1;
  double host_excess = 0.0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_collective = 0;
  std::int64_t bytes_one_sided = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t file_opens = 0;
  std::int64_t device_bytes = 0;
  std::int64_t computing_ms = 0;
};

struct RunRecord {
  WorkRow work;
  RunRow run;
  std::vector<GroupRow> groups;
  std::vector<HostRow> hosts;
  std::vector<SliceRow> slices;
};

/// Numerics: of a run with more groups, those that took most of its time are kept.
inline constexpr std::size_t most_groups = 64;
/// Numerics: a run has at most so many slices; those of a longer one are longer.
inline constexpr std::size_t most_slices = 4096;

}  // namespace halcyon::ledger
