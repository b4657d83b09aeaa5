#include "cli/launch/run_series.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/console/output.hpp"
#include "cli/launch/directory_lock.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* manifest_name = "series.json";
constexpr int newest_series_version = 1;
constexpr double most_difference_of_segments = 0.1;

// In the order of RunState.
constexpr std::array<std::string_view, 5> state_names{"running", "recorded", "failed", "interrupted", "other work"};

std::string_view name_of(RunState state) { return state_names[static_cast<std::size_t>(state)]; }

// Arguments may be any bytes; JSON is UTF-8.
std::string text_of(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json object_of(const Environment& values) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : values) object[name] = value;
  return object;
}

// What must be the same if the series is resumed.
ordered_json document_of(const SeriesPurpose& purpose) {
  return {{"subcommand", purpose.subcommand}, {"command", purpose.command}, {"options", object_of(purpose.options)}};
}

// The first value that differs: "NAME=VALUE", "no NAME", or the whole member.
std::string difference_in_words(const std::string& key, const ordered_json& theirs, const ordered_json& ours) {
  const auto is_empty = [](const ordered_json& value) { return value.is_null() || value == ""; };
  if (theirs.is_object()) {
    for (const auto& [name, value] : ours.items()) {
      const ordered_json other = theirs.value(name, ordered_json());
      if (other == value) continue;
      return is_empty(other) ? "no " + name
                             : name + "=" + (other.is_string() ? other.get<std::string>() : other.dump());
    }
    for (const auto& [name, value] : theirs.items()) {
      if (!ours.contains(name)) return name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  if (theirs.is_string()) return key + " " + theirs.get<std::string>();
  return key + " " + theirs.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json document_of(const SeriesRun& run) {
  return {{"name", run.name},       {"state", name_of(run.state)},   {"status", run.status},
          {"profile", run.profile}, {"segments", run.work.segments}, {"ranks", run.work.ranks},
          {"seconds", run.seconds}};
}

// Nothing if a member is missing or wrong. Names must stay within the directory.
std::optional<SeriesRun> run_from(const ordered_json& document) {
  const auto member = [&document](const char* name) {
    return document.is_object() ? document.value(name, ordered_json()) : ordered_json();
  };
  const auto is_name = [](const ordered_json& text) {
    return text.is_string() && text.get_ref<const std::string&>().find('/') == std::string::npos;
  };
  const ordered_json name = member("name");
  const ordered_json profile = member("profile");
  const ordered_json named = member("state");
  const auto state = std::find_if(state_names.begin(), state_names.end(),
                                  [&named](std::string_view each) { return named == std::string(each); });
  const bool good = is_name(name) && name != "" && is_name(profile) && state != state_names.end() &&
                    member("status").is_number_integer() && member("segments").is_number_unsigned();
  const ordered_json ranks = member("ranks");  // older series have none
  if (!good) return std::nullopt;
  return SeriesRun{.name = name.get<std::string>(),
                   .state = static_cast<RunState>(state - state_names.begin()),
                   .status = member("status").get<int>(),
                   .profile = profile.get<std::string>(),
                   .work = {.segments = member("segments").get<std::uint64_t>(),
                            .ranks = ranks.is_number_integer() ? ranks.get<int>() : 0},
                   .seconds = member("seconds").is_number() ? member("seconds").get<double>() : 0.0};
}

// How the work of a run differs from the usual one, if it does. What was not counted is not compared.
std::optional<std::string> difference_of(const CountedWork& work, const CountedWork& usual) {
  const auto instead_of = [](auto here, auto there, const char* what) {
    return fmt::format("{} instead of {}", plural(here, what), there);
  };
  std::string words;
  if (work.ranks > 0 && usual.ranks > 0 && work.ranks != usual.ranks) {
    words = instead_of(work.ranks, usual.ranks, "rank");
  }
  const auto there = static_cast<double>(usual.segments);
  const bool are_both_counted = work.segments > 0 && usual.segments > 0;
  if (are_both_counted && std::abs(static_cast<double>(work.segments) - there) > most_difference_of_segments * there) {
    words += (words.empty() ? "" : " and ") + instead_of(work.segments, usual.segments, "segment");
  }
  return words.empty() ? std::nullopt : std::optional(words);
}

// Ranks replace placeholders in names of profiles; nobody replaces them in names of logs.
std::optional<std::string> objection_to_name(const fs::path& directory) {
  for (const std::string_view placeholder : output_placeholders) {
    if (directory.string().find(placeholder) == std::string::npos) continue;
    return fmt::format("the directory of a series must not have {} in its name, which ranks replace: {}", placeholder,
                       directory.string());
  }
  return std::nullopt;
}

// Why the directory cannot be used for a new series, if so.
std::optional<std::string> objection_to(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error) && !fs::create_directory(directory, error)) {
    return "cannot make " + directory.string() + ": " + error.message();
  }
  if (std::string objection = objection_to_directory(directory); !objection.empty()) return objection;
  const bool is_empty = fs::is_empty(directory, error);
  if (error) return "cannot read " + directory.string() + ": " + error.message();
  if (!is_empty) {
    return directory.string() + " is not empty: results are never mixed, name a new directory";
  }
  return std::nullopt;
}

bool is_full(const fs::path& directory) {
  std::error_code error;
  return fs::space(directory, error).available == 0 && !error;
}

Outcome<ordered_json> read_manifest(const fs::path& directory) {
  const fs::path file = directory / manifest_name;
  std::ifstream in(file);
  if (std::error_code error; !in && !fs::exists(directory, error))
    return Failure{directory.string() + " does not exist"};
  if (!in) return Failure{directory.string() + " holds no series of runs: cannot read " + file.string()};
  ordered_json document = ordered_json::parse(in, nullptr, false);
  const ordered_json version = document.is_object() ? document.value("series_version", ordered_json()) : ordered_json();
  if (!version.is_number_integer()) return Failure{file.string() + " is damaged: it is no list of runs"};
  if (version > newest_series_version) {
    return Failure{fmt::format("{} is of version {}, and this Halcyon knows up to {}", file.string(), version.dump(),
                               newest_series_version)};
  }
  return document;
}

Outcome<fs::path> new_directory(const std::string& subcommand) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%S", &parts);
  const std::string usual = "halcyon-" + subcommand + "." + text.data();
  for (int number = 1;; ++number) {
    const fs::path directory = number == 1 ? usual : fmt::format("{}-{}", usual, number);
    std::error_code error;
    if (fs::create_directory(directory, error)) return directory;
    if (error) return Failure{"cannot make " + directory.string() + ": " + error.message()};
  }
}

}  // namespace

std::string run_name(std::size_t number, std::size_t most) {
  return fmt::format("run-{:0{}}", number, std::to_string(most).size());
}

RunSeries::RunSeries(const fs::path& directory, SeriesPurpose purpose)
    : directory_(place_of(directory)), purpose_(std::move(purpose)) {}

// Behind a link, ".." leads to where the link points.
fs::path RunSeries::place_of(const fs::path& directory) {
  fs::path place = fs::absolute(directory);
  const bool goes_up = std::find(place.begin(), place.end(), "..") != place.end();
  std::error_code error;
  if (goes_up) place = fs::weakly_canonical(place, error);
  place = (error ? fs::absolute(directory) : place).lexically_normal();
  return place.has_filename() ? place : place.parent_path();  // it was given as "series/" or "."
}

Outcome<RunSeries> RunSeries::begin(const fs::path& directory, SeriesPurpose purpose) {
  if (directory.empty()) return Failure{"-o: a directory without a name"};
  RunSeries series(directory, std::move(purpose));
  if (const auto objection = objection_to_name(series.directory_)) return Failure{"-o: " + *objection};
  if (const std::optional<std::string> objection = objection_to(directory)) return Failure{*objection};
  if (const Status locked = series.take_lock(); !locked) return locked.failure();
  if (const Status saved = series.save(); !saved) return saved.failure();
  return series;
}

Outcome<RunSeries> RunSeries::begin(SeriesPurpose purpose) {
  const Outcome<fs::path> directory = new_directory(purpose.subcommand);
  if (!directory) return directory.failure();
  return begin(*directory, std::move(purpose));
}

Outcome<RunSeries> RunSeries::resume(const fs::path& directory, const SeriesPurpose& purpose) {
  RunSeries series(directory, purpose);
  if (const auto objection = objection_to_name(series.directory_)) return Failure{*objection};
  if (const Status locked = series.take_lock(); !locked) return locked.failure();
  const Outcome<ordered_json> document = read_manifest(series.directory_);
  if (!document) return document.failure();
  if (access(series.directory_.c_str(), W_OK | X_OK) != 0) {
    return Failure{"cannot write into " + series.directory_.string() + ": " + std::strerror(errno)};
  }
  const std::string manifest = (series.directory_ / manifest_name).string();
  const ordered_json wanted = document_of(purpose);
  for (const auto& [key, ours] : wanted.items()) {
    if (!document->contains(key)) return Failure{manifest + " is damaged: it has no " + key};
    if (text_of(document->at(key)) != text_of(ours)) {
      return Failure{fmt::format("{} is a series of other runs: it was made with {} ({} of {}). Give the same options",
                                 series.directory_.string(), difference_in_words(key, document->at(key), ours), key,
                                 manifest)};
    }
  }
  const ordered_json runs = document->value("runs", ordered_json());
  if (!runs.is_array()) return Failure{manifest + " is damaged: it has no runs"};
  for (const ordered_json& each : runs) {
    std::optional<SeriesRun> run = run_from(each);
    if (!run) return Failure{fmt::format("{} is damaged: run {} of its list", manifest, series.runs_.size() + 1)};
    if (run->state == RunState::running) run->state = RunState::interrupted;
    series.seconds_before_ += run->seconds;
    series.runs_.push_back(std::move(*run));
  }
  const ordered_json elapsed = document->value("elapsed_seconds", ordered_json());  // older series know only their runs
  if (elapsed.is_number()) series.seconds_before_ = elapsed.get<double>();
  if (const Status saved = series.save(); !saved) return saved.failure();  // what is asked for now
  return series;
}

Outcome<SeriesPurpose> RunSeries::purpose_of(const fs::path& directory) {
  const Outcome<ordered_json> document = read_manifest(directory);
  if (!document) return document.failure();
  const auto is_text = [](const ordered_json& value) { return value.is_string(); };
  const ordered_json subcommand = document->value("subcommand", ordered_json());
  const ordered_json command = document->value("command", ordered_json());
  const ordered_json options = document->value("options", ordered_json());
  const bool is_good = subcommand.is_string() && command.is_array() && options.is_object() &&
                       std::all_of(command.begin(), command.end(), is_text) &&
                       std::all_of(options.begin(), options.end(), is_text);
  if (!is_good) return Failure{(directory / manifest_name).string() + " is damaged: it does not say what was run"};
  SeriesPurpose purpose{.subcommand = subcommand, .command = command.get<Words>(), .options = {}, .asked = {}};
  for (const auto& [name, value] : options.items()) purpose.options.emplace_back(name, value);
  const ordered_json asked = document->value("asked", ordered_json::object());  // older series have none
  for (const auto& [name, value] : asked.items()) {
    if (value.is_string()) purpose.asked.emplace_back(name, value);
  }
  return purpose;
}

Outcome<std::string> RunSeries::record(const std::string& name, const Words& command, const MakeRun& make,
                                       const SignalRelay& relay) {
  const std::string so_far = "; the profiles so far are in " + directory_.string();
  if (relay.asked_to_end() != 0) return Failure{"interrupted before " + name + so_far};
  SeriesRun& run = run_of(name);
  run = {.name = name};
  if (const Status saved = save(); !saved) return saved.failure();
  const auto began = std::chrono::steady_clock::now();
  const Outcome<RecordedRunEnd> end = make((directory_ / (name + ".h5")).string(), log_of(name));
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (end) {
    run.status = end->status;
    if (end->profile) run.profile = fs::path(*end->profile).filename().string();
  }
  const bool is_in_place = end && end->profile && fs::path(*end->profile).parent_path() == directory_;
  if (!is_in_place) run.profile.clear();
  const bool is_good = end && end->status == 0 && is_in_place;
  run.state = relay.asked_to_end() != 0 ? RunState::interrupted : is_good ? RunState::recorded : RunState::failed;
  const Status saved = save();
  if (!end) return end.failure();
  if (run.state == RunState::interrupted) return Failure{"interrupted in " + name + so_far};
  if (run.state == RunState::failed) {
    const std::string why =
        end->status != 0 ? fmt::format(" ended with status {}", end->status)
        : end->profile
            ? fmt::format(
                  ": its profile is {}, since it could not be written into {}. If the disk is full, make room there",
                  *end->profile, directory_.string())
            : ": " + no_profile_words(command, (directory_ / default_output).string()) +
                  (is_full(directory_) ? "; " + directory_.string() + " is full" : "");
    return Failure{fmt::format("{}{} (its output is {}; {})", name, why, log_of(name), check_words(command))};
  }
  if (!saved) return saved.failure();
  return *end->profile;
}

Outcome<std::optional<std::string>> RunSeries::count(const std::string& name, const CountedWork& work,
                                                     std::string_view like) {
  const auto first = std::find_if(runs_.begin(), runs_.end(), [&](const SeriesRun& run) {
    const bool is_counted = run.work.segments > 0 || run.work.ranks > 0;
    return run.state == RunState::recorded && is_counted && run.name != name && run.name.starts_with(like);
  });
  std::optional<std::string> difference = first != runs_.end() ? difference_of(work, first->work) : std::nullopt;
  SeriesRun& run = run_of(name);
  run.work = work;
  if (difference) run.state = RunState::other_work;
  if (const Status saved = save(); !saved) return saved.failure();
  return difference;
}

double RunSeries::elapsed_seconds() const {
  return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

SeriesRun& RunSeries::run_of(const std::string& name) {
  const auto known =
      std::find_if(runs_.begin(), runs_.end(), [&name](const SeriesRun& run) { return run.name == name; });
  return known != runs_.end() ? *known : runs_.emplace_back(SeriesRun{.name = name});
}

Status RunSeries::take_lock() {
  Outcome<Descriptor> lock = lock_directory(directory_);
  if (!lock) return lock.failure();
  lock_ = std::move(*lock);
  return Done{};
}

Status RunSeries::save() const {
  ordered_json document{{"series_version", newest_series_version}, {"halcyon", HALCYON_VERSION}};
  document.update(document_of(purpose_));
  document["asked"] = object_of(purpose_.asked);
  document["elapsed_seconds"] = elapsed_seconds();
  document["runs"] = ordered_json::array();
  for (const SeriesRun& run : runs_) document["runs"].push_back(document_of(run));
  return write_file((directory_ / manifest_name).string(), text_of(document) + "\n");
}

}  // namespace halcyon::cli
