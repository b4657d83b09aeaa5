#include "cli/launch/mpi_family.hpp"

#include <fcntl.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "cli/launch/job.hpp"
#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/system/loader_name.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/in_order.hpp"
#include "libprofile/system/launcher.hpp"
#include "libprofile/system/own_executable.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// Relative to the command, so that an installation can be moved: where it is installed, or in the build tree. The
// loader divides LD_PRELOAD at blanks and colons, puts something else in the place of some names behind a $, and knows
// no quotes.
bool can_be_preloaded(const std::string& path) {
  constexpr std::array<std::string_view, 6> special{" ", ":", "$ORIGIN", "$LIB", "$PLATFORM", "${"};
  return std::none_of(special.begin(), special.end(),
                      [&path](std::string_view part) { return path.find(part) != std::string::npos; });
}

Outcome<std::string> library(const std::string& name) {
  std::error_code error;
  const fs::path bin = fs::weakly_canonical(own_executable(), error).parent_path();
  const fs::path installed = (bin / HALCYON_PRELOADDIR_FROM_BINDIR).lexically_normal();
  for (const fs::path& directory : {installed, (bin / "../lib").lexically_normal()}) {
    if (!fs::exists(directory / name, error)) continue;
    const std::string path = (directory / name).string();
    if (can_be_preloaded(path)) return path;
    return Failure{"cannot preload " + path +
                   ": the loader takes a path with a blank or a colon for several, and changes one with $LIB or its "
                   "like. Install Halcyon in another place"};
  }
  return Failure{"cannot find " + name + " in " + installed.string() + ": is the installation complete?"};
}

static_assert(in_order(mpi_families, &MpiFamilyInfo::family));

bool is_recorder(const std::string& library) {
  const std::string name = fs::path(library).filename().string();
  return std::any_of(mpi_families.begin(), mpi_families.end(), [&name](const MpiFamilyInfo& family) {
    return name == "libhalcyon" + std::string(family.suffix) + ".so";
  });
}

// The runtime of a sanitizer of GCC or Clang, as a shared library.
bool is_sanitizer(const std::string& library) {
  const std::string name = fs::path(library).filename().string();
  const std::string stem = name.substr(0, name.find(".so"));
  if (stem.size() == name.size()) return false;
  constexpr std::array runtimes{"asan", "hwasan", "lsan", "tsan"};
  return std::any_of(runtimes.begin(), runtimes.end(), [&stem](const std::string& runtime) {
    return stem == "lib" + runtime || stem.starts_with("libclang_rt." + runtime);
  });
}

// glibc itself; libc-2.31.so before 2.34.
bool is_libc(std::string_view name) {
  return name == "libc.so.6" || (name.starts_with("libc-") && name.ends_with(".so"));
}

class ElfFile {
 public:
  explicit ElfFile(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        elf_(
            file_ && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(file_.number(), ELF_C_READ_MMAP, nullptr) : nullptr,
            elf_end) {}

  bool is_elf() const { return elf_ != nullptr && elf_kind(elf_.get()) == ELF_K_ELF; }

  /// The dynamic loader that the kernel starts for the file; empty without one.
  std::string loader() const {
    std::size_t count = 0;
    std::size_t size = 0;
    GElf_Phdr header;
    const char* const content = elf_rawfile(elf_.get(), &size);
    if (content == nullptr || elf_getphdrnum(elf_.get(), &count) != 0) return {};
    for (std::size_t i = 0; i < count; ++i) {
      const bool names_it = gelf_getphdr(elf_.get(), static_cast<int>(i), &header) != nullptr &&
                            header.p_type == PT_INTERP && header.p_offset < size &&
                            header.p_filesz <= size - header.p_offset;
      if (names_it) return {content + header.p_offset, strnlen(content + header.p_offset, header.p_filesz)};
    }
    return {};
  }

  /// The names of the libraries that the file is linked with, in their order.
  Words needed_libraries() const {
    Words names;
    GElf_Shdr header;
    Elf_Data* const data = section(SHT_DYNAMIC, header);
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      const char* const name =
          entry.d_tag == DT_NEEDED ? elf_strptr(elf_.get(), header.sh_link, entry.d_un.d_val) : nullptr;
      if (name != nullptr) names.emplace_back(name);
    }
    return names;
  }

  /// The versions that a library defines, such as GLIBC_2.17.
  Words defined_versions() const {
    Words names;
    GElf_Shdr header;
    Elf_Data* const data = section(SHT_GNU_verdef, header);
    GElf_Verdef version;
    GElf_Verdaux name;
    for (int at = 0; gelf_getverdef(data, at, &version) != nullptr; at += static_cast<int>(version.vd_next)) {
      if (gelf_getverdaux(data, at + static_cast<int>(version.vd_aux), &name) != nullptr) {
        names.push_back(text_of(header, name.vda_name));
      }
      if (version.vd_next == 0) break;
    }
    return names;
  }

  /// The versions that the file needs of libc.
  Words needed_versions_of_libc() const {
    Words names;
    GElf_Shdr header;
    Elf_Data* const data = section(SHT_GNU_verneed, header);
    GElf_Verneed library;
    GElf_Vernaux version;
    for (int at = 0; gelf_getverneed(data, at, &library) != nullptr; at += static_cast<int>(library.vn_next)) {
      int of_version = at + static_cast<int>(library.vn_aux);
      int left = text_of(header, library.vn_file).starts_with("libc.so.") ? library.vn_cnt : 0;
      for (; left > 0 && gelf_getvernaux(data, of_version, &version) != nullptr; --left) {
        names.push_back(text_of(header, version.vna_name));
        of_version += static_cast<int>(version.vna_next);
      }
      if (library.vn_next == 0) break;
    }
    return names;
  }

  /// The names of the dynamic symbols that the file defines, or of those that it needs. They live as long as the file.
  std::unordered_set<std::string_view> dynamic_symbols(bool defined) const {
    std::unordered_set<std::string_view> names;
    GElf_Shdr header;
    Elf_Data* const data = section(SHT_DYNSYM, header);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* const name = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
      if (name != nullptr && (symbol.st_shndx != SHN_UNDEF) == defined) names.insert(name);
    }
    return names;
  }

 private:
  // The data of the section of this type, which a file has once, and its header; null if it has none.
  Elf_Data* section(GElf_Word type, GElf_Shdr& header) const {
    for (Elf_Scn* section = elf_nextscn(elf_.get(), nullptr); section != nullptr;
         section = elf_nextscn(elf_.get(), section)) {
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) return elf_getdata(section, nullptr);
    }
    return nullptr;
  }

  std::string text_of(const GElf_Shdr& header, std::size_t name) const {
    const char* const text = elf_strptr(elf_.get(), header.sh_link, name);
    return text != nullptr ? text : "";
  }

  Descriptor file_;
  std::unique_ptr<Elf, decltype(&elf_end)> elf_;
};

std::optional<MpiLibrary> known(const std::string& path) {
  const std::optional<MpiFamily> family = family_of_library(path);
  return family ? std::optional(MpiLibrary{.path = path, .family = *family}) : std::nullopt;
}

// The libraries in what the loader prints, line by line: `libmpi.so.40 => /usr/lib/libmpi.so.40 (0x…)`, or `… => not
// found`. Each library once.
LinkedLibraries libraries_in(const std::string& text) {
  LinkedLibraries found;
  std::string libc;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Words words = split_at_blanks(line);
    if (line.ends_with("=> not found")) found.missing.push_back(words.front());
    for (const std::string& word : words) {
      const std::string name = fs::path(word).filename().string();
      if (word.find('/') != std::string::npos && is_libc(name)) libc = word;
      if (word.find('/') == std::string::npos || !is_mpi_library(name)) continue;
      const bool is_new = std::none_of(found.mpi.begin(), found.mpi.end(), [&](auto& one) { return one.path == word; });
      if (std::optional<MpiLibrary> library = known(word); library && is_new) found.mpi.push_back(*library);
    }
  }
  for (MpiLibrary& library : found.mpi) library.libc = libc;
  return found;
}

// A user's program may be called python_job. It must not be started.
bool is_python(std::string_view name) {
  constexpr std::string_view begin = "python";
  return name.starts_with(begin) && name.find_first_not_of("0123456789.", begin.size()) == std::string_view::npos;
}

// mpi4py chooses and opens its library when it is imported. MPI is not initialized.
LinkedLibraries mpi_of_python(const std::string& interpreter, const Environment& environment) {
  constexpr const char* script =  // the loader knows what is open, also where there is no /proc
      "import ctypes, mpi4py\n"
      "mpi4py.rc.initialize = False\n"
      "from mpi4py import MPI\n"
      "class Library(ctypes.Structure): _fields_ = [('address', ctypes.c_void_p), ('name', ctypes.c_char_p)]\n"
      "@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Library), ctypes.c_size_t, ctypes.c_void_p)\n"
      "def show(library, size, _): return print(library.contents.name.decode()) or 0\n"
      "ctypes.CDLL(None).dl_iterate_phdr(show, None)\n";
  return libraries_in(output_of({interpreter, "-c", script}, environment));
}

// As ldd does it, which is a script of bash that a container may not have.
LinkedLibraries shown_by_loader(const std::string& program, Environment environment) {
  const ElfFile file(program);
  const std::string loader = file.is_elf() ? file.loader() : "";
  if (loader.empty() || is_other_loader(loader)) return {};  // another one would start the program
  environment.emplace_back("LD_TRACE_LOADED_OBJECTS", "1");
  return libraries_in(output_of({loader, fs::absolute(program).string()}, environment));
}

}  // namespace

std::optional<MpiFamily> family_of_library(const std::string& path) {
  const ElfFile file(path);
  if (!file.is_elf()) return std::nullopt;
  const std::unordered_set<std::string_view> exported = file.dynamic_symbols(/*defined=*/true);
  return family_of_mpi(fs::path(path).filename().string(),
                       [&exported](std::string_view symbol) { return exported.count(symbol) != 0; });
}

ProgramKind kind_of_program(const std::string& program) {
  if (is_python(fs::path(program).filename().string())) return ProgramKind::python;
  const ElfFile file(program);
  if (!file.is_elf()) return ProgramKind::script;
  const std::string loader = file.loader();
  if (loader.empty()) return ProgramKind::without_loader;
  if (is_other_loader(loader)) return ProgramKind::other_loader;
  const std::unordered_set<std::string_view> needed = file.dynamic_symbols(/*defined=*/false);
  constexpr std::array openers{"dlopen",   "dlmopen",     "execl",        "execle",  "execlp",
                               "execv",    "execve",      "execvp",       "execvpe", "fexecve",
                               "execveat", "posix_spawn", "posix_spawnp", "system",  "popen"};
  const bool opens =
      std::any_of(openers.begin(), openers.end(), [&needed](const char* name) { return needed.count(name) != 0; });
  return opens ? ProgramKind::opener : ProgramKind::plain;
}

std::string why_not_into(const std::string& program) {
  const std::optional<std::string> path = found_program(program);
  if (!path || kind_of_program(*path) != ProgramKind::other_loader) return {};
  return *path + " is not of glibc (its loader is " + ElfFile(*path).loader() +
         "), and would end if the recorder were preloaded into it";
}

LinkedLibraries linked_libraries(const std::string& program, const std::string& library_path) {
  const std::optional<std::string> path = found_program(program);
  if (!path) return {};
  Environment environment;
  if (!library_path.empty()) environment.emplace_back("LD_LIBRARY_PATH", library_path);
  return is_python(fs::path(*path).filename().string()) ? mpi_of_python(*path, environment)
                                                        : shown_by_loader(*path, std::move(environment));
}

std::optional<MpiLibrary> mpi_of_program(const std::string& program, const std::string& library_path) {
  const LinkedLibraries linked = linked_libraries(program, library_path);
  return linked.mpi.empty() ? std::nullopt : std::optional(linked.mpi.front());
}

std::optional<MpiLibrary> mpi_beside(const std::string& launcher) {
  std::error_code error;
  const fs::path directory = fs::canonical(found_program(launcher).value_or(launcher), error).parent_path();
  for (const char* name : {"../lib/libmpi.so", "../lib64/libmpi.so"}) {
    if (std::optional<MpiLibrary> library = known((directory / name).lexically_normal().string())) return library;
  }
  return std::nullopt;
}

MpiFamily family_of_rank(const std::optional<MpiLibrary>& library) {
  if (library) return library->family;
  if (launcher::is_open_mpi()) return MpiFamily::open_mpi;
  // MPICH and Open MPI were both seen with PMI and with PMIx. Without a recorder for MPICH here, it is hardly MPICH.
  return launcher::has_pmi_alone() && preload_list(MpiFamily::mpich, false) ? MpiFamily::mpich : MpiFamily::open_mpi;
}

std::string sanitizer_of_program(const std::string& program) {
  const ElfFile file(found_program(program).value_or(program));
  const Words libraries = file.is_elf() ? file.needed_libraries() : Words();
  const auto sanitizer = std::find_if(libraries.begin(), libraries.end(), is_sanitizer);
  return sanitizer != libraries.end() ? *sanitizer : "";
}

Outcome<std::string> preload_list(MpiFamily family, bool injects) {
  const std::string ending = std::string(info_of(family).suffix) + ".so";
  Outcome<std::string> recorder = library("libhalcyon" + ending);
  if (!recorder || !injects) return recorder;
  const Outcome<std::string> injector = library("libintm" + ending);
  if (!injector) return injector;
  // The injector behind the recorder: its delays lie inside what is measured.
  return *recorder + ":" + *injector;
}

std::string why_not_beside(const std::string& libraries, const std::string& libc) {
  const ElfFile file(libc);
  const Words has = file.is_elf() ? file.defined_versions() : Words();
  if (has.empty()) return {};
  std::istringstream paths(libraries);
  for (std::string path; std::getline(paths, path, ':');) {
    const ElfFile library(path);
    if (!library.is_elf()) continue;
    for (const std::string& version : library.needed_versions_of_libc()) {
      if (version.starts_with("GLIBC_") && std::find(has.begin(), has.end(), version) == has.end()) {
        return fs::path(path).filename().string() + " needs " + version + ", which the program's " + libc + " lacks";
      }
    }
  }
  return {};
}

Outcome<std::string> fitting_preload_list(MpiFamily family, bool injects, const std::optional<MpiLibrary>& library) {
  Outcome<std::string> list = preload_list(family, injects);
  const std::string obstacle = list && library ? why_not_beside(*list, library->libc) : "";
  if (!obstacle.empty()) return Failure{obstacle + ": record it with the portable release"};
  return list;
}

std::string outer_preload() {
  const char* outer = std::getenv("LD_PRELOAD");
  return outer != nullptr ? outer : "";
}

std::string joined_preload(const std::string& ours, const std::string& theirs) {
  std::string first;
  std::string last;
  for (std::size_t at = 0; at < theirs.size();) {
    const std::size_t end = std::min(theirs.find_first_of(": ", at), theirs.size());
    const std::string library = theirs.substr(at, end - at);
    if (is_sanitizer(library)) {
      first += library + ":";
    } else if (!library.empty() && (ours.empty() || !is_recorder(library))) {
      last += ":" + library;
    }
    at = end + 1;
  }
  std::string all = first + ours + last;
  while (all.ends_with(':')) all.pop_back();
  return all.substr(std::min(all.find_first_not_of(':'), all.size()));
}

}  // namespace halcyon::cli
