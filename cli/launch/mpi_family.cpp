#include "cli/launch/mpi_family.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "cli/launch/job.hpp"
#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/in_order.hpp"
#include "libprofile/system/launcher.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// Relative to the command, so that an installation can be moved: where it is installed, or in the build tree.
Outcome<std::string> library(const std::string& name) {
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = (bin / HALCYON_PRELOADDIR_FROM_BINDIR).lexically_normal();
  for (const fs::path& directory : {installed, (bin / "../lib").lexically_normal()}) {
    if (fs::exists(directory / name, error)) return (directory / name).string();
  }
  return Failure{"cannot find " + name + " in " + installed.string() + ": is the installation complete?"};
}

static_assert(in_order(mpi_families, &MpiFamilyInfo::family));

class ElfFile {
 public:
  explicit ElfFile(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        elf_(
            file_ && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(file_.number(), ELF_C_READ_MMAP, nullptr) : nullptr,
            elf_end) {}

  bool is_elf() const { return elf_ != nullptr && elf_kind(elf_.get()) == ELF_K_ELF; }

  bool has_segment(std::uint32_t type) const {
    std::size_t count = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(elf_.get(), &count) != 0) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) != nullptr && header.p_type == type) return true;
    }
    return false;
  }

  /// Calls `visit(name)` for every dynamic symbol that the file defines.
  template <class Visit>
  void for_each_exported(Visit visit) const {
    for (Elf_Scn* section = elf_nextscn(elf_.get(), nullptr); section != nullptr;
         section = elf_nextscn(elf_.get(), section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM || header.sh_entsize == 0) continue;
      Elf_Data* const data = elf_getdata(section, nullptr);
      GElf_Sym symbol;
      for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
        const char* const name = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
        if (name != nullptr && symbol.st_shndx != SHN_UNDEF) visit(std::string_view(name));
      }
    }
  }

 private:
  Descriptor file_;
  std::unique_ptr<Elf, decltype(&elf_end)> elf_;
};

std::optional<MpiLibrary> known(const std::string& path) {
  const std::optional<MpiFamily> family = family_of_library(path);
  return family ? std::optional(MpiLibrary{path, *family}) : std::nullopt;
}

// The first MPI library among words of a text, each the path of a file.
std::optional<MpiLibrary> first_library_in(const std::string& text) {
  for (const std::string& word : split_at_blanks(text)) {
    if (word.find('/') == std::string::npos || !is_mpi_library(fs::path(word).filename().string())) continue;
    if (std::optional<MpiLibrary> library = known(word)) return library;
  }
  return std::nullopt;
}

// A user's program may be called python_job. It must not be started.
bool is_python(const std::string& name) { return RE2::FullMatch(name, "python[0-9.]*"); }

// mpi4py chooses and opens its library when it is imported. MPI is not initialized.
std::optional<MpiLibrary> mpi_of_python(const std::string& interpreter) {
  constexpr const char* script =
      "import mpi4py\n"
      "mpi4py.rc.initialize = False\n"
      "from mpi4py import MPI\n"
      "print(*(line.split()[-1] for line in open('/proc/self/maps') if 'libmpi' in line))\n";
  return first_library_in(output_of({interpreter, "-c", script}));
}

}  // namespace

std::optional<MpiFamily> family_of_library(const std::string& path) {
  const ElfFile file(path);
  if (!file.is_elf()) return std::nullopt;
  std::unordered_set<std::string_view> exported;
  file.for_each_exported([&exported](std::string_view name) { exported.insert(name); });
  return family_of_mpi(fs::path(path).filename().string(),
                       [&exported](std::string_view symbol) { return exported.count(symbol) != 0; });
}

bool is_static(const std::string& program) {
  const ElfFile file(program);
  return file.is_elf() && !file.has_segment(PT_INTERP);
}

std::optional<MpiLibrary> mpi_of_program(const std::string& program) {
  const std::optional<std::string> path = found_program(program);
  if (!path) return std::nullopt;
  if (is_python(fs::path(*path).filename().string())) return mpi_of_python(*path);
  return first_library_in(output_of({"ldd", *path}));
}

std::optional<MpiLibrary> mpi_of_command(const Words& words) {
  for (const std::string& word : words) {
    if (std::optional<MpiLibrary> library = mpi_of_program(word)) return library;
  }
  return std::nullopt;
}

std::optional<MpiLibrary> mpi_beside(const std::string& launcher) {
  std::error_code error;
  const fs::path directory = fs::canonical(found_program(launcher).value_or(launcher), error).parent_path();
  for (const char* name : {"../lib/libmpi.so", "../lib64/libmpi.so"}) {
    if (std::optional<MpiLibrary> library = known((directory / name).lexically_normal().string())) return library;
  }
  return std::nullopt;
}

MpiFamily family_of_rank(const std::string& program) {
  if (const std::optional<MpiLibrary> library = mpi_of_program(program)) return library->family;
  if (launcher::is_open_mpi()) return MpiFamily::open_mpi;
  // MPICH and Open MPI were both seen with PMI and with PMIx. Without a recorder for MPICH here, it is hardly MPICH.
  return launcher::has_pmi_alone() && preload_list(MpiFamily::mpich, false) ? MpiFamily::mpich : MpiFamily::open_mpi;
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

std::string outer_preload() {
  const char* outer = std::getenv("LD_PRELOAD");
  return outer != nullptr ? outer : "";
}

std::string joined_preload(const std::string& ours, const std::string& theirs) {
  return theirs.empty() ? ours : ours + ":" + theirs;
}

}  // namespace halcyon::cli
