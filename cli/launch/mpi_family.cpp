#include "cli/launch/mpi_family.hpp"

#include <cstdlib>
#include <filesystem>

#include "cli/launch/job.hpp"
#include "cli/launch/program.hpp"

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

}  // namespace

std::optional<MpiFamily> family_of_program(const std::string& program) {
  const std::optional<std::string> path = found_program(program);
  if (!path) return std::nullopt;
  const std::string libraries = output_of({"ldd", *path});
  const auto names = [&libraries](const char* library) { return libraries.find(library) != std::string::npos; };
  // Debian renames MPICH's libmpi.so.12.
  if (names("libmpich.so") || names("libmpi.so.12")) return MpiFamily::mpich;
  return names("libmpi.so") ? std::optional(MpiFamily::open_mpi) : std::nullopt;
}

MpiFamily family_of_rank(const std::string& program) {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (is_set("OMPI_COMM_WORLD_RANK")) return MpiFamily::open_mpi;
  if (const std::optional<MpiFamily> family = family_of_program(program)) return *family;
  // Either family has been seen with either interface; where there is nothing for MPICH it is hardly MPICH.
  const bool is_pmi_alone = is_set("PMI_RANK") && !is_set("PMIX_RANK");
  return is_pmi_alone && preload_list(MpiFamily::mpich, false) ? MpiFamily::mpich : MpiFamily::open_mpi;
}

Outcome<std::string> preload_list(MpiFamily family, bool injects) {
  const std::string ending = family == MpiFamily::mpich ? "-mpich.so" : ".so";
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
