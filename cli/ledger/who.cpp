// halcyon ledger who: which other runs explain what a run lost.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/site/culprits.hpp"
#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/ledger/commands.hpp"
#include "libprofile/system/utc.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/site/words.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

using ledger::PastRun;
using ledger::SliceRow;
using nlohmann::ordered_json;

struct WhoOptions {
  std::string run;
  std::string database;
  std::string json;
};

/// What runs share, and how their use of it shows.
struct Resource {
  std::string_view code;
  std::string_view words;
  std::span<double SliceRow::*const> losses;
  std::span<std::int64_t SliceRow::*const> demands;
  bool is_of_hosts = false;  // only what it demanded of hosts of the run counts
};
constexpr std::array<double SliceRow::*, 1> loss_by_files{&SliceRow::file_io};
constexpr std::array<double SliceRow::*, 2> loss_by_messages{&SliceRow::point_to_point, &SliceRow::collective};
// Ranks also wait in messages for one that has lost its CPU.
constexpr std::array<double SliceRow::*, 3> loss_by_hosts{&SliceRow::computation, &SliceRow::point_to_point,
                                                          &SliceRow::collective};
constexpr std::array<std::int64_t SliceRow::*, 2> file_bytes{&SliceRow::bytes_read, &SliceRow::bytes_written};
constexpr std::array<std::int64_t SliceRow::*, 3> message_bytes{&SliceRow::bytes_sent, &SliceRow::bytes_collective,
                                                                &SliceRow::bytes_one_sided};
constexpr std::array<std::int64_t SliceRow::*, 1> computing{&SliceRow::computing_ms};
constexpr std::array<Resource, 3> resources{{{"files", "reading and writing files", loss_by_files, file_bytes},
                                             {"messages", "sending messages", loss_by_messages, message_bytes},
                                             {"host", "computing on the same hosts", loss_by_hosts, computing, true}}};

/// The slices of the run, as a time axis in s.
struct Axis {
  double first = 0.0;  // s since 1970
  PartsByTime parts;

  // Adds an amount between two times, s since 1970; what is not on the axis is left out.
  void add(double begin, double end, double amount, std::span<double> sums) const {
    const double from = std::max(begin, first);
    const double until = std::min(end, first + parts.seconds);
    if (!(until > from) || amount == 0.0) return;
    spread_evenly(parts, from - first, until - from, amount * (until - from) / (end - begin), sums);
  }
};

// Of the hosts of the other run, the share that the run has, too.
double share_of_hosts(const PastRun& run, const PastRun& other) {
  const auto shared = std::ranges::count_if(
      other.hosts, [&run](const std::string& host) { return std::ranges::find(run.hosts, host) != run.hosts.end(); });
  return other.hosts.empty() ? 0.0 : static_cast<double>(shared) / static_cast<double>(other.hosts.size());
}

/// A run, those beside it, and who of them disturbed it.
struct Who {
  PastRun run;
  std::vector<PastRun> others;
  std::vector<Suspect> suspects;
  Accusations told;
  bool has_slices = true;

  double lost_seconds() const { return run.run.run_time_seconds - *run.run.undisturbed_seconds; }
};

std::vector<std::vector<double>> losses_of(const std::vector<SliceRow>& slices, const Axis& axis) {
  std::vector<std::vector<double>> losses(resources.size(), std::vector(axis.parts.count, 0.0));
  for (std::size_t r = 0; r < resources.size(); ++r) {
    for (const SliceRow& slice : slices) {
      const double middle = static_cast<double>(slice.second) - axis.first + 0.5 * axis.parts.length();
      for (double SliceRow::*const loss : resources[r].losses) losses[r][axis.parts.at(middle)] += slice.*loss;
    }
  }
  return losses;
}

// One for each resource that the other run demanded anything of.
Outcome<std::vector<Suspect>> suspects_of(ledger::Ledger& ledger, const PastRun& run, const PastRun& other,
                                          std::uint32_t number, const Axis& axis) {
  const ledger::Period period{
      static_cast<std::int64_t>(axis.first) * ledger::nanoseconds_of_a_second,
      static_cast<std::int64_t>(axis.first + axis.parts.seconds) * ledger::nanoseconds_of_a_second};
  const Outcome<std::vector<SliceRow>> slices = ledger::slices_of(ledger, other.run, period);
  if (!slices) return slices.failure();
  std::vector<Suspect> suspects;
  for (std::size_t r = 0; r < resources.size(); ++r) {
    Suspect suspect{.run = number, .resource = r, .demand = std::vector(axis.parts.count, 0.0)};
    const double share = resources[r].is_of_hosts ? share_of_hosts(run, other) : 1.0;
    for (const SliceRow& slice : *slices) {
      const auto begin = static_cast<double>(slice.second);
      double amount = 0.0;
      for (std::int64_t SliceRow::*const demand : resources[r].demands) amount += static_cast<double>(slice.*demand);
      axis.add(begin, begin + static_cast<double>(other.run.slice_seconds), share * amount, suspect.demand);
    }
    if (std::ranges::any_of(suspect.demand, [](double amount) { return amount > 0.0; }))
      suspects.push_back(std::move(suspect));
  }
  return suspects;
}

Outcome<Who> who_disturbed(ledger::Ledger& ledger, const PastRun& run) {
  Who who{.run = run};
  Outcome<std::vector<PastRun>> others = ledger::runs_beside(ledger, run.run);
  if (!others) return others.failure();
  who.others = std::move(*others);
  const Outcome<std::vector<SliceRow>> slices = ledger::slices_of(ledger, run.run, {});
  if (!slices) return slices.failure();
  who.has_slices = !slices->empty();
  if (!who.has_slices) return who;
  const std::int64_t step = run.run.slice_seconds;
  const std::int64_t length = slices->back().second - slices->front().second + step;
  const Axis axis{static_cast<double>(slices->front().second),
                  {.seconds = static_cast<double>(length), .count = static_cast<std::size_t>(length / step)}};
  for (std::size_t i = 0; i < who.others.size(); ++i) {
    Outcome<std::vector<Suspect>> of_other =
        suspects_of(ledger, run, who.others[i], static_cast<std::uint32_t>(i), axis);
    if (!of_other) return of_other.failure();
    std::ranges::move(*of_other, std::back_inserter(who.suspects));
  }
  who.told = culprits_of(losses_of(*slices, axis), who.suspects);
  return who;
}

const PastRun& run_of(const Who& who, std::size_t suspect) { return who.others[who.suspects[suspect].run]; }

std::string text_of(const Who& who) {
  const double lost = who.lost_seconds();
  std::string text =
      filled("", 2,
             fmt::format("{}, {}: {}, of which {} came from outside ({} to {})", shown_name(who.run),
                         when_words(who.run.run.run, true), seconds(who.run.run.run_time_seconds), seconds(lost),
                         seconds(who.run.run.run_time_seconds - *who.run.run.undisturbed_high_seconds),
                         seconds(who.run.run.run_time_seconds - *who.run.run.undisturbed_low_seconds)));
  const std::string others = plural(who.others.size(), "other recorded run");
  if (!who.has_slices) return text + "Its slices of time are no longer kept: nobody can be named.\n";
  if (who.others.empty())
    return text + filled("", 0,
                         "No other run at that time is in the ledger. For other processes on its hosts, see the report "
                         "of its profile.");
  if (!who.told.are_slices_enough)
    return text + fmt::format("It is too short to tell who did it: it takes {} slices of {} s.\n",
                              fewest_slices_for_culprits, who.run.run.slice_seconds);
  if (who.told.culprits.empty()) return text + fmt::format("None of the {} at that time explains it.\n", others);
  double explained = 0.0;
  for (const Culprit& culprit : who.told.culprits) {
    std::string names = shown_name(run_of(who, culprit.suspect));
    for (const std::size_t other : culprit.or_else) names += ", or " + shown_name(run_of(who, other));
    const auto percent = [lost](double value) { return decimal(100.0 * value / lost, 0); };
    text += filled("", 2,
                   fmt::format("{} % ({} to {}) of it: {}, by {}", percent(culprit.lost_seconds),
                               percent(std::max(0.0, culprit.interval_seconds.low)),
                               percent(std::min(lost, culprit.interval_seconds.high)), names,
                               resources[who.suspects[culprit.suspect].resource].words));
    explained += culprit.lost_seconds;
  }
  return text + fmt::format("The rest, {} %, is explained by none of the {} at that time.\n",
                            decimal(100.0 * std::max(0.0, 1.0 - explained / lost), 0), others);
}

ordered_json json_of(const Who& who) {
  const auto named = [&](std::size_t suspect) {
    const PastRun& run = run_of(who, suspect);
    return ordered_json{{"run", run.run.key}, {"name", shown_name(run)}};
  };
  ordered_json culprits = ordered_json::array();
  for (const Culprit& culprit : who.told.culprits) {
    ordered_json one = named(culprit.suspect);
    one["by"] = resources[who.suspects[culprit.suspect].resource].code;
    one["lost_seconds"] = culprit.lost_seconds;
    one["lost_interval_seconds"] = interval_json(culprit.interval_seconds);
    one["chance"] = culprit.chance;
    one["or_else"] = ordered_json::array();
    for (const std::size_t other : culprit.or_else) one["or_else"].push_back(named(other));
    culprits.push_back(std::move(one));
  }
  return {{"run", who.run.run.key},
          {"lost_seconds", who.lost_seconds()},
          {"other_runs", who.others.size()},
          {"can_be_told", who.has_slices && who.told.are_slices_enough},
          {"culprits", std::move(culprits)}};
}

int show_who(const WhoOptions& options) {
  return with_ledger(options.database, ledger::Use::reads, [&options](ledger::Ledger& ledger) {
    constexpr std::int64_t most_told = 10;
    const Outcome<std::vector<PastRun>> runs = ledger::runs_named(ledger, options.run, most_told);
    if (!runs) return fail(runs.failure().message);
    if (runs->empty())
      return fail(
          fmt::format("'{}' is no run of the ledger: 'halcyon ledger runs' shows them, by job and key", options.run));
    if (runs->size() > 1) {
      std::vector<std::string> keys;
      for (const PastRun& run : *runs) keys.push_back(run.run.key.substr(0, 8));
      return fail(fmt::format("'{}' has several runs: give the key of one ({})", options.run, fmt::join(keys, ", ")));
    }
    if (!runs->front().run.undisturbed_seconds)
      return fail(fmt::format("it is not known what '{}' lost: it has no estimate", options.run));
    show_step("comparing with other runs");
    const Outcome<Who> who = who_disturbed(ledger, runs->front());
    show_step("");
    if (!who) return fail(who.failure().message);
    const Status printed = print_result(text_of(*who), json_of(*who), options.json);
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace

void add_ledger_who(const Command& ledger) {
  const Command command = ledger.subcommand("who", "Say which other runs explain what a run lost");
  auto options = std::make_shared<WhoOptions>();
  command.option("RUN", options->run, "A job, or the beginning of a run's key, as `ledger runs` shows them").required();
  add_database_option(command, options->database);
  add_json_option(command, options->json);
  command.notes(
      "What the run lost in each slice of time, by files, messages and computation, is compared with what all other\n"
      "recorded runs of the cluster demanded then. Of runs that nobody disturbed, at most 5 % accuse somebody. Runs\n"
      "whose demand is too much alike are named together. What comes at a fixed period, or was there all the time,\n"
      "accuses nobody, and so do jobs that were not recorded.\n"
      "Example: halcyon ledger who --database site.db 4711");
  command.does([options] { return show_who(*options); });
}

}  // namespace halcyon::cli
