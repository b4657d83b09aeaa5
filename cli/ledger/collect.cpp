// halcyon ledger collect: what runs have left that ended before they were judged.
#include <fmt/format.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/ledger/commands.hpp"
#include "cli/ledger/run_of_file.hpp"
#include "libprofile/recover/recover.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/shared/spool.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

struct CollectOptions {
  std::string spool;
  std::string job;
  std::uint64_t idle_minutes = 60;
};

// APP.NUMBERp.JOB.TIME.frames, of which APP may contain anything.
bool is_of_job(const std::string& name, const std::string& job) {
  return name.find("p." + job + ".") != std::string::npos;
}

// Seconds since something was last written there: into the file, or into one of the directory.
double idle_seconds(const fs::path& place) {
  std::error_code error;
  fs::file_time_type last = fs::last_write_time(place, error);
  if (fs::is_directory(place, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
      last = std::max(last, entry.last_write_time(error));
    }
  }
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - last).count();
}

// A process that writes judges its frames at this moment (libprofile/format/writer_main.cpp), and removes them then.
bool is_judged_now(const fs::path& frames) {
  const Descriptor file(open(frames.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  return file && flock(file.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

class Collecting {
 public:
  explicit Collecting(const CollectOptions& options) : options_(options) {}

  int all() {
    const std::string place = spool::unfinished_of_this_user(options_.spool);
    std::error_code error;
    std::vector<fs::path> left;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) left.push_back(entry.path());
    if (error && error != std::errc::no_such_file_or_directory) {
      return fail(fmt::format("cannot list {}: {}", place, error.message()));
    }
    std::sort(left.begin(), left.end());
    for (const fs::path& path : left) {
      if (!is_over(path)) continue;
      const std::string name = path.filename().string();
      show_step(fmt::format("collecting {}", name));
      if (name.ends_with(".partial")) {
        fs::remove(path, error);
      } else if (name.ends_with(parts_of(".h5"))) {
        recover_run_in(path);
      } else if (name.ends_with(".h5") || (name.ends_with(".frames") && !is_judged_now(path))) {
        judge(path);
      }
      show_step("");
    }
    const Status printed = print_text(plural(spooled_, "run") + " put into the spool\n");
    return printed ? status_ : fail(printed.failure().message);
  }

 private:
  bool is_over(const fs::path& path) const {
    if (!options_.job.empty()) return is_of_job(path.filename().string(), options_.job);
    return idle_seconds(path) >= 60.0 * static_cast<double>(options_.idle_minutes);
  }

  // The profile goes when its run is in the spool.
  bool judge(const fs::path& profile) {
    const Outcome<std::string> file = put_into_spool(profile, options_.spool);
    if (!file) {
      status_ = fail(file.failure().message);
      return false;
    }
    ++spooled_;
    std::error_code error;
    fs::remove(profile, error);
    return true;
  }

  void recover_run_in(const fs::path& directory) {
    std::error_code error;
    if (fs::is_empty(directory, error)) {
      fs::remove(directory, error);
      return;
    }
    const Outcome<std::vector<RunParts>> runs = find_parts({directory.string()});
    if (!runs) {
      status_ = fail(runs.failure().message);
      return;
    }
    const std::string name = directory.string();
    for (const RunParts& run : *runs) {
      const Outcome<Recovered> recovered = recover(run, name.substr(0, name.size() - parts_of("").size()));
      if (!recovered) {
        status_ = fail(recovered.failure().message);
        continue;
      }
      if (!judge(recovered->profile)) continue;
      for (const std::string& file : run.files) fs::remove(file, error);
    }
    fs::remove(directory, error);  // if it is empty
  }

  const CollectOptions& options_;
  std::size_t spooled_ = 0;
  int status_ = passed;
};

}  // namespace

void add_ledger_collect(const Command& ledger) {
  const Command command = ledger.subcommand("collect", "Judge what killed runs of this user have left in a spool");
  auto options = std::make_shared<CollectOptions>();
  command.option("DIR", options->spool, "The spool").required();
  command.option("--job", options->job, "Only runs of this job of the batch system, which has ended").placeholder("ID");
  command
      .option("--idle", options->idle_minutes,
              "Without --job: only runs that have not written anything for so many minutes")
      .from_to(0, 525600)
      .with_default();
  command.notes(
      "A run that the site records for its ledger (HALCYON_LEDGER) leaves its records in DIR/unfinished-UID until "
      "they\n"
      "are judged. This makes spool files of those that were killed, or whose profile could not be judged.\n"
      "Examples:\n"
      "  halcyon ledger collect --job 4711 /shared/spool      in an epilog, as the user of the job\n"
      "  halcyon ledger collect /shared/spool                 from time to time");
  command.does([options] {
    if (const std::string objection = objection_to_directory(options->spool); !objection.empty()) {
      return fail(objection);
    }
    return Collecting(*options).all();
  });
}

}  // namespace halcyon::cli
