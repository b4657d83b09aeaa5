#include "libprofile/format/profile_writer.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <vector>

#include "libprofile/format/hdf5.hpp"
#include "libprofile/format/new_file.hpp"
#include "libprofile/format/schema.hpp"
#include "libprofile/format/send_profile.hpp"
#include "libprofile/system/cannot_write.hpp"

namespace halcyon {
namespace {

// Large enough that compression pays, small enough that a short run's file stays small.
constexpr hsize_t chunk_elements = 16384;
constexpr hsize_t least_compressed =
    65536;  // bytes; compressing would delay MPI_Finalize, and disks have room for smaller columns
constexpr unsigned deflate_level = 1;  // higher levels cost several times as much for a few percent

// Variable-length UTF-8, since other readers stumble over fixed-length strings.
hdf5::Datatype text_type() {
  hdf5::Datatype type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

bool set_attribute(hid_t object, std::string_view name, hid_t type, const void* value) {
  const hdf5::Dataspace scalar(H5Screate(H5S_SCALAR));
  const hdf5::Attribute attribute(
      H5Acreate2(object, std::string(name).c_str(), type, scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
  return attribute && H5Awrite(attribute.get(), type, value) >= 0;
}

bool set_text(hid_t object, std::string_view name, std::string_view value) {
  const std::string text(value);
  const char* pointer = text.c_str();
  return set_attribute(object, name, text_type().get(), static_cast<const void*>(&pointer));
}

// A dimension without values of its own, in the convention that netCDF readers know. If the file has it already, it is
// opened.
hdf5::Dataset dimension_of(hid_t file, const std::string& name, hsize_t length) {
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0) return hdf5::Dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
  const hdf5::Dataspace space(H5Screate_simple(1, &length, nullptr));
  hdf5::Dataset dataset(
      H5Dcreate2(file, name.c_str(), H5T_NATIVE_UINT8, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  char label[80];
  std::snprintf(label, sizeof label, "This is a netCDF dimension but not a netCDF variable.%10llu",
                static_cast<unsigned long long>(length));
  return dataset && H5DSset_scale(dataset.get(), label) >= 0 ? std::move(dataset) : hdf5::Dataset();
}

}  // namespace

struct ProfileWriter::State {
  struct Column {
    hdf5::Dataset dataset;
    hsize_t written = 0;
    hsize_t length = 0;
    const Variable* variable = nullptr;
  };

  explicit State(const std::string& path) : place(path) {
    // Texts are converted in a buffer, which HDF5 clears before each use: a mebibyte if not said otherwise.
    constexpr std::size_t conversion_bytes = std::size_t{64} << 10;
    H5Pset_buffer(transfer.get(), conversion_bytes, nullptr, nullptr);
  }

  NewFile place;
  bool replaces = false;  // the existing file of that name
  hdf5::PropertyList transfer{H5Pcreate(H5P_DATASET_XFER)};
  hdf5::File file;
  hsize_t segments = 0;
  hsize_t ranks = 0;
  std::map<std::string, Column, std::less<>> columns;

  ~State() {
    columns.clear();
    file.reset();
  }
};

ProfileWriter::ProfileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProfileWriter::~ProfileWriter() = default;
ProfileWriter::ProfileWriter(ProfileWriter&&) noexcept = default;
ProfileWriter& ProfileWriter::operator=(ProfileWriter&&) noexcept = default;

Outcome<ProfileWriter> ProfileWriter::create(const std::string& path) {
  hdf5::prepare();
  auto state = std::make_unique<State>(path);
  if (const Status made = state->place.create(); !made) return made.failure();
  const hdf5::PropertyList access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_sieve_buf_size(access.get(), 4096);  // per uncompressed column, each of which is written whole
  state->file = hdf5::File(H5Fcreate(state->place.partial().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
  if (!state->file) return cannot_write(path, errno);
  ProfileWriter writer(std::move(state));
  if (const Status status = writer.attribute("schema_version", std::int64_t{newest_schema_version}); !status) {
    return status.failure();
  }
  return writer;
}

Outcome<ProfileWriter> ProfileWriter::amend(const std::string& path, std::uint64_t ranks) {
  hdf5::prepare();
  auto state = std::make_unique<State>(path);
  state->replaces = true;
  state->ranks = ranks;
  if (const Status made = state->place.copy(); !made) return made.failure();
  state->file = hdf5::File(H5Fopen(state->place.partial().c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  if (!state->file) return cannot_write(path, errno);
  return ProfileWriter(std::move(state));
}

Status ProfileWriter::attribute(std::string_view name, std::string_view value) {
  errno = 0;
  if (!set_text(state_->file.get(), name, value)) return cannot_write(state_->place.path(), errno);
  return Done{};
}

Status ProfileWriter::attribute(std::string_view name, std::int64_t value) {
  errno = 0;
  if (name == "segments" || name == "ranks") {
    const bool of_segments = name == "segments";
    const std::uint64_t length = static_cast<std::uint64_t>(value);
    if (length > (of_segments ? most_segments : most_ranks)) {
      return Failure{"a profile cannot have " + std::to_string(length) + " " + std::string(name)};
    }
    (of_segments ? state_->segments : state_->ranks) = length;
  }
  if (!set_attribute(state_->file.get(), name, H5T_NATIVE_INT64, &value))
    return cannot_write(state_->place.path(), errno);
  return Done{};
}

Status ProfileWriter::attribute(std::string_view name, double value) {
  errno = 0;
  if (!set_attribute(state_->file.get(), name, H5T_NATIVE_DOUBLE, &value))
    return cannot_write(state_->place.path(), errno);
  return Done{};
}

Status ProfileWriter::append(std::string_view name, ElementType type, const void* data, std::size_t bytes) {
  errno = 0;
  const Variable* variable = find_variable(name);
  if (variable == nullptr || variable->type != type || bytes % size_of(type) != 0) {
    return Failure{"a column '" + std::string(name) + "' is not part of the profile format"};
  }
  std::vector<const char*> texts;
  if (type == ElementType::text) {
    const char* text = static_cast<const char*>(data);
    if (bytes > 0 && text[bytes - 1] != '\0') return Failure{"a text of column '" + std::string(name) + "' has no end"};
    for (const char* end = text + bytes; text < end; text += std::strlen(text) + 1) texts.push_back(text);
  }
  const hsize_t count = type == ElementType::text ? texts.size() : bytes / size_of(type);
  const hdf5::Datatype own_type =
      type == ElementType::text ? text_type() : hdf5::Datatype(H5Tcopy(hdf5::memory_type(type)));

  auto found = state_->columns.find(name);
  if (found == state_->columns.end()) {
    State::Column column;
    column.variable = variable;
    column.length = variable->column.over == over_segments ? state_->segments
                    : variable->column.over == over_ranks  ? state_->ranks
                                                           : count;
    const hdf5::Dataspace space(H5Screate_simple(1, &column.length, nullptr));
    const hdf5::PropertyList layout(H5Pcreate(H5P_DATASET_CREATE));
    if (type != ElementType::text && column.length * size_of(type) > least_compressed) {
      const hsize_t chunk = std::min(column.length, chunk_elements);
      H5Pset_chunk(layout.get(), 1, &chunk);
      H5Pset_shuffle(layout.get());
      H5Pset_deflate(layout.get(), deflate_level);
    }
    column.dataset = hdf5::Dataset(H5Dcreate2(state_->file.get(), std::string(name).c_str(), own_type.get(),
                                              space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT));
    if (!column.dataset || !set_text(column.dataset.get(), "description", variable->column.description) ||
        (!variable->column.units.empty() && !set_text(column.dataset.get(), "units", variable->column.units))) {
      return cannot_write(state_->place.path(), errno);
    }
    found = state_->columns.emplace(std::string(name), std::move(column)).first;
  }

  State::Column& column = found->second;
  if (column.written + count > column.length) {
    return Failure{"column '" + std::string(name) + "' of " + state_->place.path() +
                   " got more values than the profile has"};
  }
  if (count == 0) return Done{};
  const hdf5::Dataspace file_space(H5Dget_space(column.dataset.get()));
  H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &column.written, nullptr, &count, nullptr);
  const hdf5::Dataspace memory_space(H5Screate_simple(1, &count, nullptr));
  const void* source = type == ElementType::text ? static_cast<const void*>(texts.data()) : data;
  if (H5Dwrite(column.dataset.get(), own_type.get(), memory_space.get(), file_space.get(), state_->transfer.get(),
               source) < 0) {
    return cannot_write(state_->place.path(), errno);
  }
  column.written += count;
  return Done{};
}

Outcome<std::string> ProfileWriter::finish() {
  errno = 0;
  State& state = *state_;
  std::map<std::string, hdf5::Dataset> dimensions;
  for (auto& [name, column] : state.columns) {
    if (column.written != column.length) {
      return Failure{"column '" + name + "' of " + state.place.path() + " is incomplete"};
    }
    const std::string& dimension = column.variable->column.over;
    auto scale = dimensions.find(dimension);
    if (scale == dimensions.end()) {
      hdf5::Dataset dataset = dimension_of(state.file.get(), dimension, column.length);
      if (!dataset) return cannot_write(state.place.path(), errno);
      scale = dimensions.emplace(dimension, std::move(dataset)).first;
    }
    if (H5DSattach_scale(column.dataset.get(), scale->second.get(), 0) < 0)
      return cannot_write(state.place.path(), errno);
    if (!column.dataset.reset()) return cannot_write(state.place.path(), errno);
  }
  for (auto& [name, dataset] : dimensions) {
    if (!dataset.reset()) return cannot_write(state.place.path(), errno);
  }
  state.columns.clear();
  if (!state.file.reset()) return cannot_write(state.place.path(), errno);
  return state.replaces ? state.place.replace() : state.place.give_name();
}

namespace {

// Writes one attribute, or the next values of a column.
Status add(ProfileWriter& writer, FrameKind kind, ElementType element, std::string_view name, std::string_view bytes) {
  const auto number = [&](const auto& value) {
    return value ? writer.attribute(name, *value) : Status(Failure{"the profile's data is damaged"});
  };
  switch (kind) {
    case FrameKind::text: return writer.attribute(name, bytes);
    case FrameKind::integer: return number(number_in<std::int64_t>(bytes));
    case FrameKind::real: return number(number_in<double>(bytes));
    case FrameKind::column: return writer.append(name, element, bytes.data(), bytes.size());
    case FrameKind::failure: return Failure{std::string(bytes)};
    case FrameKind::end: break;
  }
  return Done{};
}

// After the first failure nothing more is written.
class IntoFile final : public Sink {
 public:
  explicit IntoFile(ProfileWriter& writer) : writer_(writer) {}

  Outcome<std::string> finish() {
    if (!status_) return status_.failure();
    return writer_.finish();
  }

 private:
  void put(FrameKind kind, ElementType element, std::string_view name, const void* data, std::size_t bytes) override {
    if (status_) status_ = add(writer_, kind, element, name, {static_cast<const char*>(data), bytes});
  }

  ProfileWriter& writer_;
  Status status_ = Done{};
};

}  // namespace

Outcome<std::string> write_profile(const Profile& profile, const std::string& path) {
  Outcome<ProfileWriter> writer = ProfileWriter::create(path);
  if (!writer) return writer.failure();
  IntoFile file(*writer);
  send_profile(profile, file);
  return file.finish();
}

Status add_what_came_later(const Profile& profile, const std::string& path) {
  Outcome<ProfileWriter> writer = ProfileWriter::amend(path, static_cast<std::uint64_t>(profile.ranks));
  if (!writer) return writer.failure();
  IntoFile file(*writer);
  send_what_came_later(profile, file);
  const Outcome<std::string> written = file.finish();
  return written ? Status(Done{}) : written.failure();
}

Outcome<std::string> write_profile_from_frames(int file, const std::string& path) {
  Outcome<ProfileWriter> writer = ProfileWriter::create(path);
  // Reads to the end of the frames even if nothing can be written, so that the sender never meets a closed pipe.
  Status status = writer ? Status(Done{}) : Status(writer.failure());
  Frame frame;
  for (;;) {
    switch (read_frame(file, frame)) {
      case Received::frame: break;
      case Received::ended_early: return status ? Failure{"the profile's data ended early"} : status.failure();
      case Received::damaged: return Failure{"the profile's data is damaged"};
    }
    if (frame.kind == FrameKind::end) break;
    if (status) status = add(*writer, frame.kind, frame.element, frame.name, frame.bytes());
  }
  if (!status) return status.failure();
  return writer->finish();
}

}  // namespace halcyon
