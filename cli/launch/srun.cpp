#include "cli/launch/srun.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "cli/launch/job.hpp"

namespace halcyon::cli {
namespace {

// Options whose value is never the next word; all others have theirs there, or behind '='.
constexpr std::string_view srun_flags = "EHIKOQVXZhklsuv";
constexpr std::string_view srun_long_flags =
    " bcast compress contiguous disable-status exact exclusive external help hold immediate interactive "
    "kill-on-bad-exit kill-on-invalid-dep label multi-prog nice no-allocate no-kill no-shell overcommit "
    "overlap oversubscribe preserve-env propagate pty quiet quit-on-interrupt reboot resv-ports send-libs "
    "share spread-job stepmgr test-only unbuffered usage use-min-nodes verbose version x11 ";

bool has_value_behind(const std::string& option) {
  if (option.starts_with("--")) {
    return option.find('=') == std::string::npos &&
           srun_long_flags.find(" " + option.substr(2) + " ") == std::string_view::npos;
  }
  // A row of letters, of which the first that is no flag has what follows for its value, if anything does.
  const std::size_t at = option.find_first_not_of(srun_flags, 1);
  return at != std::string::npos && at + 1 == option.size() &&
         std::isdigit(static_cast<unsigned char>(option[at])) == 0;
}

// One program of a srun command: [options] program [arguments].
struct SrunPart {
  Words options;  // as they stand, but for --export
  std::optional<std::string> exported;
  Words program;
  std::string mpi;       // of --mpi
  bool is_list = false;  // the program is a --multi-prog file
};

std::vector<SrunPart> parts_of_srun(const Words& launch) {
  std::vector<SrunPart> parts;
  for (auto at = launch.begin() + 1;; ++at) {
    const auto end = std::find(at, launch.end(), ":");
    SrunPart part;
    for (; at != end && at->size() > 1 && at->front() == '-'; ++at) {
      Words option{*at};
      if (option.front() == "--") {
        part.options.push_back(*at++);
        break;
      }
      if (has_value_behind(*at) && at + 1 != end) option.push_back(*++at);
      const auto value_of = [&option](const std::string& name) -> std::optional<std::string> {
        if (option.front() == name) return option.back();
        if (option.front().starts_with(name + "=")) return option.front().substr(name.size() + 1);
        return std::nullopt;
      };
      if (const auto mpi = value_of("--mpi")) part.mpi = *mpi;
      if (option.front() == "--multi-prog") part.is_list = true;
      if (const auto exported = value_of("--export")) {
        part.exported = exported;
      } else {
        part.options.insert(part.options.end(), option.begin(), option.end());
      }
    }
    part.program.assign(at, end);
    parts.push_back(part);
    if (end == launch.end()) return parts;
    at = end;
  }
}

// The interface that srun gives the ranks where neither its command nor its environment says which.
std::string default_mpi_of_slurm() {
  std::istringstream configuration(output_of({"scontrol", "show", "config"}));
  for (std::string line; std::getline(configuration, line);) {
    const Words words = split_at_blanks(line);
    if (words.size() == 3 && words[0] == "MpiDefault") return words[2];
  }
  return {};
}

}  // namespace

Words with_export_lists(const Words& launch, const std::string& preload, const Environment& environment) {
  const char* general = std::getenv("SLURM_EXPORT_ENV");  // as of sbatch --export
  // A single SIGINT reaches the ranks then, in place of having their states printed.
  Words result{launch.front(), "--disable-status"};
  for (const SrunPart& part : parts_of_srun(launch)) {
    if (result.size() > 2) result.push_back(":");
    std::string theirs;
    std::string list;
    bool has_all = false;
    bool has_outer = false;  // preload, of srun's own environment
    const auto add = [&list](const std::string& entry) { list += (list.empty() ? "" : ",") + entry; };
    std::istringstream entries(part.exported.value_or(general != nullptr ? general : "ALL"));
    for (std::string entry; std::getline(entries, entry, ',');) {
      const bool is_preload = entry == "LD_PRELOAD" || entry.starts_with("LD_PRELOAD=");
      if (entry.starts_with("LD_PRELOAD=")) theirs = entry.substr(std::strlen("LD_PRELOAD="));
      has_all = has_all || entry == "ALL";
      has_outer = has_outer || has_all || is_preload;
      if (!is_preload && entry != "NONE") add(entry);  // NONE is for a list of nothing else
    }
    if (has_outer && !outer_preload().empty()) theirs = outer_preload();
    const std::string all = joined_preload(preload, theirs);
    if (!all.empty()) add("LD_PRELOAD=" + all);
    if (!has_all) {
      for (const auto& [name, value] : environment) add(name);
    }
    result.push_back("--export=" + list);
    result.insert(result.end(), part.options.begin(), part.options.end());
    result.insert(result.end(), part.program.begin(), part.program.end());
  }
  return result;
}

bool is_srun(const Words& launch) { return std::filesystem::path(launch.front()).filename() == "srun"; }

std::vector<Words> programs_of_srun(const Words& launch) {
  std::vector<Words> programs;
  for (const SrunPart& part : parts_of_srun(launch)) {
    if (!part.is_list) {
      programs.push_back(part.program);
    } else if (!part.program.empty()) {
      for (const Words& line : lines_of(part.program.front())) {
        programs.emplace_back(line.begin() + 1, line.end());  // behind the ranks' numbers
      }
    }
  }
  return programs;
}

std::optional<std::string> multi_prog_file(const Words& launch) {
  for (const SrunPart& part : parts_of_srun(launch)) {
    if (part.is_list && !part.program.empty()) return part.program.front();
  }
  return std::nullopt;
}

MpiFamily family_of_srun(const Words& launch) {
  const char* chosen = std::getenv("SLURM_MPI_TYPE");
  std::string mpi = chosen != nullptr ? chosen : "";
  for (const SrunPart& part : parts_of_srun(launch)) {
    if (!part.mpi.empty()) mpi = part.mpi;
  }
  if (mpi.empty()) mpi = default_mpi_of_slurm();
  return mpi.starts_with("pmi2") ? MpiFamily::mpich : MpiFamily::open_mpi;
}

}  // namespace halcyon::cli
