#include "libprofile/format/profile_reader.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>

#include "libprofile/format/hdf5.hpp"
#include "libprofile/format/schema.hpp"

namespace halcyon {
namespace {

// A damaged header must not make the reader ask for more memory than any real profile needs.
constexpr hsize_t most_segments = hsize_t{1} << 32;
constexpr hsize_t most_ranks = hsize_t{1} << 24;

// The first thing that is wrong with the file; everything after it is skipped.
class Reader {
 public:
  Reader(hid_t file, std::string path) : file_(file), path_(std::move(path)) {}

  const std::optional<Failure>& failure() const { return failure_; }
  void refuse(const std::string& why) {
    if (!failure_) failure_ = Failure{path_ + " is damaged: " + why};
  }

  std::string text(const char* name, bool needed = true) {
    const hdf5::Attribute attribute = open_attribute(name, needed);
    if (!attribute) return {};
    const hdf5::Datatype type(H5Aget_type(attribute.get()));
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) <= 0 || !is_scalar(attribute)) {
      refuse(std::string("attribute ") + name + " is not a text");
      return {};
    }
    char* value = nullptr;
    if (H5Aread(attribute.get(), type.get(), static_cast<void*>(&value)) < 0 || value == nullptr) return {};
    std::string result(value);
    H5free_memory(value);
    return result;
  }

  template <class T>
  T number(const char* name, hid_t memory_type, bool needed = true) {
    T value{};
    const hdf5::Attribute attribute = open_attribute(name, needed);
    if (attribute && (!is_scalar(attribute) || H5Aread(attribute.get(), memory_type, &value) < 0)) {
      refuse(std::string("attribute ") + name + " is not a number");
    }
    return value;
  }
  std::int64_t integer(const char* name, bool needed = true) {
    return number<std::int64_t>(name, H5T_NATIVE_INT64, needed);
  }
  double real(const char* name, bool needed = true) { return number<double>(name, H5T_NATIVE_DOUBLE, needed); }

  /// A column of `length` values, or of any length if that is not given; empty if it is absent and not needed.
  template <class T>
  std::vector<T> column(const std::string& name, hid_t memory_type, std::optional<hsize_t> length, bool needed) {
    hsize_t size = 0;
    const hdf5::Dataset dataset = open_column(name, length, needed, size);
    std::vector<T> values(size);
    if (dataset && !values.empty() &&
        H5Dread(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      refuse("column " + name + " cannot be read");
    }
    return values;
  }

  std::vector<std::string> texts(const std::string& name, std::optional<hsize_t> length, bool needed) {
    hsize_t size = 0;
    const hdf5::Dataset dataset = open_column(name, length, needed, size);
    std::vector<char*> pointers(size);
    if (!dataset || pointers.empty()) return {};
    const hdf5::Datatype type(H5Dget_type(dataset.get()));
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) <= 0 ||
        H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(pointers.data())) < 0) {
      refuse("column " + name + " cannot be read");
      return {};
    }
    std::vector<std::string> values;
    values.reserve(pointers.size());
    for (char* pointer : pointers) {
      values.emplace_back(pointer != nullptr ? pointer : "");
      H5free_memory(pointer);
    }
    return values;
  }

  /// Refuses the file if a column that is not read is missing though it is needed, or has the wrong shape.
  void check_column(const std::string& name, hsize_t length, bool needed) {
    hsize_t size = 0;
    open_column(name, length, needed, size);
  }

  bool has_column(const std::string& name) const { return H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0; }

 private:
  hdf5::Attribute open_attribute(const char* name, bool needed) {
    if (H5Aexists(file_, name) > 0) return hdf5::Attribute(H5Aopen(file_, name, H5P_DEFAULT));
    if (needed) refuse(std::string("attribute ") + name + " is missing");
    return hdf5::Attribute();
  }

  static bool is_scalar(const hdf5::Attribute& attribute) {
    const hdf5::Dataspace space(H5Aget_space(attribute.get()));
    return H5Sget_simple_extent_npoints(space.get()) == 1;
  }

  // `size` is set only if the column is there and has the right shape.
  hdf5::Dataset open_column(const std::string& name, std::optional<hsize_t> length, bool needed, hsize_t& size) {
    if (failure_) return hdf5::Dataset();
    if (!has_column(name)) {
      if (needed) refuse("column " + name + " is missing");
      return hdf5::Dataset();
    }
    hdf5::Dataset dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT));
    const hdf5::Dataspace space(dataset ? H5Dget_space(dataset.get()) : H5I_INVALID_HID);
    hsize_t extent = 0;
    if (!space || H5Sget_simple_extent_ndims(space.get()) != 1 ||
        H5Sget_simple_extent_dims(space.get(), &extent, nullptr) < 0 || extent > most_segments ||
        (length && extent != *length)) {
      refuse("column " + name + " has the wrong shape");
      return hdf5::Dataset();
    }
    size = extent;
    return dataset;
  }

  hid_t file_;
  std::string path_;
  std::optional<Failure> failure_;
};

void read_circumstances(Reader& reader, Profile& profile) {
  profile.recorder_version = reader.text("recorder_version");
  profile.command = reader.text("command");
  profile.mpi = reader.text("mpi");
  profile.counter = reader.text("counter");
  profile.compute_units = reader.text("compute_units");
  profile.clock = reader.text("clock");
  profile.start_time = reader.text("start_time");
  profile.exit_state = reader.text("exit_state");
  profile.disagreement = reader.text("disagreement", false);
  profile.inject = reader.text("inject", false);
  profile.dropped_segments = static_cast<std::uint64_t>(reader.integer("dropped_segments"));
  profile.run_time_seconds = reader.real("run_time_seconds");
  profile.boundary_cost_seconds = reader.real("boundary_cost_seconds");
  profile.clock_resolution_seconds = reader.real("clock_resolution_seconds");
  const std::int64_t segments = reader.integer("segments");
  const std::int64_t ranks = reader.integer("ranks");
  if (segments < 0 || static_cast<hsize_t>(segments) > most_segments) reader.refuse("impossible number of segments");
  if (ranks < 1 || static_cast<hsize_t>(ranks) > most_ranks) reader.refuse("impossible number of ranks");
  if (!std::isfinite(profile.run_time_seconds) || profile.run_time_seconds < 0) reader.refuse("impossible run time");
  profile.segments = static_cast<std::uint64_t>(segments);
  profile.ranks = static_cast<int>(ranks);
}

void read_evidence(Reader& reader, Profile& profile) {
  for (const EvidenceInfo& info : evidence_infos) {
    std::vector<double>& values = profile.evidence[index_of(info.evidence)];
    values = reader.column<double>(evidence_name(info), H5T_NATIVE_DOUBLE, static_cast<hsize_t>(profile.ranks), false);
    // NaN is a value here: not told.
    if (std::any_of(values.begin(), values.end(), [](double v) { return v < 0.0 || std::isinf(v); })) {
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
    column.bins = reader.column<double>(bins_name(name), H5T_NATIVE_DOUBLE, std::nullopt, profile.segments > 0);
    if (profile.segments > 0 && column.bins.empty()) reader.refuse("column " + bins_name(name) + " is empty");
    column.index = reader.column<std::uint16_t>(name, H5T_NATIVE_UINT16, profile.segments, column.bins.size() > 1);
    column.reduced = std::find(reduced.begin(), reduced.end(), name) != reduced.end();
    const auto outside = [&column](std::uint16_t bin) { return bin >= column.bins.size(); };
    if (std::any_of(column.index.begin(), column.index.end(), outside))
      reader.refuse("column " + name + " has bins that are not there");
    if (!std::all_of(column.bins.begin(), column.bins.end(), [](double v) { return std::isfinite(v) && v >= 0.0; })) {
      reader.refuse("column " + bins_name(name) + " has impossible values");
    }
    if (info.kind != FeatureKind::work) {
      profile.totals[index_of(info.feature)] =
          reader.column<std::uint64_t>(totals_name(name), H5T_NATIVE_UINT64, static_cast<hsize_t>(profile.ranks), true);
    }
  }
}

void read_segments(Reader& reader, Profile& profile, Columns columns) {
  const bool any = profile.segments > 0;
  const auto seconds = [&](const std::string& name, bool needed) {
    std::vector<float> values = reader.column<float>(name, H5T_NATIVE_FLOAT, profile.segments, needed);
    // No way out of the loop, which is then several times as fast.
    bool possible = true;
    for (const float value : values) possible &= (value >= 0.0F) & (value <= std::numeric_limits<float>::max());
    if (!possible) reader.refuse("column " + name + " has impossible values");
    return values;
  };
  const auto unanalyzed_seconds = [&](const std::string& name, bool needed) {
    if (columns == Columns::all) return seconds(name, needed);
    reader.check_column(name, profile.segments, needed);
    return std::vector<float>();
  };
  profile.duration = seconds("duration", any);
  profile.boundary_wait = unanalyzed_seconds("boundary_wait", any);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    profile.last_rank_times[kind] = seconds(last_rank_time_name(time_kind_names[kind]), any);
  }
  profile.last_rank_off_cpu = seconds("last_rank_off_cpu", false);
  profile.calls_beyond_usual = seconds("calls_beyond_usual", false);
  profile.last_rank = reader.column<std::uint32_t>("last_rank", H5T_NATIVE_UINT32, profile.segments, any);
  if (std::any_of(profile.last_rank.begin(), profile.last_rank.end(),
                  [&profile](std::uint32_t rank) { return rank >= static_cast<std::uint32_t>(profile.ranks); })) {
    reader.refuse("column last_rank has ranks that are not there");
  }
  profile.sites = reader.texts("sites", std::nullopt, any);
  if (any && profile.sites.empty()) reader.refuse("column sites is empty");
  profile.site = reader.column<std::uint16_t>("site", H5T_NATIVE_UINT16, profile.segments, profile.sites.size() > 1);
  if (std::any_of(profile.site.begin(), profile.site.end(),
                  [&profile](std::uint16_t site) { return site >= profile.sites.size(); })) {
    reader.refuse("column site has call sites that are not there");
  }
  if (reader.has_column("injected_actual")) {
    profile.injected.requested = unanalyzed_seconds("injected_requested", true);
    profile.injected.actual = unanalyzed_seconds("injected_actual", true);
    profile.injected.critical = seconds("injected_critical", true);
  }
  profile.composed_of = reader.texts("composed_of", std::nullopt, false);
  profile.source =
      reader.column<std::uint16_t>("source", H5T_NATIVE_UINT16, profile.segments, !profile.composed_of.empty());
  if (std::any_of(profile.source.begin(), profile.source.end(),
                  [&profile](std::uint16_t run) { return run >= profile.composed_of.size(); })) {
    reader.refuse("column source has runs that are not there");
  }
}

void read_background(Reader& reader, Profile& profile) {
  if (!reader.has_column(std::string(background_names.front()))) return;
  const auto seconds = [&](std::size_t which) {
    const std::string name(background_names[which]);
    std::vector<double> values =
        reader.column<double>(name, H5T_NATIVE_DOUBLE, static_cast<hsize_t>(profile.ranks), true);
    if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v >= 0.0; })) {
      reader.refuse("column " + name + " has impossible values");
    }
    return values;
  };
  profile.background_before = {seconds(0), seconds(1)};
  profile.background_after = {seconds(2), seconds(3)};
}

}  // namespace

Outcome<Profile> read_profile(const std::string& path, Columns columns) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return Failure{"cannot read " + path + ": " + std::strerror(errno)};
  if (!S_ISREG(status.st_mode)) return Failure{"cannot read " + path + ": it is not a file"};
  if (access(path.c_str(), R_OK) != 0) return Failure{"cannot read " + path + ": " + std::strerror(errno)};
  hdf5::prepare();
  if (H5Fis_hdf5(path.c_str()) <= 0) return Failure{path + " is not a profile: it is no HDF5 file"};
  const hdf5::File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file) return Failure{path + " is damaged: HDF5 cannot open it (truncated?)"};
  if (H5Aexists(file.get(), "schema_version") <= 0) {
    return Failure{path + " is an HDF5 file, but not a Halcyon profile (it has no schema_version)"};
  }

  Reader reader(file.get(), path);
  Profile profile;
  profile.schema_version = static_cast<int>(reader.integer("schema_version"));
  if (reader.failure()) return *reader.failure();
  if (profile.schema_version > newest_schema_version) {
    return Failure{path + " has schema version " + std::to_string(profile.schema_version) +
                   "; this halcyon reads up to " + std::to_string(newest_schema_version) + ": use a newer halcyon"};
  }
  if (profile.schema_version < 1) reader.refuse("impossible schema version");
  read_circumstances(reader, profile);
  if (reader.failure()) return *reader.failure();
  profile.rank_host = reader.texts("rank_host", static_cast<hsize_t>(profile.ranks), true);
  profile.rank_run_time =
      reader.column<double>("rank_run_time", H5T_NATIVE_DOUBLE, static_cast<hsize_t>(profile.ranks), true);
  read_background(reader, profile);
  read_evidence(reader, profile);
  read_features(reader, profile);
  read_segments(reader, profile, columns);
  if (reader.failure()) return *reader.failure();
  return profile;
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
