#include "libprofile/format/contents.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "libprofile/format/hdf5.hpp"
#include "libprofile/format/schema.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/limited_process.hpp"

namespace halcyon {
namespace {

// Address space of the reading process beyond its initial one: a column while it is unpacked and converted, and HDF5's
// own needs.
constexpr std::uint64_t address_space_of_reader(std::uint64_t most_bytes) {
  return 3 * most_bytes + (std::uint64_t{64} << 20);
}
// Several times the CPU time that unpacking takes on a slow machine.
constexpr std::uint64_t cpu_seconds_of_reader(std::uint64_t most_bytes) { return 2 + most_bytes / (128 << 20); }

// Several chunks of a compressed column, but few enough to stay in the processor's cache.
constexpr hsize_t piece_elements = 1 << 17;

// Others may have added attributes to those of a profile.
constexpr std::size_t most_attributes = 1000;

bool is_text(const hdf5::Datatype& type) {
  return H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) > 0;
}

class Sender {
 public:
  Sender(hid_t file, std::string path, std::uint64_t most_bytes, std::span<const std::string_view> left_out,
         FrameWriter& out)
      : file_(file), path_(std::move(path)), left_(most_bytes), left_out_(left_out), out_(out) {}

  void send_all() {
    const hdf5::Group root(H5Gopen2(file_, "/", H5P_DEFAULT));
    const int count = H5Aget_num_attrs(root.get());
    if (count > static_cast<int>(most_attributes)) refuse("it has too many attributes");
    for (int i = 0; i < count && !failure_; ++i) send_attribute(static_cast<hsize_t>(i));
    for (const Variable& variable : schema_variables()) {
      if (std::find(left_out_.begin(), left_out_.end(), variable.column.name) != left_out_.end()) continue;
      if (H5Lexists(file_, variable.column.name.c_str(), H5P_DEFAULT) > 0) send_column(variable);
    }
    if (failure_) {
      out_.failure(*failure_);
    } else {
      out_.end();
    }
  }

 private:
  void refuse(const std::string& why) {
    if (!failure_) failure_ = path_ + " is damaged: " + why;
  }

  bool fits(std::uint64_t count, std::uint64_t size = 1) {
    if (count <= left_ / size) {
      left_ -= count * size;
      return true;
    }
    refuse("it claims to hold more than a profile of its size can");
    return false;
  }

  // Skips an attribute that is neither one text nor one number: others may have added it.
  void send_attribute(hsize_t which) {
    const hdf5::Attribute attribute(
        H5Aopen_by_idx(file_, ".", H5_INDEX_NAME, H5_ITER_INC, which, H5P_DEFAULT, H5P_DEFAULT));
    char name[64];
    if (!attribute) return refuse("an attribute cannot be read");
    const ssize_t name_size = H5Aget_name(attribute.get(), sizeof name, name);
    if (name_size <= 0 || name_size >= static_cast<ssize_t>(sizeof name)) return;
    const hdf5::Dataspace space(H5Aget_space(attribute.get()));
    if (H5Sget_simple_extent_npoints(space.get()) != 1) return;
    const hdf5::Datatype type(H5Aget_type(attribute.get()));
    bool good = true;
    if (is_text(type)) {
      char* value = nullptr;
      good = H5Aread(attribute.get(), type.get(), static_cast<void*>(&value)) >= 0;
      const std::string_view text(good && value != nullptr ? value : "");
      if (good && fits(text.size())) out_.attribute(name, text);
      H5free_memory(value);
    } else if (H5Tget_class(type.get()) == H5T_INTEGER) {
      std::int64_t value = 0;
      good = H5Aread(attribute.get(), H5T_NATIVE_INT64, &value) >= 0;
      if (good && fits(sizeof value)) out_.attribute(name, value);
    } else if (H5Tget_class(type.get()) == H5T_FLOAT) {
      double value = 0.0;
      good = H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) >= 0;
      if (good && fits(sizeof value)) out_.attribute(name, value);
    }
    if (!good) refuse(std::string("attribute ") + name + " cannot be read");
  }

  // A profile holds all its data itself. HDF5 would follow links and external storage to any file that the reader may
  // open.
  bool is_linked_in_the_file(const char* name) const {
    H5L_info_t link;
    return H5Lget_info(file_, name, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
  }
  static bool is_stored_in_the_file(const hdf5::Dataset& dataset) {
    const hdf5::PropertyList storage(H5Dget_create_plist(dataset.get()));
    const H5D_layout_t layout = H5Pget_layout(storage.get());
    return (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED) &&
           H5Pget_external_count(storage.get()) == 0;
  }

  void send_column(const Variable& variable) {
    if (failure_) return;
    const char* name = variable.column.name.c_str();
    const hdf5::Dataset dataset(is_linked_in_the_file(name) ? H5Dopen2(file_, name, H5P_DEFAULT) : H5I_INVALID_HID);
    if (!dataset || !is_stored_in_the_file(dataset))
      return refuse("column " + variable.column.name + " is not in the file");
    const hdf5::Dataspace space(H5Dget_space(dataset.get()));
    hsize_t size = 0;
    if (H5Sget_simple_extent_ndims(space.get()) != 1 || H5Sget_simple_extent_dims(space.get(), &size, nullptr) < 0) {
      return refuse("column " + variable.column.name + " has the wrong shape");
    }
    const bool good = variable.type == ElementType::text ? send_texts(variable, dataset, size)
                                                         : send_numbers(variable, dataset, space, size);
    if (!good) refuse("column " + variable.column.name + " cannot be read");
  }

  // Piece by piece, so that the receiver can work on one while the next is unpacked.
  bool send_numbers(const Variable& variable, const hdf5::Dataset& dataset, const hdf5::Dataspace& space,
                    hsize_t size) {
    if (!fits(size, size_of(variable.type))) return false;
    if (size == 0) out_.column(variable.column.name, variable.type, nullptr, 0);
    for (hsize_t at = 0; at < size; at += piece_elements) {
      const hsize_t count = std::min<hsize_t>(piece_elements, size - at);
      const std::size_t bytes = count * size_of(variable.type);
      piece_.resize(std::max(piece_.size(), bytes));
      const hdf5::Dataspace in_memory(H5Screate_simple(1, &count, nullptr));
      if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &at, nullptr, &count, nullptr) < 0 ||
          H5Dread(dataset.get(), hdf5::memory_type(variable.type), in_memory.get(), space.get(), H5P_DEFAULT,
                  piece_.data()) < 0) {
        return false;
      }
      out_.column(variable.column.name, variable.type, piece_.data(), bytes);
    }
    return true;
  }

  bool send_texts(const Variable& variable, const hdf5::Dataset& dataset, hsize_t size) {
    const hdf5::Datatype type(H5Dget_type(dataset.get()));
    if (!is_text(type) || !fits(size, sizeof(char*))) return false;
    std::vector<char*> pointers(size);
    if (!pointers.empty() &&
        H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(pointers.data())) < 0) {
      return false;
    }
    std::string joined;
    for (char* pointer : pointers) {
      const std::string_view text(pointer != nullptr ? pointer : "");
      if (!fits(text.size() + 1)) return false;
      joined.append(text).push_back('\0');
      H5free_memory(pointer);
    }
    out_.column(variable.column.name, ElementType::text, joined.data(), joined.size());
    return true;
  }

  hid_t file_;
  std::string path_;
  std::uint64_t left_;
  std::span<const std::string_view> left_out_;
  FrameWriter& out_;
  std::optional<std::string> failure_;
  std::vector<char> piece_;
};

Failure cannot_read(const std::string& path, int error) {
  return {"cannot read " + path + ": " + std::strerror(error)};
}

}  // namespace

void send_contents(const std::string& path, std::uint64_t most_bytes, int to,
                   std::span<const std::string_view> left_out) {
  FrameWriter out(to);
  hdf5::prepare();
  H5PLset_loading_state(0);  // a file must not choose code to be loaded
  if (H5Fis_hdf5(path.c_str()) <= 0) return out.failure(path + " is not a profile: it is not an HDF5 file");
  const hdf5::File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file) {
    return out.failure(path +
                       " is damaged: HDF5 cannot open it (truncated?); copy it again, or make it anew from its parts "
                       "(halcyon recover)");
  }
  Sender(file.get(), path, most_bytes, left_out, out).send_all();
}

Outcome<Contents> receive_contents(int from, std::uint64_t most_bytes, const std::string& path) {
  Contents contents;
  Frame frame;
  for (std::uint64_t left = most_bytes; read_frame(from, frame, left) == Received::frame;) {
    if (frame.kind == FrameKind::end) return contents;
    if (frame.kind == FrameKind::failure) return Failure{std::string(frame.payload.begin(), frame.payload.end())};
    left -= frame.payload.size();
    if (contents.attributes.size() > most_attributes || contents.columns.size() > schema_variables().size()) break;
    std::string name = frame.name;
    if (frame.kind == FrameKind::column) {
      contents.columns[std::move(name)].push_back(std::move(frame));
    } else {
      contents.attributes.insert_or_assign(std::move(name), std::move(frame));
    }
  }
  return Failure{path + " is damaged: it cannot be read"};
}

namespace {

// What the process that writes has saved (writer_main.cpp).
bool has_frames(const Descriptor& file) {
  const FrameHeader expected;
  FrameHeader header;
  return file && read_at(file.number(), 0, &header, sizeof header) &&
         std::memcmp(header.magic, expected.magic, sizeof header.magic) == 0;
}

}  // namespace

Outcome<Contents> fetch_contents(const std::string& path, std::span<const std::string_view> left_out) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return cannot_read(path, errno);
  if (S_ISDIR(status.st_mode)) return Failure{"cannot read " + path + ": it is a directory, name the profiles in it"};
  if (!S_ISREG(status.st_mode)) return Failure{"cannot read " + path + ": it is not a file"};
  if (access(path.c_str(), R_OK) != 0) return cannot_read(path, errno);
  const std::uint64_t most_bytes = most_unpacked_bytes(static_cast<std::uint64_t>(status.st_size));
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (has_frames(file)) return receive_contents(file.number(), most_bytes, path);
  Outcome<Contents> contents = Failure{"nothing was read"};
  const int error = in_limited_process(
      {.memory_bytes = address_space_of_reader(most_bytes), .cpu_seconds = cpu_seconds_of_reader(most_bytes)},
      [&](int to) { send_contents(path, most_bytes, to, left_out); },
      [&](int from) { contents = receive_contents(from, most_bytes, path); });
  if (error != 0) return cannot_read(path, error);
  return contents;
}

}  // namespace halcyon
