// halcyon baselines: lists, shows, forgets, exports and imports what is known of earlier runs.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/kept/known_before.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t most_bytes_to_import = std::size_t{128} << 20;
constexpr int export_version = 1;
constexpr std::size_t most_columns = 200;  // of a text in a table

struct BaselinesOptions {
  std::vector<std::string> names;
  std::string file;
  bool all = false;
};

std::string day(std::int64_t nanoseconds) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(nanoseconds / 1000000000)));
}

int print(const std::string& text) {
  const Status printed = print_text(text);
  return printed ? int{passed} : fail(printed.failure().message);
}

int with_known(RecordStore::Use use, const std::function<int(const KnownBefore& known)>& action) {
  const Outcome<KnownBefore> known = KnownBefore::open(use);
  return known ? action(*known) : fail(known.failure().message);
}

int list(const KnownBefore& known) {
  const std::vector<KnownBefore::NamedWork> works = known.works();
  const std::vector<KnownBefore::NamedHost> hosts = known.hosts();
  if (works.empty() && hosts.empty())
    return print("nothing is known yet: halcyon run keeps a record of each work and host\n");
  std::string text = fmt::format("{:<18}  {:>4}  {:<10}  {:>5}  {}\n", "work", "runs", "last used", "ranks", "command");
  for (const auto& [name, used, work] : works) {
    text += fmt::format("{:<18}  {:>4}  {:<10}  {:>5}  {}\n", briefly(name, most_columns), work.runs, day(used),
                        work.circumstances.ranks, briefly(work.circumstances.command, most_columns));
  }
  text += fmt::format("{:<18}  {:>4}  {:<10}  {:>5}  {}\n", "host", "runs", "last used", "ranks", "name and processor");
  for (const auto& [name, used, host] : hosts) {
    text += fmt::format("{:<18}  {:>4}  {:<10}  {:>5}  {}, {}\n", briefly(name, most_columns), host.runs, day(used),
                        host.ranks, briefly(host.host, most_columns), briefly(host.cpu, most_columns));
  }
  return print(text);
}

std::string work_text(const KnownBefore::NamedWork& named) {
  const KnownWork& work = named.work;
  const Circumstances& of = work.circumstances;
  std::string text =
      briefly(named.name, most_columns) + "\n" + wrapped("program", command_words(of.command)) +
      wrapped("ranks", fmt::format("{} on {}{}", of.ranks, plural(of.hosts, "host"),
                                   of.threads > 1 ? fmt::format(", {} busy threads each", of.threads) : "")) +
      wrapped("processor", of.cpus) + wrapped("MPI library", of.mpi) +
      wrapped("work measured by", counter_words(of.counter)) +
      wrapped("runs", fmt::format("{}, the last of {}", work.runs, day(named.used)));
  if (work.parts) {
    double best = 0.0;
    for (const KnownPart& part : work.parts->parts) best += part.best;
    text += wrapped("best time", fmt::format("{} in {}, the best parts of {}", seconds(best),
                                             plural(work.parts->segments, "segment"), plural(work.parts->runs, "run")));
  }
  text += fmt::format("\n  {:>8}  {:>4}  {:>12}  {:>12}  {}\n", "segments", "runs", "best median", "next best",
                      "ending at");
  for (const KnownGroup& group : work.groups) {
    text += fmt::format("  {:>8}  {:>4}  {:>12}  {:>12}  {}\n", group.description.segments, group.runs,
                        seconds(group.best_median), group.second_median ? seconds(*group.second_median) : "-",
                        briefly(group.description.signature.site, most_columns));
  }
  return text;
}

std::string host_text(const KnownBefore::NamedHost& named) {
  std::string text = briefly(named.name, most_columns) + "\n" + wrapped("host", named.host.host) +
                     wrapped("processor", named.host.cpu) + wrapped("ranks", std::to_string(named.host.ranks)) +
                     wrapped("runs", fmt::format("{}, the last of {}", named.host.runs, day(named.used)));
  for (const ProbeInfo& info : probe_infos) {
    const double best = named.host.best[index_of(info.probe)];
    if (!std::isnan(best)) text += wrapped(info.words, fmt::format("{:.4g} ns", best * 1e9));
  }
  return text;
}

// Calls a function for each named work and host, or for all if no name is given. An unknown name is an error.
int for_each_named(const KnownBefore& known, const std::vector<std::string>& names,
                   const std::function<void(const KnownBefore::NamedWork&)>& of_work,
                   const std::function<void(const KnownBefore::NamedHost&)>& of_host) {
  std::size_t found = 0;
  const auto is_wanted = [&](const std::string& name) {
    const bool wanted = names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    found += wanted ? 1 : 0;
    return wanted;
  };
  for (const KnownBefore::NamedWork& work : known.works()) {
    if (is_wanted(work.name)) of_work(work);
  }
  for (const KnownBefore::NamedHost& host : known.hosts()) {
    if (is_wanted(host.name)) of_host(host);
  }
  return found >= names.size() ? int{passed} : fail("there is no record of that name (see halcyon baselines list)");
}

int show(const BaselinesOptions& options, const KnownBefore& known) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "\n") + more; };
  const int status = for_each_named(
      known, options.names, [&](const KnownBefore::NamedWork& work) { add(work_text(work)); },
      [&](const KnownBefore::NamedHost& host) { add(host_text(host)); });
  return status == passed ? print(text) : status;
}

int forget(const BaselinesOptions& options, const KnownBefore& known) {
  if (options.all != options.names.empty()) return fail("name the works or hosts to forget, or give --all");
  std::vector<std::string> names = options.names;
  if (options.all) {
    for (const std::string& name : known.names()) names.push_back(name);
  }
  for (const std::string& name : names) {
    const Outcome<bool> forgotten = known.forget(name);
    if (!forgotten) return fail(forgotten.failure().message);
    if (!*forgotten) return fail("there is no record " + name + " (see halcyon baselines list)");
  }
  return passed;
}

int export_known(const BaselinesOptions& options, const KnownBefore& known) {
  nlohmann::ordered_json json{{"kind", "halcyon baselines"},
                              {"version", export_version},
                              {"works", nlohmann::ordered_json::array()},
                              {"hosts", nlohmann::ordered_json::array()}};
  const int status = for_each_named(
      known, options.names,
      [&json](const KnownBefore::NamedWork& work) { json["works"].push_back(record_of(work.work)); },
      [&json](const KnownBefore::NamedHost& host) { json["hosts"].push_back(record_of(host.host)); });
  if (status != passed) return status;
  if (options.file.empty()) return print(to_text(json));
  const Status written = write_file(options.file, to_text(json));
  return written ? int{passed} : fail(written.failure().message);
}

// Checks the whole file before it stores anything.
int import_known(const BaselinesOptions& options, const KnownBefore& known) {
  const std::string& file = options.file;
  std::ifstream opened(file == "-" ? "" : file, std::ios::binary);
  const int error = errno;
  std::istream& in = file == "-" ? std::cin : opened;
  std::string text;
  for (char piece[65536]; in && text.size() <= most_bytes_to_import;) {
    in.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (file != "-" && !opened.is_open()) return fail("cannot open " + file + ": " + std::strerror(error));
  if (text.size() > most_bytes_to_import) return fail(file + " is larger than any export");
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const auto is_list = [&json](const char* name) { return json.contains(name) && json[name].is_array(); };
  const auto is = [&json](const char* name, const nlohmann::ordered_json& value) {
    return json.contains(name) && json[name] == value;
  };
  if (!json.is_object() || !is("kind", "halcyon baselines") || !is("version", export_version) || !is_list("works") ||
      !is_list("hosts")) {
    return fail(file + " was not written by halcyon baselines export");
  }
  std::vector<KnownWork> works;
  std::vector<KnownHost> hosts;
  for (const auto& record : json["works"]) {
    Outcome<KnownWork> work = work_from(record);
    if (!work) return fail(fmt::format("work {} of {}: {}", works.size() + 1, file, work.failure().message));
    works.push_back(std::move(*work));
  }
  for (const auto& record : json["hosts"]) {
    Outcome<KnownHost> host = host_from(record);
    if (!host) return fail(fmt::format("host {} of {}: {}", hosts.size() + 1, file, host.failure().message));
    hosts.push_back(std::move(*host));
  }
  std::size_t taken = 0;
  const auto take = [&](const auto& each) {
    const Outcome<bool> is_taken = known.take(each);
    if (is_taken) taken += *is_taken ? 1 : 0;
    return is_taken ? int{passed} : fail(is_taken.failure().message);
  };
  for (const KnownWork& work : works) {
    if (const int status = take(work); status != passed) return status;
  }
  for (const KnownHost& host : hosts) {
    if (const int status = take(host); status != passed) return status;
  }
  return print(fmt::format("{} imported, {} left out: already known from as many runs or more\n", taken,
                           works.size() + hosts.size() - taken));
}

}  // namespace

void add_baselines(const Command& program) {
  const Command command = program.subcommand("baselines", "Show, forget, export or import the records of earlier runs");
  command.needs_subcommand();
  command.notes(
      "halcyon run keeps the best times of each work and the best speeds of each host that it has seen, in\n"
      "$XDG_STATE_HOME/halcyon or ~/.local/state/halcyon: at most 256 works and 1024 hosts, of your own runs only.\n"
      "Examples:\n"
      "  halcyon baselines list\n"
      "  halcyon baselines forget 0123456789abcdef-0    after the program or its input changed\n"
      "  halcyon baselines export -o known.json && ssh cluster halcyon baselines import - <known.json");
  auto options = std::make_shared<BaselinesOptions>();
  const auto add = [&](const char* name, const char* description, const char* example, RecordStore::Use use, auto act) {
    const Command action = command.subcommand(name, description);
    action.notes(std::string("Example: ") + example);
    action.does([options, act, use] {
      return with_known(use, [&](const KnownBefore& known) { return act(*options, known); });
    });
    return action;
  };
  const auto name_them = [&options](const Command& action, const char* which) {
    action.option("ID", options->names, which);
  };
  add("list", "List the known works and hosts, most recently used first", "halcyon baselines list",
      RecordStore::Use::reads, [](const BaselinesOptions&, const KnownBefore& known) { return list(known); });
  const Command shown = add("show", "Show the record of a work or host", "halcyon baselines show 0123456789abcdef-0",
                            RecordStore::Use::reads, show);
  name_them(shown, "Works or hosts, as list names them. Default: all");
  const Command forgotten = add("forget", "Forget works or hosts", "halcyon baselines forget 0123456789abcdef-0",
                                RecordStore::Use::writes, forget);
  name_them(forgotten, "Works or hosts, as list names them");
  forgotten.flag("--all", options->all, "Forget all of them, including damaged ones");
  const Command exported = add("export", "Write the records as JSON", "halcyon baselines export -o known.json",
                               RecordStore::Use::reads, export_known);
  name_them(exported, "Works or hosts, as list names them. Default: all");
  exported.option("-o,--output", options->file, "File to write. Default: standard output").output_file();
  const Command imported = add("import", "Add the records of another state directory",
                               "halcyon baselines import known.json", RecordStore::Use::writes, import_known);
  imported.option("FILE", options->file, "File that export wrote; '-' is standard input").required();
}

}  // namespace halcyon::cli
