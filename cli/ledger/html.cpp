// halcyon ledger html: pages of a site, its nodes, its works and its runs.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/ledger/commands.hpp"
#include "cli/ledger/run_of_file.hpp"
#include "cli/ledger/site.hpp"
#include "libprofile/system/plural.hpp"
#include "report/site/pages.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;
using ledger::By;
using ledger::PastRun;
using ledger::Period;

constexpr std::size_t points_of_course = 60;         // Numerics: of a host's figure
constexpr std::int64_t most_parts_of_calendar = 60;  // Numerics: of the figure of losses
constexpr std::size_t most_runs_of_host = 50;
constexpr std::int64_t most_runs_of_work = 1000;
constexpr std::int64_t most_costly_runs = 100;
constexpr std::int64_t second = ledger::nanoseconds_of_a_second;

struct HtmlOptions {
  std::string directory;
  std::string database;
  std::string profiles;
  PeriodOptions period;
  std::uint64_t pages = 500;
  bool no_names = false;
};

/// Tells what it does after two seconds.
class Steps {
 public:
  ~Steps() { show_step(""); }
  void show(const std::string& what) const {
    constexpr auto a_moment = std::chrono::seconds(2);
    if (std::chrono::steady_clock::now() - began_ >= a_moment) show_step(what);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Whole hours or days since 1970, so that there are not too many.
std::vector<Period> parts_of(const Period& period) {
  constexpr std::int64_t hour = 3600 * second;
  constexpr std::int64_t day = 24 * hour;
  std::int64_t step = hour;
  for (const std::int64_t longer : {3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day}) {
    if ((period.until - period.since) / step < most_parts_of_calendar) break;
    step = longer;
  }
  while ((period.until - period.since) / step >= most_parts_of_calendar) step *= 2;
  std::vector<Period> parts;
  for (std::int64_t begin = period.since / step * step; begin < period.until; begin += step)
    parts.push_back({std::max(begin, period.since), std::min(begin + step, period.until)});
  return parts;
}

class Pages {
 public:
  Pages(ledger::Ledger& ledger, const HtmlOptions& options) : ledger_(ledger), options_(options) {}

  Status write() {
    if (const Status read = read_site(); !read) return read;
    if (const Status found = find_reports(); !found) return found;
    std::error_code error;
    for (const char* const each : page_directories) {
      fs::create_directories(fs::path(options_.directory) / each, error);
      if (error) return Failure{fmt::format("{}/{}: {}", options_.directory, each, error.message())};
    }
    for (const auto& make : {&Pages::write_hosts, &Pages::write_works, &Pages::write_runs}) {
      if (const Status made = (this->*make)(); !made) return made;
    }
    if (const Status written = put("index.html", site_page(site_)); !written) return written;
    remove_others();
    return Done{};
  }

  std::string summary() const {
    return fmt::format("{} in {}: of {}, {} and {}, {:.1f} MB\n", plural(written_.size(), "page"), options_.directory,
                       plural(site_.host_pages.size(), "node"), plural(site_.work_pages.size(), "work"),
                       plural(site_.run_pages.size(), "run"), 1e-6 * static_cast<double>(bytes_));
  }

 private:
  Status read_site() {
    const Period asked = period_of(options_.period);
    const Outcome<std::optional<Period>> extent = ledger::extent_of_runs(ledger_, asked);
    if (!extent) return extent.failure();
    if (!*extent) return Failure{"the ledger has no run of that time"};
    site_.period = **extent;
    site_.has_names = !options_.no_names;
    steps_.show("adding up losses");
    std::vector<By> kinds{By::cause, By::partition};
    if (site_.has_names) kinds.insert(kinds.begin() + 1, By::project);
    for (const By by : kinds) {
      Outcome<std::vector<ledger::Loss>> losses = ledger::losses(ledger_, by, site_.period);
      if (!losses) return losses.failure();
      site_.losses.emplace_back(by, std::move(*losses));
    }
    for (const Period& part : parts_of(site_.period)) {
      const Outcome<std::vector<ledger::Loss>> losses = ledger::losses(ledger_, By::cause, part);
      if (!losses) return losses.failure();
      site_.along.push_back({part, ledger::sum_of(*losses)});
    }
    Outcome<ledger::SiteHistory> history = history_for(ledger_, options_.period);
    if (!history) return history.failure();
    site_.history = std::move(*history);
    NodeSettings settings;
    settings.points_of_course = points_of_course;
    site_.ranking = ranking_of(site_.history, settings);
    std::vector<std::uint32_t> works(site_.history.works.size());
    for (std::size_t i = 0; i < works.size(); ++i) works[i] = static_cast<std::uint32_t>(i);
    site_.trends = trends_of(works, site_.history, site_.ranking);
    const Outcome<std::vector<PastRun>> latest =
        ledger::past_runs(ledger_, "", site_.period, static_cast<std::int64_t>(options_.pages));
    if (!latest) return latest.failure();
    site_.latest = shown(*latest);
    const Outcome<std::vector<PastRun>> costliest = ledger::costliest_runs(
        ledger_, site_.period, std::min(most_costly_runs, static_cast<std::int64_t>(options_.pages) / 2));
    if (!costliest) return costliest.failure();
    site_.costliest = shown(*costliest);
    if (!site_.has_names) {
      for (ledger::SiteWork& work : site_.history.works) hide_names(work.work);
      for (WorkTrend& trend : site_.trends)
        for (Change& change : trend.changes.changes) change.label.clear();
    }
    name_pages(site_, options_.pages);
    return Done{};
  }

  std::vector<PastRun> shown(std::vector<PastRun> runs) const {
    if (site_.has_names) return runs;
    for (PastRun& run : runs) {
      hide_names(run.run);
      hide_names(run.work);
    }
    return runs;
  }

  // By the key of a run, the page that `halcyon report --html` has made beside its profile.
  Status find_reports() {
    if (options_.profiles.empty()) return Done{};
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(options_.profiles, error)) {
      const fs::path page = fs::path(entry.path()).replace_extension(".html");
      if (entry.path().extension() != ".h5" || !fs::exists(page, error)) continue;
      steps_.show("looking for the report of " + entry.path().string());
      const Outcome<std::string> key = key_of_profile(entry.path());
      if (!key) {
        tell(key.failure().message);
        continue;
      }
      reports_[*key] = fs::relative(page, fs::path(options_.directory) / page_directories[2], error).string();
    }
    if (error) return Failure{options_.profiles + ": " + error.message()};
    return Done{};
  }

  Status put(const std::string& name, const std::string& text) {
    written_.insert(name);
    bytes_ += text.size();
    return write_file(options_.directory + "/" + name, text);
  }

  Status write_hosts() {
    std::map<std::uint32_t, std::vector<std::int64_t>> runs;  // of hosts with a page, the latest first
    for (auto run = site_.history.runs.rbegin(); run != site_.history.runs.rend(); ++run) {
      for (const std::uint32_t host : run->hosts) {
        if (!site_.host_pages.contains(host)) continue;
        std::vector<std::int64_t>& of_host = runs[host];
        if (of_host.size() < most_runs_of_host) of_host.push_back(run->number);
      }
    }
    for (const HostEffect& host : site_.ranking.hosts) {
      const auto page = site_.host_pages.find(host.host);
      if (page == site_.host_pages.end()) continue;
      steps_.show(fmt::format("writing {}", page->second));
      const Outcome<std::vector<PastRun>> of_host = ledger::runs_numbered(ledger_, runs[host.host]);
      if (!of_host) return of_host.failure();
      if (const Status written = put(page->second, host_page(site_, host, shown(*of_host))); !written) return written;
    }
    return Done{};
  }

  Status write_works() {
    for (const WorkTrend& trend : site_.trends) {
      const auto page = site_.work_pages.find(trend.work);
      if (page == site_.work_pages.end()) continue;
      steps_.show(fmt::format("writing {}", page->second));
      const ledger::SiteWork& work = site_.history.works[trend.work];
      Outcome<std::vector<PastRun>> runs = ledger::past_runs(ledger_, work.work.work, site_.period, most_runs_of_work);
      if (!runs) return runs.failure();
      std::erase_if(*runs, [&work](const PastRun& run) { return run.run.cluster != work.cluster; });
      if (const Status written = put(page->second, work_page(site_, trend, shown(*runs))); !written) return written;
    }
    return Done{};
  }

  Status write_runs() {
    std::set<std::int64_t> made;
    for (const std::vector<PastRun>* runs : {&site_.costliest, &site_.latest}) {
      for (const PastRun& run : *runs) {
        const auto page = site_.run_pages.find(run.run.run);
        if (page == site_.run_pages.end() || !made.insert(run.run.run).second) continue;
        steps_.show(fmt::format("writing {}", page->second));
        Outcome<std::vector<ledger::HostRow>> hosts = ledger::hosts_of(ledger_, run.run);
        if (!hosts) return hosts.failure();
        Outcome<std::vector<ledger::SliceRow>> slices = ledger::slices_of(ledger_, run.run, {});
        if (!slices) return slices.failure();
        const auto report = reports_.find(run.run.key);
        const RunOfPage shown{run, std::move(*hosts), std::move(*slices),
                              report == reports_.end() ? std::string() : report->second};
        if (const Status written = put(page->second, run_page(site_, shown)); !written) return written;
      }
    }
    return Done{};
  }

  // Pages of an earlier call, which nothing leads to any more.
  void remove_others() {
    std::error_code none;
    for (const char* const each : page_directories) {
      for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(options_.directory) / each, none)) {
        const std::string name = std::string(each) + "/" + entry.path().filename().string();
        if (entry.path().extension() == ".html" && !written_.contains(name)) fs::remove(entry.path(), none);
      }
    }
  }

  ledger::Ledger& ledger_;
  const HtmlOptions& options_;
  Steps steps_;
  SiteOnPages site_;
  std::map<std::string, std::string> reports_;
  std::set<std::string> written_;
  std::size_t bytes_ = 0;
};

// What is in the directory and is no page of ours must not be lost.
std::string objection_to_pages_in(const std::string& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) {
    fs::create_directories(directory, error);
    return error ? fmt::format("{}: {}", directory, error.message()) : "";
  }
  if (std::string objection = objection_to_directory(directory); !objection.empty()) return objection;
  if (fs::is_empty(directory, error)) return "";
  std::ifstream index(directory + "/index.html");
  for (std::string line; std::getline(index, line);)
    if (line == mark_of_pages) return "";
  return directory + " has other files, and no pages of an earlier call: name another directory";
}

int make_pages(const HtmlOptions& options) {
  return with_ledger(options.database, ledger::Use::reads, [&options](ledger::Ledger& ledger) {
    if (const std::string objection = objection_to_pages_in(options.directory); !objection.empty())
      return fail(objection);
    Pages pages(ledger, options);
    if (const Status written = pages.write(); !written) return fail(written.failure().message);
    const Status printed = print_text(pages.summary());
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace

void add_ledger_html(const Command& ledger) {
  const Command command = ledger.subcommand("html", "Write pages of the site, its nodes, its works and its runs");
  auto options = std::make_shared<HtmlOptions>();
  command.option("DIR", options->directory, "Directory for the pages, which begin with index.html").required();
  add_database_option(command, options->database);
  add_period_options(command, options->period);
  command.option("--pages", options->pages, "At most so many pages of nodes, of works and of runs").with_default();
  command
      .option("--profiles", options->profiles,
              "Profiles; those that have a page beside them (run.h5, run.html) are linked from the pages of their runs")
      .placeholder("DIR");
  command.flag(
      "--no-names", options->no_names,
      "Leave out users, projects, jobs, labels, notes, programs and commands, so that everybody may read the pages");
  command.notes(
      "The pages show what `lost`, `nodes`, `trend` and `runs` say. They need no network and no JavaScript. Pages of "
      "an\n"
      "earlier call in the same directory are replaced, and those that nothing leads to any more are removed.\n"
      "Example: halcyon ledger html --database site.db --since 1y /srv/www/halcyon");
  command.does([options] { return make_pages(*options); });
}

}  // namespace halcyon::cli
