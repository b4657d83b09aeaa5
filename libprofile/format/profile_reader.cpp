#include "libprofile/format/profile_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "libprofile/format/contents.hpp"
#include "libprofile/format/schema.hpp"

namespace halcyon {
namespace {

// Beyond lies no run: sums over all segments or ranks, and squares of them, stay numbers.
constexpr double most_seconds = 1e12;
constexpr double most_evidence = 1e12;  // of a rank, counts and seconds: the sum over most_ranks is below 2^64
constexpr double most_in_segment = 0x1p64;

// NaN is not.
bool is_possible(double value, double most) { return value >= 0.0 && value <= most; }

// No way out of the loop, which is then several times as fast.
template <class T>
bool are_possible(const std::vector<T>& values, double most) {
  bool all = true;
  for (const T value : values) all &= (value >= T{0}) & (value <= static_cast<T>(most));
  return all;
}

constexpr std::array<std::string_view, 3> columns_without_analysis{"boundary_wait", "injected_requested",
                                                                   "injected_actual"};

// Where NaN says that a value is not known.
bool are_unknown_or_possible(const std::vector<double>& values, double most) {
  return std::all_of(values.begin(), values.end(),
                     [most](double value) { return std::isnan(value) || is_possible(value, most); });
}

// The first thing that is wrong with the file; everything after it is skipped.
class Reader {
 public:
  Reader(Contents contents, std::string path) : contents_(std::move(contents)), path_(std::move(path)) {}

  const std::optional<Failure>& failure() const { return failure_; }
  void refuse(const std::string& why) {
    if (!failure_) failure_ = Failure{path_ + " is damaged: " + why};
  }

  std::string text(const char* name, bool needed = true) {
    const Frame* attribute = find_attribute(name, needed);
    if (attribute == nullptr) return {};
    if (attribute->kind != FrameKind::text) refuse(std::string("attribute ") + name + " is not a text");
    return {attribute->payload.begin(), attribute->payload.end()};
  }

  std::int64_t integer(const char* name) {
    const Frame* attribute = find_attribute(name, true);
    return attribute != nullptr ? number<std::int64_t>(name, *attribute, FrameKind::integer) : 0;
  }
  double real(const char* name) {
    const Frame* attribute = find_attribute(name, true);
    if (attribute == nullptr) return 0.0;
    if (attribute->kind == FrameKind::integer) return static_cast<double>(integer(name));
    return number<double>(name, *attribute, FrameKind::real);
  }

  /// A column of `length` values, or of any length if that is not given; empty if it is absent and not needed.
  template <class T>
  std::vector<T> column(const std::string& name, std::optional<std::uint64_t> length, bool needed) {
    std::vector<Frame> pieces = take_column(name, element_type_of<T>(), needed);
    std::size_t count = 0;
    for (const Frame& piece : pieces) count += piece.payload.size() / sizeof(T);
    std::vector<T> values;
    if (pieces.empty() || !has_length(name, count, length)) return values;
    values.reserve(count);
    for (Frame& piece : pieces) {
      const std::vector<char> bytes = std::move(piece.payload);  // let go of, so that no column is held twice
      const std::size_t begin = values.size();
      values.resize(begin + bytes.size() / sizeof(T));
      if (values.size() > begin) std::memcpy(&values[begin], bytes.data(), (values.size() - begin) * sizeof(T));
    }
    return values;
  }

  std::vector<std::string> texts(const std::string& name, std::optional<std::uint64_t> length, bool needed) {
    const std::vector<Frame> pieces = take_column(name, ElementType::text, needed);
    std::vector<std::string> values;
    for (const Frame& piece : pieces) {
      for (auto at = piece.payload.begin(); at != piece.payload.end();) {
        const auto end = std::find(at, piece.payload.end(), '\0');
        values.emplace_back(at, end);
        at = end == piece.payload.end() ? end : end + 1;
      }
    }
    if (!pieces.empty() && !has_length(name, values.size(), length)) values.clear();
    return values;
  }

  bool has_column(const std::string& name) const { return contents_.columns.count(name) != 0; }
  bool has_attribute(std::string_view name) const { return contents_.attributes.count(name) != 0; }

 private:
  const Frame* find_attribute(const char* name, bool needed) {
    const auto found = contents_.attributes.find(std::string_view(name));
    if (found != contents_.attributes.end()) return &found->second;
    if (needed) refuse(std::string("attribute ") + name + " is missing, or neither a text nor a number");
    return nullptr;
  }

  template <class T>
  T number(const char* name, const Frame& attribute, FrameKind kind) {
    const std::optional<T> value = attribute.kind == kind ? attribute.number<T>() : std::nullopt;
    if (!value) refuse(std::string("attribute ") + name + " is not a number of its kind");
    return value.value_or(T{});
  }

  // Nothing where it is absent.
  std::vector<Frame> take_column(const std::string& name, ElementType type, bool needed) {
    if (failure_) return {};
    auto column = contents_.columns.extract(name);
    if (!column) {
      if (needed) refuse("column " + name + " is missing");
      return {};
    }
    const std::vector<Frame>& pieces = column.mapped();
    if (std::any_of(pieces.begin(), pieces.end(), [type](const Frame& piece) { return piece.element != type; })) {
      refuse("column " + name + " has values of another type");
      return {};
    }
    return std::move(column.mapped());
  }

  bool has_length(const std::string& name, std::size_t count, std::optional<std::uint64_t> length) {
    if (count <= most_segments && (!length || count == *length)) return true;
    refuse("column " + name + " has the wrong shape");
    return false;
  }

  Contents contents_;
  std::string path_;
  std::optional<Failure> failure_;
};

void read_circumstances(Reader& reader, Profile& profile) {
  profile.recorder_version = reader.text("recorder_version");
  profile.command = reader.text("command");
  profile.boundary = reader.text("boundary", false);
  profile.mpi = reader.text("mpi");
  profile.counter = reader.text("counter");
  profile.compute_units = reader.text("compute_units");
  profile.clock = reader.text("clock");
  profile.start_time = reader.text("start_time");
  profile.exit_state = reader.text("exit_state");
  profile.incomplete = reader.text("incomplete", false);
  profile.disagreement = reader.text("disagreement", false);
  profile.inject = reader.text("inject", false);
  profile.dropped_segments = static_cast<std::uint64_t>(reader.integer("dropped_segments"));
  profile.run_time_seconds = reader.real("run_time_seconds");
  profile.boundary_cost_seconds = reader.real("boundary_cost_seconds");
  profile.clock_resolution_seconds = reader.real("clock_resolution_seconds");
  const std::int64_t segments = reader.integer("segments");
  const std::int64_t ranks = reader.integer("ranks");
  if (segments < 0 || static_cast<std::uint64_t>(segments) > most_segments)
    reader.refuse("impossible number of segments");
  if (ranks < 1 || static_cast<std::uint64_t>(ranks) > most_ranks) reader.refuse("impossible number of ranks");
  if (!is_possible(profile.run_time_seconds, most_seconds)) reader.refuse("impossible run time");
  if (!is_possible(profile.boundary_cost_seconds, most_seconds)) reader.refuse("impossible cost of a boundary");
  if (!is_possible(profile.clock_resolution_seconds, most_seconds)) reader.refuse("impossible resolution of the clock");
  profile.segments = static_cast<std::uint64_t>(segments);
  profile.ranks = static_cast<int>(ranks);
}

void read_evidence(Reader& reader, Profile& profile) {
  for (const EvidenceInfo& info : evidence_infos) {
    std::vector<double>& values = profile.evidence[index_of(info.evidence)];
    values = reader.column<double>(evidence_name(info), static_cast<std::uint64_t>(profile.ranks), false);
    if (!are_unknown_or_possible(values, most_evidence)) {
      reader.refuse("column " + evidence_name(info) + " has impossible values");
    }
  }
}

void read_features(Reader& reader, Profile& profile) {
  std::vector<std::string> reduced;
  std::istringstream names(reader.text("reduced_features", false));
  for (std::string name; names >> name;) reduced.push_back(name);

  for (const FeatureInfo& info : features) {
    const std::string name(info.name);
    FeatureColumn& column = profile.features[index_of(info.feature)];
    column.bins = reader.column<double>(bins_name(name), std::nullopt, profile.segments > 0);
    if (profile.segments > 0 && column.bins.empty()) reader.refuse("column " + bins_name(name) + " is empty");
    column.index = reader.column<std::uint16_t>(name, profile.segments, column.bins.size() > 1);
    column.reduced = std::find(reduced.begin(), reduced.end(), name) != reduced.end();
    const auto outside = [&column](std::uint16_t bin) { return bin >= column.bins.size(); };
    if (std::any_of(column.index.begin(), column.index.end(), outside))
      reader.refuse("column " + name + " has bins that are not there");
    if (!are_possible(column.bins, most_in_segment)) {
      reader.refuse("column " + bins_name(name) + " has impossible values");
    }
    if (info.kind != FeatureKind::work) {
      profile.totals[index_of(info.feature)] =
          reader.column<std::uint64_t>(totals_name(name), static_cast<std::uint64_t>(profile.ranks), true);
    }
  }
}

void read_segments(Reader& reader, Profile& profile, Columns columns) {
  const bool any = profile.segments > 0;
  const auto seconds = [&](const std::string& name, bool needed) {
    const bool is_wanted =
        columns == Columns::all || std::find(columns_without_analysis.begin(), columns_without_analysis.end(), name) ==
                                       columns_without_analysis.end();
    std::vector<float> values = reader.column<float>(name, profile.segments, needed && is_wanted);
    if (!are_possible(values, most_seconds)) reader.refuse("column " + name + " has impossible values");
    return values;
  };
  profile.duration = seconds("duration", any);
  profile.boundary_wait = seconds("boundary_wait", any);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    profile.last_rank_times[kind] = seconds(last_rank_time_name(time_kind_names[kind]), any);
  }
  profile.last_rank_off_cpu = seconds("last_rank_off_cpu", false);
  profile.calls_beyond_usual = seconds("calls_beyond_usual", false);
  profile.last_rank = reader.column<std::uint32_t>("last_rank", profile.segments, any);
  if (std::any_of(profile.last_rank.begin(), profile.last_rank.end(),
                  [&profile](std::uint32_t rank) { return rank >= static_cast<std::uint32_t>(profile.ranks); })) {
    reader.refuse("column last_rank has ranks that are not there");
  }
  profile.sites = reader.texts("sites", std::nullopt, any);
  if (any && profile.sites.empty()) reader.refuse("column sites is empty");
  profile.site = reader.column<std::uint16_t>("site", profile.segments, profile.sites.size() > 1);
  if (std::any_of(profile.site.begin(), profile.site.end(),
                  [&profile](std::uint16_t site) { return site >= profile.sites.size(); })) {
    reader.refuse("column site has call sites that are not there");
  }
  std::vector<std::string> modules = reader.texts("modules", std::nullopt, false);
  std::vector<std::string> paths = reader.texts("module_paths", modules.size(), !modules.empty());
  std::vector<std::string> build_ids = reader.texts("module_build_ids", modules.size(), !modules.empty());
  for (std::size_t i = 0; !reader.failure() && i < modules.size(); ++i) {
    profile.modules.push_back({std::move(modules[i]), std::move(paths[i]), std::move(build_ids[i])});
  }
  if (reader.has_column("injected_critical")) {
    profile.injected.requested = seconds("injected_requested", true);
    profile.injected.actual = seconds("injected_actual", true);
    profile.injected.critical = seconds("injected_critical", true);
  }
  profile.composed_of = reader.texts("composed_of", std::nullopt, false);
  profile.source = reader.column<std::uint16_t>("source", profile.segments, !profile.composed_of.empty());
  if (std::any_of(profile.source.begin(), profile.source.end(),
                  [&profile](std::uint16_t run) { return run >= profile.composed_of.size(); })) {
    reader.refuse("column source has runs that are not there");
  }
}

void read_background(Reader& reader, Profile& profile) {
  if (!reader.has_column(std::string(background_names.front()))) return;
  const auto seconds = [&](std::size_t which) {
    const std::string name(background_names[which]);
    std::vector<double> values = reader.column<double>(name, static_cast<std::uint64_t>(profile.ranks), true);
    if (!are_possible(values, most_seconds)) reader.refuse("column " + name + " has impossible values");
    return values;
  };
  profile.background_before = {seconds(0), seconds(1)};
  profile.background_after = {seconds(2), seconds(3)};
}

void read_probes(Reader& reader, Profile& profile) {
  const auto ranks = static_cast<std::uint64_t>(profile.ranks);
  profile.rank_cpu = reader.texts("rank_cpu", ranks, false);
  for (const ProbeInfo& info : probe_infos) {
    for_each_column(info, profile.probes[index_of(info.probe)],
                    [&](const std::string& name, std::vector<double>& values) {
                      values = reader.column<double>(name, ranks, false);
                      if (!are_unknown_or_possible(values, most_seconds)) {
                        reader.refuse("column " + name + " has impossible values");
                      }
                    });
  }
}

// Of both signs.
template <std::size_t count>
std::array<double, count> read_seconds(Reader& reader, const std::array<const char*, count>& names) {
  std::array<double, count> seconds{};
  for (std::size_t i = 0; i < count; ++i) {
    seconds[i] = reader.real(names[i]);
    if (!is_possible(std::abs(seconds[i]), most_seconds)) reader.refuse(std::string("impossible ") + names[i]);
  }
  return seconds;
}

void read_known_runs(Reader& reader, Profile& profile) {
  if (!reader.has_attribute(known_runs_name)) return;
  const auto seconds = read_seconds(reader, known_runs_seconds_names);
  const std::int64_t runs = reader.integer(known_runs_name);
  if (runs < 1 || !(seconds[1] <= seconds[2]) || !(seconds[3] >= 0.0)) reader.refuse("impossible known runs");
  profile.known_runs = KnownRuns{static_cast<std::uint64_t>(runs), seconds[0], seconds[1], seconds[2], seconds[3], {}};
  if (!reader.has_attribute(known_parts_name)) return;
  const auto beyond = read_seconds(reader, known_parts_seconds_names);
  const std::int64_t runs_of_parts = reader.integer(known_parts_name);
  if (runs_of_parts < 1 || runs_of_parts > runs || !(beyond[1] <= beyond[2])) reader.refuse("impossible known runs");
  profile.known_runs->of_parts =
      KnownRuns::OfParts{static_cast<std::uint64_t>(runs_of_parts), beyond[0], beyond[1], beyond[2]};
}

}  // namespace

Outcome<Profile> read_profile(const std::string& path, Columns columns) {
  Outcome<Contents> contents =
      columns == Columns::all ? fetch_contents(path) : fetch_contents(path, columns_without_analysis);
  if (!contents) return contents.failure();
  return check_profile(std::move(*contents), path, columns);
}

Outcome<Profile> check_profile(Contents contents, const std::string& path, Columns columns) {
  if (contents.attributes.count("schema_version") == 0) {
    return Failure{path + " is an HDF5 file, but not a Halcyon profile (it has no schema_version)"};
  }
  Reader reader(std::move(contents), path);
  Profile profile;
  const std::int64_t schema_version = reader.integer("schema_version");
  if (reader.failure()) return *reader.failure();
  if (schema_version > newest_schema_version) {
    return Failure{path + " has schema version " + std::to_string(schema_version) + "; this halcyon reads up to " +
                   std::to_string(newest_schema_version) + ": use a newer halcyon"};
  }
  if (schema_version < 1) reader.refuse("impossible schema version");
  profile.schema_version = static_cast<int>(schema_version);
  read_circumstances(reader, profile);
  if (reader.failure()) return *reader.failure();
  profile.rank_host = reader.texts("rank_host", static_cast<std::uint64_t>(profile.ranks), true);
  profile.rank_run_time = reader.column<double>("rank_run_time", static_cast<std::uint64_t>(profile.ranks), true);
  if (!are_unknown_or_possible(profile.rank_run_time, most_seconds)) {
    reader.refuse("column rank_run_time has impossible values");
  }
  read_background(reader, profile);
  read_probes(reader, profile);
  read_known_runs(reader, profile);
  read_evidence(reader, profile);
  read_features(reader, profile);
  read_segments(reader, profile, columns);
  if (reader.failure()) return *reader.failure();
  return profile;
}

std::vector<BoundaryCount> Profile::boundaries() const {
  std::vector<std::uint64_t> of_site(sites.size());
  if (site.empty() && !sites.empty()) of_site.front() = segments;
  for (const std::uint16_t place : site) ++of_site[place];
  std::map<std::string_view, std::uint64_t> of_operation;
  for (std::size_t place = 0; place < sites.size(); ++place) {
    const std::string_view operation = std::string_view(sites[place]).substr(0, sites[place].find('@'));
    if (of_site[place] > 0 && operation != boundary_names.back()) of_operation[operation] += of_site[place];
  }
  std::vector<BoundaryCount> counts;
  for (const auto& [operation, count] : of_operation) counts.push_back({std::string(operation), count});
  std::stable_sort(counts.begin(), counts.end(),
                   [](const BoundaryCount& a, const BoundaryCount& b) { return a.segments > b.segments; });
  return counts;
}

std::vector<std::string> Profile::hosts() const {
  std::vector<std::string> distinct;
  for (const std::string& host : rank_host) {
    if (std::find(distinct.begin(), distinct.end(), host) == distinct.end()) distinct.push_back(host);
  }
  return distinct;
}

std::vector<double> Profile::by_host(Evidence which) const {
  const std::vector<double>& by_rank = evidence[index_of(which)];
  std::vector<double> values;
  if (by_rank.empty()) return values;
  for (const std::string& host : hosts()) {
    values.push_back(
        by_rank[static_cast<std::size_t>(std::find(rank_host.begin(), rank_host.end(), host) - rank_host.begin())]);
  }
  return values;
}

}  // namespace halcyon
