#include "libprofile/format/profile_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <type_traits>

#include "libprofile/format/contents.hpp"
#include "libprofile/format/schema.hpp"

namespace halcyon {
namespace {

// The columns that no analysis uses.
constexpr std::array<std::string_view, 3> columns_without_analysis{"boundary_wait", "injected_requested",
                                                                   "injected_actual"};

// False for NaN.
template <class T>
bool is_possible(T value, double least, double most) {
  return static_cast<double>(value) >= least && static_cast<double>(value) <= most;
}

// The loop has no early exit, which makes it several times as fast.
template <class T>
bool are_possible(const std::vector<T>& values, T most) {
  bool all = true;
  for (const T value : values) all &= (value >= T{0}) & (value <= most);
  return all;
}
template <class T>
bool are_unknown_or_possible(const std::vector<T>& values, double most) {
  return std::all_of(values.begin(), values.end(),
                     [most](T value) { return std::isnan(value) || is_possible(value, 0.0, most); });
}

template <class T>
bool are_allowed(const std::vector<T>& values, const Column& column) {
  if constexpr (std::is_integral_v<T>) {
    if (column.values != Values::index) return true;
    return std::all_of(values.begin(), values.end(), [&column](T value) { return value < column.below; });
  } else {
    switch (column.values) {
      case Values::seconds: return are_possible(values, static_cast<T>(most_seconds));
      case Values::of_segment: return are_possible(values, static_cast<T>(most_in_segment));
      case Values::of_segment_or_unknown: return are_unknown_or_possible(values, most_in_segment);
      default: break;
    }
    if constexpr (std::is_same_v<T, double>) {
      if (column.values == Values::seconds_or_unknown) return are_unknown_or_possible(values, most_seconds);
      if (column.values == Values::evidence_or_unknown) return are_unknown_or_possible(values, most_evidence);
    }
    return true;
  }
}

// Moves the contents of a file into a profile, for for_each_attribute() and for_each_column(), and checks them. Keeps
// the first error, and skips everything after it.
class Reader {
 public:
  Reader(Contents contents, std::string path, Columns columns)
      : contents_(std::move(contents)), path_(std::move(path)), columns_(columns) {}

  const std::optional<Failure>& failure() const { return failure_; }
  void refuse(const std::string& why) {
    if (!failure_) failure_ = Failure{path_ + " is damaged: " + why};
  }
  bool has_attribute(std::string_view name) const { return contents_.attributes.count(name) != 0; }

  /// Sets the length of all columns over a dimension.
  void size(std::string_view over, std::uint64_t length) { lengths_[std::string(over)] = length; }

  void operator()(const Attribute& attribute, std::string& value) {
    const Frame* frame = find(attribute, attribute.since == 1);
    if (frame == nullptr) return;
    if (frame->kind != FrameKind::text) refuse("attribute " + std::string(attribute.name) + " is not a text");
    value.assign(frame->payload.begin(), frame->payload.end());
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const Attribute& attribute, Number& value) {
    const Frame* frame = find(attribute, !attribute.optional);
    if (frame == nullptr) return;
    if (std::is_floating_point_v<Number> && frame->kind == FrameKind::real) {
      take(attribute, frame->number<double>(), value);
    } else if (frame->kind == FrameKind::integer) {
      take(attribute, frame->number<std::int64_t>(), value);
    } else {
      refuse("attribute " + std::string(attribute.name) + " is not a number of its kind");
    }
  }

  template <class T>
  void operator()(const Column& column, std::vector<T>& values) {
    std::vector<Frame> pieces = take_column(column, element_type_of<T>());
    std::size_t count = 0;
    for (const Frame& piece : pieces) count += piece.payload.size() / sizeof(T);
    if (pieces.empty() || !has_length(column, count)) return;
    values.clear();
    values.reserve(count);
    for (Frame& piece : pieces) {
      const std::vector<char> bytes = std::move(piece.payload);  // freed after each piece: no column is held twice
      const std::size_t begin = values.size();
      values.resize(begin + bytes.size() / sizeof(T));
      if (values.size() > begin) std::memcpy(&values[begin], bytes.data(), (values.size() - begin) * sizeof(T));
    }
    if (are_allowed(values, column)) return;
    refuse("column " + column.name +
           (column.values == Values::index ? " has an index out of range" : " has impossible values"));
  }
  void operator()(const Column& column, std::vector<std::string>& values) {
    const std::vector<Frame> pieces = take_column(column, ElementType::text);
    if (pieces.empty()) return;
    values.clear();
    for (const Frame& piece : pieces) {
      for (auto at = piece.payload.begin(); at != piece.payload.end();) {
        const auto end = std::find(at, piece.payload.end(), '\0');
        values.emplace_back(at, end);
        at = end == piece.payload.end() ? end : end + 1;
      }
    }
    if (!has_length(column, values.size())) values.clear();
  }

 private:
  const Frame* find(const Attribute& attribute, bool needed) {
    const auto found = contents_.attributes.find(attribute.name);
    if (found != contents_.attributes.end()) return &found->second;
    if (needed) refuse("attribute " + std::string(attribute.name) + " is missing, or neither a text nor a number");
    return nullptr;
  }

  template <class Read, class Number>
  void take(const Attribute& attribute, const std::optional<Read>& read, Number& value) {
    if (!read || !is_possible(*read, attribute.least, attribute.most)) {
      return refuse("attribute " + std::string(attribute.name) + " has an impossible value");
    }
    value = static_cast<Number>(*read);
  }

  // Empty if the column is absent.
  std::vector<Frame> take_column(const Column& column, ElementType type) {
    if (failure_) return {};
    auto taken = contents_.columns.extract(column.name);
    if (!taken) {
      const bool is_left_out =
          columns_ == Columns::analyzed && std::find(columns_without_analysis.begin(), columns_without_analysis.end(),
                                                     column.name) != columns_without_analysis.end();
      if (column.needed && !is_left_out) refuse("column " + column.name + " is missing");
      lengths_.try_emplace(column.over, 0);  // no later column over a dimension of its own has values then
      return {};
    }
    const std::vector<Frame>& pieces = taken.mapped();
    if (std::any_of(pieces.begin(), pieces.end(), [type](const Frame& piece) { return piece.element != type; })) {
      refuse("column " + column.name + " has values of another type");
      return {};
    }
    return std::move(taken.mapped());
  }

  // The first column over a dimension gives it its length, unless it is known.
  bool has_length(const Column& column, std::uint64_t count) {
    const std::uint64_t length = lengths_.try_emplace(column.over, count).first->second;
    if (count == 0 && column.needed && length == 0) {
      refuse("column " + column.name + " is empty");
      return false;
    }
    if (count <= most_segments && count == length) return true;
    refuse("column " + column.name + " has the wrong shape");
    return false;
  }

  Contents contents_;
  std::string path_;
  Columns columns_;
  std::map<std::string, std::uint64_t> lengths_;
  std::optional<Failure> failure_;
};

// Columns that mean something only together.
// Recorders before schema version 8 saw no devices.
void fill_what_devices_did(Profile& profile) {
  const auto ranks = static_cast<std::size_t>(profile.ranks);
  const auto fill = [](auto& values, std::size_t count) {
    if (values.empty()) values.resize(count);
  };
  for (const Feature feature : {Feature::device_launches, Feature::device_items, Feature::device_bytes}) {
    fill(profile.features[index_of(feature)].bins, profile.segments > 0 ? 1 : 0);
    fill(profile.totals[index_of(feature)], ranks);
  }
  fill(profile.last_rank_times[static_cast<std::size_t>(TimeKind::device)], profile.segments);
  fill(profile.sections.device, ranks * profile.sections.count());
}

void check_sets_of_columns(Reader& reader, const Profile& profile) {
  const FixedWorkTimes& before = profile.background_before;
  const FixedWorkTimes& after = profile.background_after;
  const bool has_background = !before.quantum.empty();
  for (const std::vector<double>* times : {&before.mean, &after.quantum, &after.mean}) {
    if (times->empty() == has_background) reader.refuse("some columns of the background are missing");
  }
  const InjectedTruth& injected = profile.injected;
  if (injected.critical.empty() && !(injected.requested.empty() && injected.actual.empty())) {
    reader.refuse("column injected_critical is missing");
  }
  const Witnessed& witnessed = profile.witnessed;
  for (const std::vector<std::string>* texts :
       {&witnessed.whose, &witnessed.program, &witnessed.user, &witnessed.job, &witnessed.service}) {
    if (texts->size() != witnessed.parties()) reader.refuse("some columns of the witness are missing");
  }
  const RankSections& sections = profile.sections;
  const std::size_t of_ranks = static_cast<std::size_t>(profile.ranks) * sections.count();
  for (const auto column : RankSections::columns) {
    if ((sections.*column).size() != of_ranks || sections.count() % RankSections::eighths != 0) {
      reader.refuse("column section_place does not fit to those of ranks and sections");
    }
  }
}

void read_suspension(Reader& reader, Profile& profile) {
  if (reader.has_attribute(suspension_name)) for_each_attribute_of_suspension(profile.suspension.emplace(), reader);
}

void read_known_runs(Reader& reader, Profile& profile) {
  if (!reader.has_attribute(known_runs_name)) return;
  KnownRuns& known = profile.known_runs.emplace();
  for_each_attribute_of_known_runs(known, reader);
  if (!(known.low_seconds <= known.high_seconds) || !(known.matched_seconds >= 0.0)) {
    reader.refuse("impossible known runs");
  }
  if (!reader.has_attribute(known_parts_name)) return;
  KnownRuns::OfParts& parts = *(known.of_parts = KnownRuns::OfParts{});
  for_each_attribute_of_known_parts(parts, reader);
  if (parts.runs > known.runs || !(parts.low_seconds <= parts.high_seconds)) reader.refuse("impossible known runs");
}

void read_witness(Reader& reader, Profile& profile) {
  if (reader.has_attribute(witness_name)) for_each_attribute_of_witness(profile.witnessed, reader);
}

}  // namespace

Outcome<Profile> read_profile(const std::string& path, Columns columns) {
  Outcome<Contents> contents =
      columns == Columns::all ? fetch_contents(path) : fetch_contents(path, columns_without_analysis);
  if (!contents) return contents.failure();
  Outcome<Profile> profile = check_profile(std::move(*contents), path, columns);
  if (!profile) return profile;
  // Boundaries cut the run into segments, whose durations are 32-bit numbers. Of a run that was cut off, less is known.
  const double seconds = std::accumulate(profile->duration.begin(), profile->duration.end(), 0.0);
  const bool is_whole = profile->exit_state == "finalized" && profile->incomplete.empty();
  if (is_whole && seconds > 1.001 * profile->run_time_seconds) {
    return Failure{path + " is damaged: its segments last longer than the run"};
  }
  return profile;
}

Outcome<Profile> check_profile(Contents contents, const std::string& path, Columns columns) {
  if (contents.attributes.count("schema_version") == 0) {
    return Failure{path + " is an HDF5 file, but not a Halcyon profile (it has no schema_version)"};
  }
  Reader reader(std::move(contents), path, columns);
  Profile profile;
  std::int64_t schema_version = 0;
  reader(Attribute{.name = "schema_version", .least = 1.0}, schema_version);
  if (reader.failure()) return *reader.failure();
  if (schema_version > newest_schema_version) {
    return Failure{path + " has schema version " + std::to_string(schema_version) + "; this halcyon reads up to " +
                   std::to_string(newest_schema_version) + ": use a newer halcyon"};
  }
  profile.schema_version = static_cast<int>(schema_version);
  for_each_attribute(profile, reader);
  read_suspension(reader, profile);
  read_known_runs(reader, profile);
  read_witness(reader, profile);
  if (reader.failure()) return *reader.failure();
  reader.size(over_segments, profile.segments);
  reader.size(over_ranks, static_cast<std::uint64_t>(profile.ranks));
  for_each_column(profile, reader);
  fill_what_devices_did(profile);
  check_sets_of_columns(reader, profile);
  if (reader.failure()) return *reader.failure();
  // Earlier recorders wrote "unknown".
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    if (profile.left_nothing(rank)) profile.rank_host[rank].clear();
  }
  return profile;
}

}  // namespace halcyon
