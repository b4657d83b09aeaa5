// HDF5 files that are no profile of ours: bytes of any kind, a real profile with bytes changed, and files that HDF5
// itself wrote but in which attributes and columns have other types, shapes, storage and places than ours.
//
// libhdf5 is not what is tested: on the first two kinds it crashes and loops, and the process that asked must live on.
// The third is read in this process, so that the sanitizers see what our calls of HDF5 do.
#include <hdf5.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "libprofile/format/contents.hpp"
#include "libprofile/format/hdf5.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "libprofile/format/schema.hpp"
#include "tests/fuzz/steering.hpp"

namespace {

using namespace halcyon;
using fuzz::promise;
using fuzz::Steering;

void promise_told(const Outcome<Profile>& profile) {
  if (!profile) fuzz::promise_one_line(profile.failure().message);
}

const std::string& base_bytes() {
  static const std::string bytes = [] {
    const std::string path = fuzz::scratch() + "/base.h5";
    promise(static_cast<bool>(write_profile(fuzz::eventful_profile(), path)), "a profile can be written");
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    unlink(path.c_str());
    return content.str();
  }();
  return bytes;
}

std::string damaged_base(Steering& steering) {
  std::string bytes = base_bytes();
  while (!steering.done()) {
    const std::size_t at = steering.value<std::uint32_t>() % bytes.size();
    switch (steering.byte() % 8) {
      case 0: bytes.resize(std::max<std::size_t>(at, 1)); break;
      case 1: bytes.append(at % 4096, '\0'); break;
      case 2: bytes[at] = static_cast<char>(bytes[at] ^ (1 << steering.byte() % 8)); break;
      case 3:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(8, bytes.size() - at),
                    '\xff');
        break;
      case 4: {
        const std::size_t from = steering.value<std::uint32_t>() % bytes.size();
        const std::size_t size = std::min({std::size_t{steering.byte()}, bytes.size() - at, bytes.size() - from});
        std::memmove(bytes.data() + at, bytes.data() + from, size);
        break;
      }
      default: bytes[at] = static_cast<char>(steering.byte());
    }
  }
  return bytes;
}

hdf5::Datatype a_type(Steering& steering) {
  switch (steering.byte() % 16) {
    case 0: return hdf5::Datatype(H5Tcopy(H5T_STD_I8LE));
    case 1: return hdf5::Datatype(H5Tcopy(H5T_STD_U64BE));
    case 2: return hdf5::Datatype(H5Tcopy(H5T_IEEE_F32BE));
    case 3: return hdf5::Datatype(H5Tcopy(H5T_NATIVE_LDOUBLE));
    case 4: return hdf5::Datatype(H5Tcopy(H5T_STD_B32LE));
    case 5: {
      hdf5::Datatype text(H5Tcopy(H5T_C_S1));
      H5Tset_size(text.get(), H5T_VARIABLE);
      return text;
    }
    case 6: {
      hdf5::Datatype text(H5Tcopy(H5T_C_S1));
      H5Tset_size(text.get(), 1 + steering.byte());
      H5Tset_strpad(text.get(), steering.byte() % 2 == 0 ? H5T_STR_SPACEPAD : H5T_STR_NULLPAD);
      return text;
    }
    case 7: return hdf5::Datatype(H5Tvlen_create(H5T_NATIVE_INT32));
    case 8: return hdf5::Datatype(H5Tcreate(H5T_OPAQUE, 1 + steering.byte()));
    case 9: {
      hdf5::Datatype both(H5Tcreate(H5T_COMPOUND, 16));
      H5Tinsert(both.get(), "r", 0, H5T_NATIVE_DOUBLE);
      H5Tinsert(both.get(), "i", 8, H5T_NATIVE_DOUBLE);
      return both;
    }
    case 10: {
      hdf5::Datatype choice(H5Tenum_create(H5T_NATIVE_UINT8));
      const std::uint8_t value = 1;
      H5Tenum_insert(choice.get(), "TRUE", &value);
      return choice;
    }
    case 11: {
      const hsize_t size = 1 + steering.byte();
      return hdf5::Datatype(H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &size));
    }
    case 12: return hdf5::Datatype(H5Tcopy(H5T_STD_REF_OBJ));
    case 13: {
      hdf5::Datatype odd(H5Tcopy(H5T_NATIVE_UINT32));
      H5Tset_precision(odd.get(), 1 + steering.byte() % 32);
      return odd;
    }
    default: return hdf5::Datatype(H5Tcopy(steering.byte() % 2 == 0 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64));
  }
}

hdf5::Dataspace a_space(Steering& steering) {
  const std::uint8_t how = steering.byte();
  if (how < 16) return hdf5::Dataspace(H5Screate(H5S_NULL));
  if (how < 96) return hdf5::Dataspace(H5Screate(H5S_SCALAR));
  std::array<hsize_t, 3> sizes{64, 1, 1};
  const int count = how < 200 ? 1 : 1 + how % 3;
  for (int i = 0; i < count; ++i) {
    const std::uint8_t size = steering.byte();
    sizes[static_cast<std::size_t>(i)] = size < 248 ? size : hsize_t{1} << (20 + 5 * (size - 248));
  }
  return hdf5::Dataspace(H5Screate_simple(count, sizes.data(), nullptr));
}

// What fits a scalar or a short column of any fixed-size type.
std::array<char, 1 << 16> some_bytes(Steering& steering) {
  std::array<char, 1 << 16> bytes{};
  for (std::size_t i = 0; i < bytes.size() && !steering.done() && i < 64; i += 8) {
    steering.element(ElementType::f64, bytes.data() + i);
  }
  return bytes;
}

// Texts and sequences are pointers in memory, which no fuzzer can choose.
bool is_plain(const hdf5::Datatype& type) {
  return H5Tdetect_class(type.get(), H5T_VLEN) <= 0 && H5Tis_variable_str(type.get()) <= 0 &&
         H5Tget_class(type.get()) != H5T_REFERENCE;
}

void replace_attribute(hid_t target, Steering& steering) {
  constexpr std::array names{
      "segments",         "ranks",
      "schema_version",   "command",
      "disagreement",     "reduced_features",
      "run_time_seconds", "a name that is longer than any that a profile has for its attributes"};
  const char* name = names[steering.below(names.size())];
  H5Adelete(target, name);
  const hdf5::Datatype type = a_type(steering);
  const hdf5::Dataspace space = a_space(steering);
  const hdf5::Attribute attribute(H5Acreate2(target, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
  const auto bytes = some_bytes(steering);
  const hssize_t points = H5Sget_simple_extent_npoints(space.get());
  if (!attribute || points <= 0 || static_cast<std::size_t>(points) * H5Tget_size(type.get()) > bytes.size()) return;
  if (is_plain(type)) {
    H5Awrite(attribute.get(), type.get(), bytes.data());
  } else if (points == 1 && H5Tis_variable_str(type.get()) > 0) {
    const std::string text = steering.text();
    const char* pointer = text.c_str();
    H5Awrite(attribute.get(), type.get(), static_cast<const void*>(&pointer));
  }
}

void replace_column(hid_t target, Steering& steering) {
  const std::vector<Variable>& variables = schema_variables();
  const char* name = variables[steering.below(variables.size())].column.name.c_str();
  H5Ldelete(target, name, H5P_DEFAULT);
  const std::uint8_t how = steering.byte();
  if (how < 16) return;
  if (how < 24) {
    H5Gclose(H5Gcreate2(target, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return;
  }
  if (how < 32) {
    H5Lcreate_soft(how % 2 == 0 ? name : "/duration", target, name, H5P_DEFAULT, H5P_DEFAULT);
    return;
  }
  if (how < 40) {
    H5Lcreate_external("/dev/zero", "/duration", target, name, H5P_DEFAULT, H5P_DEFAULT);
    return;
  }
  const hdf5::Datatype type = a_type(steering);
  const hdf5::Dataspace space = a_space(steering);
  const hdf5::PropertyList storage(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk = 1 + steering.byte();
  switch (steering.byte() % 8) {
    case 0: H5Pset_layout(storage.get(), H5D_COMPACT); break;
    case 1: H5Pset_external(storage.get(), "/dev/zero", 0, H5F_UNLIMITED); break;
    case 2: H5Pset_chunk(storage.get(), 1, &chunk); break;
    case 3:
      H5Pset_chunk(storage.get(), 1, &chunk);
      H5Pset_fletcher32(storage.get());
      H5Pset_deflate(storage.get(), 9);
      break;
    case 4: H5Pset_virtual(storage.get(), space.get(), "/dev/zero", "/duration", space.get()); break;
    default: break;
  }
  const hdf5::Dataset dataset(
      H5Dcreate2(target, name, type.get(), space.get(), H5P_DEFAULT, storage.get(), H5P_DEFAULT));
  const hssize_t points = H5Sget_simple_extent_npoints(space.get());
  const auto bytes = some_bytes(steering);
  if (!dataset || points <= 0 || static_cast<std::size_t>(points) > bytes.size() / H5Tget_size(type.get())) return;
  if (is_plain(type) && H5Pget_external_count(storage.get()) == 0) {
    H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  }
}

// Copied as a file of its own each time: HDF5 caches what it has open.
void write_base(const std::string& path) {
  std::ofstream(path, std::ios::binary).write(base_bytes().data(), static_cast<std::streamsize>(base_bytes().size()));
}

void read_in_this_process(Steering& steering) {
  const std::string path = fuzz::scratch() + "/run.h5";
  write_base(path);
  {
    const hdf5::File target(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    while (!steering.done()) {
      if (steering.byte() % 4 == 0) {
        replace_attribute(target.get(), steering);
      } else {
        replace_column(target.get(), steering);
      }
    }
  }
  const std::uint64_t most_bytes = most_unpacked_bytes(base_bytes().size());
  const fuzz::MemoryFile frames;
  send_contents(path, most_bytes, frames.descriptor());
  unlink(path.c_str());
  frames.rewind();
  Outcome<Contents> contents = receive_contents(frames.descriptor(), most_bytes, path);
  promise_told(contents ? check_profile(std::move(*contents), path) : contents.failure());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  base_bytes();
  Steering steering(data, size);
  const std::uint8_t kind = steering.byte();
  if (kind >= 128) {
    read_in_this_process(steering);
    return 0;
  }
  const fuzz::MemoryFile file(kind < 16 ? std::string(steering.rest()) : damaged_base(steering));
  promise_told(read_profile(file.path()));
  return 0;
}
