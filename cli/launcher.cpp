#include "cli/launcher.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string outer_preload() {
  const char* outer = std::getenv("LD_PRELOAD");
  return outer != nullptr ? outer : "";
}

Words split_at_blanks(const std::string& line) {
  Words words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The words of each line that a launcher would read: neither blank nor a comment.
std::vector<Words> lines_of(const std::string& file) {
  std::vector<Words> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (Words words = split_at_blanks(line.substr(0, line.find('#'))); !words.empty()) lines.push_back(words);
  }
  return lines;
}

// -- Open MPI

// `--app FILE`, programs in a file a line, is all that Open MPI takes its programs from: no -x beside it reaches them.
// So they go into the command line, split as Open MPI splits them, at blanks.
Words with_app_file(const Words& launch) {
  const auto option = std::find_if(launch.begin(), launch.end(),
                                   [](const std::string& word) { return word == "--app" || word == "-app"; });
  if (launch.end() - option < 2) return launch;
  Words result;
  for (auto at = launch.begin(); at != launch.end(); ++at) {
    if (at == option || (*at == "-x" && at + 1 != launch.end())) {
      ++at;
      continue;
    }
    // Behind a program it is the program's own option. The value of an option of mpirun may be named like a command.
    const bool may_be_value = at != launch.begin() && (at - 1)->starts_with("-") && at->find('/') == std::string::npos;
    if (at != launch.begin() && !may_be_value && found_program(*at)) return launch;
    result.push_back(*at);
  }
  const std::vector<Words> programs = lines_of(*(option + 1));
  if (programs.empty()) return launch;  // mpirun says what is wrong with it
  for (const Words& program : programs) {
    if (&program != &programs.front()) result.push_back(":");
    result.insert(result.end(), program.begin(), program.end());
  }
  return result;
}

// mpirun -x … [user's arguments] : -x … [the next program's arguments]. Each program of an MPMD job has its own -x
// list.
Words with_exports(const Words& launch, const std::string& preload, const Environment& environment) {
  Words result;
  for (auto at = launch.begin(); at != launch.end();) {
    const auto end = std::find(at, launch.end(), ":");
    if (at == launch.begin()) result.push_back(*at++);  // mpirun itself
    std::string theirs = outer_preload();
    Words rest;
    for (; at != end; ++at) {
      // The user's own preload of this program, which a second -x would replace.
      if (*at == "-x" && at + 1 != end && (at + 1)->rfind("LD_PRELOAD=", 0) == 0) {
        theirs = (++at)->substr(11);
        continue;
      }
      if (*at == "-x" && at + 1 != end && *(at + 1) == "LD_PRELOAD") {  // the one of this environment
        ++at;
        continue;
      }
      rest.push_back(*at);
    }
    result.insert(result.end(), {"-x", "LD_PRELOAD=" + joined_preload(preload, theirs)});
    for (const auto& [name, value] : environment) result.insert(result.end(), {"-x", name});
    result.insert(result.end(), rest.begin(), rest.end());
    if (end == launch.end()) break;
    result.push_back(":");
    at = end + 1;
  }
  return result;
}

// -- Hydra, MPICH's

// mpirun -genv … [user's arguments]. Its -genv is for all programs of the job; an -env is for one of them, and goes
// before it.
Words with_global_environment(const Words& launch, const std::string& preload, const Environment& environment) {
  std::string for_all = outer_preload();
  Words rest;
  for (std::size_t i = 1; i < launch.size(); ++i) {
    const std::string name = launch[i].substr(launch[i].starts_with("--") ? 1 : 0);
    const bool sets = (name == "-genv" || name == "-env") && i + 1 < launch.size();
    // Hydra takes NAME=VALUE as well as NAME VALUE.
    const bool is_one_word = sets && launch[i + 1].starts_with("LD_PRELOAD=");
    const bool is_two_words = sets && launch[i + 1] == "LD_PRELOAD" && i + 2 < launch.size();
    if (!is_one_word && !is_two_words) {
      rest.push_back(launch[i]);
      continue;
    }
    const std::string theirs = is_one_word ? launch[i + 1].substr(std::strlen("LD_PRELOAD=")) : launch[i + 2];
    if (name == "-genv") {
      for_all = theirs;
    } else {
      rest.insert(rest.end(), {launch[i], "LD_PRELOAD", joined_preload(preload, theirs)});
    }
    i += is_one_word ? 1 : 2;
  }
  Words result{launch.front(), "-genv", "LD_PRELOAD", joined_preload(preload, for_all)};
  for (const auto& [name, value] : environment) result.insert(result.end(), {"-genv", name, value});
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

// -- Slurm's srun

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

// srun --export=… [user's options] program : … What is exported with a value does not replace what stands in srun's own
// environment, and each program has its own list.
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
    add("LD_PRELOAD=" + joined_preload(preload, theirs));
    if (!has_all) {
      for (const auto& [name, value] : environment) add(name);
    }
    result.push_back("--export=" + list);
    result.insert(result.end(), part.options.begin(), part.options.end());
    result.insert(result.end(), part.program.begin(), part.program.end());
  }
  return result;
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

// The programs of a srun command tell; where they are scripts, the interface that srun gives the ranks does.
MpiFamily family_under_srun(const Words& launch) {
  const char* chosen = std::getenv("SLURM_MPI_TYPE");
  std::string mpi = chosen != nullptr ? chosen : "";
  for (const SrunPart& part : parts_of_srun(launch)) {
    if (!part.mpi.empty()) mpi = part.mpi;
    if (part.program.empty()) continue;
    Words programs;
    if (part.is_list) {
      for (const Words& line : lines_of(part.program.front())) {
        if (line.size() > 1) programs.push_back(line[1]);  // behind the ranks' numbers
      }
    } else {
      programs.push_back(part.program.front());
    }
    for (const std::string& program : programs) {
      if (const std::optional<MpiFamily> family = family_of_program(program)) return *family;
    }
  }
  if (mpi.empty()) mpi = default_mpi_of_slurm();
  return mpi.starts_with("pmi2") ? MpiFamily::mpich : MpiFamily::open_mpi;
}

// What was most probably meant by a command that begins with no launcher we know.
std::string advice_without_launcher(const Words& launch) {
  const std::string& command = launch.front();
  const std::string name = fs::path(command).filename();
  const auto is_one_of = [&name](std::string_view list) {
    return (" " + std::string(list) + " ").find(" " + name + " ") != std::string::npos;
  };
  const std::string is_none = "'" + command + "' is not srun, nor an mpirun of Open MPI or MPICH";
  if (command.starts_with("-")) {
    return "no launcher stands behind '--'. Did you mean: halcyon run -- mpirun " + quoted(launch);
  }
  if (is_one_of("sh bash dash ksh zsh fish csh tcsh env nohup time sbatch salloc")) {
    return is_none + ". Put 'halcyon run --' before the mpirun or srun that it starts: " + name +
           " … halcyon run -- mpirun -np N ./app";
  }
  const std::string by_exec = command + " … halcyon exec -- ./app";
  if (is_one_of("aprun jsrun lrun ibrun flux prun prterun yod mpirun mpiexec orterun")) {
    return is_none + "; under another launcher: " + by_exec;
  }
  if (!found_program(command)) return "there is no program '" + command + "'";
  return is_none + ". Did you mean: halcyon run -- mpirun -np N " + quoted(launch) +
         "  (if it is a launcher: " + by_exec + ")";
}

}  // namespace

Outcome<Launcher> launcher_of(const std::vector<std::string>& launch) {
  const std::string& command = launch.front();
  const std::string name = fs::path(command).filename();
  if (name == "srun") return Launcher{Launcher::Kind::srun, family_under_srun(launch)};
  constexpr std::array names{"mpirun",          "mpiexec",      "orterun",       "mpirun.openmpi",
                             "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"};
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    const std::string version = output_of({command, "--version"});
    if (version.empty()) return Failure{"'" + command + " --version' says nothing: is it installed, and in the PATH?"};
    const auto says = [&version](const char* word) { return version.find(word) != std::string::npos; };
    if (says("Open MPI") || says("OpenRTE")) return Launcher{Launcher::Kind::open_mpi, MpiFamily::open_mpi};
    if (says("HYDRA")) return Launcher{Launcher::Kind::hydra, MpiFamily::mpich};
  }
  return Failure{advice_without_launcher(launch)};
}

LaunchCommand with_recorder(const Launcher& launcher, const std::vector<std::string>& launch,
                            const std::string& preload, const Environment& environment) {
  switch (launcher.kind) {
    case Launcher::Kind::hydra: return {with_global_environment(launch, preload, environment), {}};
    case Launcher::Kind::srun: return {with_export_lists(launch, preload, environment), environment, true, true};
    case Launcher::Kind::open_mpi: break;
  }
  return {with_exports(with_app_file(launch), preload, environment), environment};
}

std::vector<std::string> spelt_out(const LaunchCommand& command) {
  Words words{"env"};
  if (command.without_preload) words.insert(words.end(), {"-u", "LD_PRELOAD"});
  for (const auto& [name, value] : command.environment) words.push_back(name + "=" + value);
  if (words.size() == 1) words.clear();
  words.insert(words.end(), command.words.begin(), command.words.end());
  return words;
}

std::string quoted(const std::vector<std::string>& words) {
  constexpr std::string_view plain_signs = "%+,-./:=@_";
  const auto is_plain = [plain_signs](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80 ||
           plain_signs.find(c) != std::string_view::npos;
  };
  std::string line;
  for (const std::string& word : words) {
    std::string shown = word;
    if (word.empty() || !std::all_of(word.begin(), word.end(), is_plain)) {
      for (std::size_t at = 0; (at = shown.find('\'', at)) != std::string::npos; at += 4) shown.replace(at, 1, "'\\''");
      shown = "'" + shown + "'";
    }
    line += (line.empty() ? "" : " ") + shown;
  }
  return line;
}

}  // namespace halcyon::cli
