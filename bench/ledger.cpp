// How large a ledger gets, and how fast it is: fills a database with made-up runs and prints a table for
// docs/ledger.md.
//
//     bench_ledger DATABASE [RUNS [SLICES_A_RUN [HOSTS_A_RUN]]]
//
// DATABASE is a file, which must not be there yet, or postgresql://…, which must be empty. 5000 of the runs go through
// a spool, which is made in the current directory.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>

#include <fmt/format.h>

#include "ledger/ingest.hpp"
#include "ledger/queries.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::ledger;

constexpr std::int64_t second = 1000000000;
constexpr std::int64_t first_start = 1700000000;
constexpr std::int64_t two_years = 2 * 365 * 86400;
constexpr std::size_t spooled_runs = 5000;
constexpr std::size_t groups = 8;
constexpr std::uint64_t works = 200;
constexpr std::uint64_t users = 100;
constexpr std::uint64_t nodes = 400;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Shape {
  std::size_t runs = 1000000;
  std::size_t slices = 10;
  std::size_t hosts = 2;
};

RunRecord made_up(std::uint64_t number, const Shape& shape, std::mt19937_64& draw) {
  const std::uint64_t work = draw() % works;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  RunRecord record;
  record.work = {
      fmt::format("{:016x}", work), fmt::format("program{}", work % 40),
      fmt::format("/opt/site/program{}/bin/program{} -in case{}.in -steps 10000", work % 40, work % 40, work)};
  const double seconds = static_cast<double>(shape.slices);
  const double lost = seconds * 0.2 * uniform(draw) * uniform(draw);
  const auto start = static_cast<std::int64_t>(static_cast<double>(number) / static_cast<double>(shape.runs) *
                                               static_cast<double>(two_years)) +
                     first_start;
  record.run = {.run = start * second + static_cast<std::int64_t>(draw() % second),
                .key = fmt::format("{:016x}", number),
                .work = record.work.work,
                .user_name = fmt::format("user{}", draw() % users),
                .project = fmt::format("project{}", draw() % 30),
                .cluster = "cluster",
                .partition_name = draw() % 3 == 0 ? "short" : "batch",
                .job = std::to_string(4000000 + number),
                .job_step = "0",
                .ranks = 64,
                .hosts = static_cast<std::int64_t>(shape.hosts),
                .segments = 10000,
                .run_time_seconds = seconds,
                .undisturbed_seconds = seconds - lost,
                .undisturbed_low_seconds = seconds - 1.3 * lost,
                .undisturbed_high_seconds = seconds - 0.8 * lost,
                .coverage_percent = 97.0,
                .verdict = "green",
                .cause = draw() % 5 == 0 ? "other-processes" : "",
                .exit_state = "finalized",
                .mpi = "Open MPI 4.1.4",
                .counter = "cpu",
                .recorder_version = HALCYON_VERSION,
                .slice_seconds = 1};
  record.groups.assign(groups, {"allreduce@libcase.so+0x1234", 1000, seconds / groups, 1e-3, lost / groups});
  for (std::size_t host = 0; host < shape.hosts; ++host) {
    record.hosts.push_back({.host = fmt::format("node{:03}", (work + host * 7) % nodes),
                            .cpu = "AMD EPYC 7763 64-Core Processor",
                            .ranks = 32,
                            .excess_seconds = lost / static_cast<double>(shape.hosts),
                            .log_pace = 0.01 * uniform(draw),
                            .log_pace_error = 0.01,
                            .cpu_wait_seconds = lost});
  }
  for (std::size_t slice = 0; slice < shape.slices; ++slice) {
    SliceRow row{.second = start + static_cast<std::int64_t>(slice)};
    row.computation = std::round(1e6 * uniform(draw) * 0.1) * 1e-6;
    row.collective = std::round(1e6 * uniform(draw) * 0.01) * 1e-6;
    row.host = static_cast<std::int64_t>(draw() % shape.hosts);
    row.host_excess = row.computation;
    row.bytes_sent = static_cast<std::int64_t>(draw() % 10000000000u);
    row.bytes_collective = static_cast<std::int64_t>(draw() % 100000000u);
    row.bytes_written = slice % 10 == 0 ? static_cast<std::int64_t>(draw() % 100000000000u) : 0;
    row.computing_ms = static_cast<std::int64_t>(draw() % 100000u);
    record.slices.push_back(row);
  }
  return record;
}

template <class Result>
Result checked(Outcome<Result> outcome) {
  if (outcome) return std::move(*outcome);
  std::fprintf(stderr, "bench_ledger: %s\n", outcome.failure().message.c_str());
  std::exit(2);
}

double size_of(Ledger& ledger, const std::string& database) {
  double bytes = 0.0;
  if (ledger.connection().dialect().has_partitions) {
    checked(ledger.connection().run("SELECT pg_database_size(current_database())", {}, [&](const ledger::Row& row) {
      bytes = static_cast<double>(std::get<std::int64_t>(row.front()));
    }));
    return bytes;
  }
  for (const char* ending : {"", "-wal"}) {
    std::error_code none;
    const auto size = std::filesystem::file_size(database + ending, none);
    if (!none) bytes += static_cast<double>(size);
  }
  return bytes;
}

template <class Work>
void timed(const char* what, const Work& work) {
  const double began = now();
  const std::size_t rows = work();
  std::printf("| %s | %.2f s | %zu |\n", what, now() - began, rows);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-')
    return std::fprintf(stderr, "usage: bench_ledger DATABASE [RUNS [SLICES_A_RUN [HOSTS_A_RUN]]]\n"), 2;
  const std::string database = argv[1];
  Shape shape;
  if (argc > 2) shape.runs = std::strtoul(argv[2], nullptr, 10);
  if (argc > 3) shape.slices = std::strtoul(argv[3], nullptr, 10);
  if (argc > 4) shape.hosts = std::strtoul(argv[4], nullptr, 10);
  std::mt19937_64 draw(1);
  Ledger ledger = checked(Ledger::open(database, Use::writes));

  const std::size_t through_spool = std::min(shape.runs, spooled_runs);
  const std::string spool_place = "bench_ledger.spool";
  std::filesystem::create_directory(spool_place);
  for (std::size_t i = 0; i < through_spool; ++i) checked(spool(made_up(i, shape, draw), spool_place));
  double began = now();
  const std::clock_t used = std::clock();
  checked(ingest(ledger, spool_place, {.complaint = [](const std::string&) {}, .progress = [](const Ingested&) {}}));
  std::printf("ingested from a spool: %.0f runs a second, and %.0f in a second of CPU time; of %zu slices\n",
              static_cast<double>(through_spool) / (now() - began),
              static_cast<double>(through_spool) * CLOCKS_PER_SEC / static_cast<double>(std::clock() - used),
              shape.slices);
  std::filesystem::remove(spool_place);

  constexpr std::size_t at_once = 500;
  began = now();
  for (std::size_t i = through_spool; i < shape.runs;) {
    checked(ledger.in_transaction([&]() -> Status {
      for (const std::size_t end = std::min(i + at_once, shape.runs); i < end; ++i) {
        checked(ledger.store({made_up(i, shape, draw), "0123456789abcdef"}));
      }
      return Done{};
    }));
  }
  if (shape.runs > through_spool) {
    std::printf("stored: %.0f runs a second\n", static_cast<double>(shape.runs - through_spool) / (now() - began));
  }
  const auto runs = static_cast<double>(shape.runs);
  std::printf("size: %.0f bytes a run of %zu slices, %zu groups and %zu hosts (%.2f GB)\n\n",
              size_of(ledger, database) / runs, shape.slices, groups, shape.hosts, size_of(ledger, database) / 1e9);

  std::printf("| query | time | rows |\n|---|---|---|\n");
  const Period all;
  const Period month{(first_start + two_years - 30 * 86400) * second};
  timed("`runs`, the last 50", [&] { return checked(past_runs(ledger, "", all, 50)).size(); });
  timed("`runs` of a program, the last 50", [&] { return checked(past_runs(ledger, "program7", all, 50)).size(); });
  for (const By by : {By::user, By::cause, By::program, By::host}) {
    const std::string name(by_names[static_cast<std::size_t>(by)]);
    timed(fmt::format("`lost --by {} --since 30d`", name).c_str(),
          [&] { return checked(losses(ledger, by, month)).size(); });
    timed(fmt::format("`lost --by {}`, two years", name).c_str(),
          [&] { return checked(losses(ledger, by, all)).size(); });
  }
  return 0;
}
