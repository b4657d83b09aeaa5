// The columns of the ledger: the one list from which the tables, what is stored in them, spool files and their checks
// are made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "ledger/record/run_record.hpp"

namespace halcyon::ledger {

/// A value in a database: null, a whole number, a number, or a text.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class Least : std::uint8_t { none, zero, one };

template <class Row>
struct Column {
  std::string_view name;
  std::variant<std::string Row::*, std::int64_t Row::*, double Row::*, std::optional<double> Row::*> member;
  std::string_view description;
  Least least = Least::none;  // of a number
  bool is_private = false;    // the operator and the user whose run it is see it, nobody else
  int since = 1;              // version of schema and spool file; older ones lack it
};

template <class Row>
using Columns = std::span<const Column<Row>>;

template <class Row>
Columns<Row> columns_of();

template <>
inline Columns<WorkRow> columns_of<WorkRow>() {
  static constexpr std::array<Column<WorkRow>, 3> columns{{
      {"work", &WorkRow::work, "16 hexadecimal digits: of the command, the ranks and the number of hosts"},
      {.name = "program",
       .member = &WorkRow::program,
       .description = "name of the program, without its directory",
       .is_private = true},
      {.name = "command",
       .member = &WorkRow::command,
       .description = "the program and its arguments",
       .is_private = true},
  }};
  return columns;
}

template <>
inline Columns<RunRow> columns_of<RunRow>() {
  using R = RunRow;
  constexpr Least zero = Least::zero;
  constexpr Least one = Least::one;
  static constexpr std::array<Column<R>, 29> columns{{
      {"run", &R::run, "when it began, ns since 1970 UTC; if another run has that number, the next free one", one},
      {"run_key", &R::key, "16 hexadecimal digits: of what names the run, whatever was found in it"},
      {"work", &R::work, "its work"},
      {.name = "label", .member = &R::label, .description = "words that tell runs of a work apart", .is_private = true},
      {.name = "user_name", .member = &R::user_name, .description = "who ran it", .is_private = true},
      {.name = "project",
       .member = &R::project,
       .description = "of the batch system, or given by `ledger add --project`",
       .is_private = true},
      {"cluster", &R::cluster, "the cluster"},
      {"partition_name", &R::partition_name, "the partition or queue"},
      {.name = "job", .member = &R::job, .description = "the job of the batch system", .is_private = true},
      {.name = "job_step", .member = &R::job_step, .description = "its step, or index in an array", .is_private = true},
      {"ranks", &R::ranks, "MPI ranks", one},
      {"hosts", &R::hosts, "hosts that they ran on", one},
      {"segments", &R::segments, "segments", zero},
      {"run_time_seconds", &R::run_time_seconds, "from MPI_Init to MPI_Finalize", zero},
      {"undisturbed_seconds", &R::undisturbed_seconds, "what it would have taken undisturbed; null without an estimate",
       zero},
      {"undisturbed_low_seconds", &R::undisturbed_low_seconds, "low end of its 90 % interval"},
      {"undisturbed_high_seconds", &R::undisturbed_high_seconds, "high end of its 90 % interval"},
      {"coverage_percent", &R::coverage_percent, "share of the run time of which is known whether it was lost", zero},
      {"verdict", &R::verdict, "`green`, `yellow`, `red` or `unknown`"},
      {"no_verdict", &R::no_verdict, "code of the reason, if it is unknown"},
      {"cause", &R::cause, "code of the likely cause, if there is one"},
      {"may_be_own", &R::may_be_own, "1 if most of what was lost may be the program's own doing", zero},
      {"is_injected", &R::is_injected, "1 if the run was disturbed on purpose, by intM", zero},
      {"exit_state", &R::exit_state, "how it ended, as in a profile"},
      {"mpi", &R::mpi, "MPI library"},
      {"counter", &R::counter, "what counted its work"},
      {"recorder_version", &R::recorder_version, "version of Halcyon that recorded it"},
      {"slice_seconds", &R::slice_seconds, "length of its slices of time", one},
      {.name = "note",
       .member = &R::note,
       .description = "what who recorded it wrote of it",
       .is_private = true,
       .since = 2},
  }};
  return columns;
}

template <>
inline Columns<GroupRow> columns_of<GroupRow>() {
  using R = GroupRow;
  constexpr Least zero = Least::zero;
  static constexpr std::array<Column<R>, 5> columns{{
      {.name = "site", .member = &R::site, .description = "the call that ends its segments", .is_private = true},
      {"segments", &R::segments, "segments", Least::one},
      {"seconds", &R::seconds, "what they took", zero},
      {"baseline_seconds", &R::baseline_seconds, "what one of them takes undisturbed", zero},
      {"excess_seconds", &R::excess_seconds, "what all of them lost"},
  }};
  return columns;
}

template <>
inline Columns<HostRow> columns_of<HostRow>() {
  using R = HostRow;
  constexpr Least zero = Least::zero;
  static constexpr std::array<Column<R>, 13> columns{{
      {"host", &R::host, "name of the host"},
      {"cpu", &R::cpu, "model of its processors"},
      {"ranks", &R::ranks, "ranks on it", Least::one},
      {"excess_seconds", &R::excess_seconds, "what the run lost while a rank on it held the others up"},
      {"log_pace", &R::log_pace,
       "logarithm of the time that its ranks computed, relative to what they would have at the pace of their peers; "
       "mean over eighths of the run; null if ranks cannot be compared, as by CPU time"},
      {"log_pace_error", &R::log_pace_error, "standard error of that mean, from the eighths", zero},
      {"cpu_wait_seconds", &R::cpu_wait_seconds, "how long its ranks waited for a CPU, sum", zero},
      {"stolen_seconds", &R::stolen_seconds, "CPU time that a hypervisor took from it", zero},
      {"tcp_retransmissions", &R::tcp_retransmissions, "TCP segments that it sent again", zero},
      {"bytes_sent", &R::bytes_sent, "sent by its ranks, point to point", zero},
      {"bytes_received", &R::bytes_received, "received by its ranks, point to point", zero},
      {"bytes_read", &R::bytes_read, "read from files by its ranks", zero},
      {"bytes_written", &R::bytes_written, "written to files by its ranks", zero},
  }};
  return columns;
}

template <>
inline Columns<SliceRow> columns_of<SliceRow>() {
  using R = SliceRow;
  constexpr Least zero = Least::zero;
  static constexpr std::array<Column<R>, 16> columns{{
      {"second", &R::second, "when it begins, s since 1970 UTC, a multiple of the run's `slice_seconds`", zero},
      {"computation", &R::computation, "s lost in computation by the ranks that held the others up"},
      {"point_to_point", &R::point_to_point, "s lost in point-to-point calls"},
      {"collective", &R::collective, "s lost in collectives"},
      {"file_io", &R::file_io, "s lost in file calls"},
      {"device", &R::device, "s lost in calls of devices"},
      {"host", &R::host, "number of the host that held the others up for most of it; -1 if none did"},
      {"host_excess", &R::host_excess, "s lost while ranks of that host held the others up"},
      {"bytes_sent", &R::bytes_sent, "demand of all ranks: bytes of point-to-point sends", zero},
      {"bytes_collective", &R::bytes_collective, "bytes handed to collectives", zero},
      {"bytes_one_sided", &R::bytes_one_sided, "bytes of one-sided operations", zero},
      {"bytes_read", &R::bytes_read, "bytes read from files", zero},
      {"bytes_written", &R::bytes_written, "bytes written to files", zero},
      {"file_opens", &R::file_opens, "files opened", zero},
      {"device_bytes", &R::device_bytes, "bytes moved to, from and within devices", zero},
      {.name = "computing_ms",
       .member = &R::computing_ms,
       .description = "ms for which its ranks computed, on a CPU or ready for one, sum; 0 in older versions",
       .least = zero,
       .since = 3},
  }};
  return columns;
}

template <class Row>
Value value_of(const Row& row, const Column<Row>& column) {
  return std::visit(
      [&row](auto member) -> Value {
        if constexpr (std::is_same_v<decltype(member), std::optional<double> Row::*>) {
          return row.*member ? Value(*(row.*member)) : Value();
        } else {
          return row.*member;
        }
      },
      column.member);
}

}  // namespace halcyon::ledger
