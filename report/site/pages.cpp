#include "report/site/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <functional>
#include <regex>
#include <set>

#include "libprofile/system/fnv1a.hpp"
#include "libprofile/system/plural.hpp"
#include "libprofile/system/utc.hpp"
#include "report/html_document.hpp"
#include "report/layout.hpp"
#include "report/series/figures.hpp"
#include "report/site/figures.hpp"
#include "report/site/words.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using namespace html;
using ledger::By;
using ledger::Loss;
using ledger::PastRun;
using ledger::SliceRow;
using svg::escaped;

constexpr std::size_t most_hosts_in_figure = 20;
constexpr std::size_t most_rows = 20;           // of a table of the first page
constexpr std::size_t widest_cell = 40;         // columns, of a name in a table
constexpr std::size_t most_parts_of_run = 200;  // Numerics: of the figure of a run
constexpr double nanoseconds_of_a_day = 86400.0 * static_cast<double>(ledger::nanoseconds_of_a_second);

double day_of(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / nanoseconds_of_a_day; }

std::string link(const std::string& to, const std::string& content) {
  return to.empty() ? content : fmt::format("<a href=\"{}\">{}</a>", escaped(to), content);
}

template <class Number>
std::string page_in(const std::map<Number, std::string>& pages, Number number, std::string_view up) {
  const auto found = pages.find(number);
  return found == pages.end() ? std::string() : std::string(up) + found->second;
}

// Days and times of a text in HTML, each on one line.
std::string with_times(const std::string& content) {
  static const std::regex time("[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2})?");
  return std::regex_replace(content, time, "<time>$&</time>");
}

std::string time_of(const ledger::RunRow& run) { return with_times(when_words(run.run, true)); }

using Cells = std::vector<std::string>;  // of a row of a table

/// A table that can be scrolled to the side, and is a list where it has no room. `heads` that begin with # are of
/// numbers.
std::string table(const std::vector<std::string_view>& heads, const std::vector<Cells>& rows) {
  if (rows.empty()) return "";
  const auto class_of = [&heads](std::size_t i) { return heads[i].starts_with('#') ? " class=\"number\"" : ""; };
  const auto title_of = [&heads](std::size_t i) { return heads[i].substr(heads[i].starts_with('#') ? 1 : 0); };
  std::string html = "<div class=\"scroll\"><table class=\"list\">\n<thead><tr>";
  for (std::size_t i = 0; i < heads.size(); ++i)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(i), title_of(i));
  html += "</tr></thead>\n<tbody>";
  for (const Cells& cells : rows) {
    html += "<tr><th scope=\"row\">" + cells.front() + "</th>";
    for (std::size_t i = 1; i < cells.size(); ++i)
      html += fmt::format("<td{} data-title=\"{}\">{}</td>", class_of(i), title_of(i), cells[i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string number_cell(const std::string& content) { return "<td class=\"number\">" + content + "</td>"; }
std::string row_of(const std::string& first, const std::string& cells) {
  return "<tr><th scope=\"row\">" + first + "</th>" + cells + "</tr>\n";
}

std::string host_name(const SiteOnPages& site, std::uint32_t host) {
  return shown_name(site.history, site.history.hosts[host]);
}

std::string page(std::string_view title, std::string_view subtitle, std::string_view up, std::string body) {
  if (!up.empty()) body = fmt::format("<p><a href=\"{}index.html\">← the whole site</a></p>\n", up) + body;
  body += fmt::format("<p class=\"soft\">Made by halcyon {} on {}. Times are UTC; intervals hold 90 %.</p>\n",
                      HALCYON_VERSION, utc_text(std::time(nullptr), "%Y-%m-%d %H:%M"));
  return html_page({.title = escaped(title),
                    .subtitle = subtitle,
                    .body = std::move(body),
                    .more_style = series_figure::style,
                    .script = {}});
}

std::string command_of(std::string_view words) { return fmt::format("<pre>halcyon ledger {}</pre>\n", escaped(words)); }

// -- runs in tables

std::string undisturbed_words(const ledger::RunRow& run) {
  if (!run.undisturbed_seconds) return "–";
  return fmt::format("{} ({} to {})", seconds(*run.undisturbed_seconds), seconds(*run.undisturbed_low_seconds),
                     seconds(*run.undisturbed_high_seconds));
}

double lost_node_hours(const ledger::RunRow& run) {
  constexpr double seconds_of_an_hour = 3600.0;
  return run.undisturbed_seconds
             ? (run.run_time_seconds - *run.undisturbed_seconds) * static_cast<double>(run.hosts) / seconds_of_an_hour
             : 0.0;
}

std::string table_of_runs(const SiteOnPages& site, const std::vector<PastRun>& runs, std::size_t most,
                          std::string_view up) {
  std::vector<Cells> rows;
  for (std::size_t i = 0; i < std::min(runs.size(), most); ++i) {
    const ledger::RunRow& run = runs[i].run;
    const std::string code = run.verdict == "unknown" ? run.no_verdict : run.cause;
    rows.push_back({link(page_in(site.run_pages, run.run, up), time_of(run)),
                    escaped(briefly(shown_name(runs[i]), widest_cell)), verdict_tag(escaped(run.verdict)),
                    seconds(run.run_time_seconds), undisturbed_words(run),
                    run.undisturbed_seconds ? hours_words(lost_node_hours(run)) : "–",
                    code.empty() ? "" : "<code>" + escaped(briefly(code, widest_cell)) + "</code>",
                    escaped(briefly(run.label, 24))});
  }
  return table({"began", "run", "verdict", "#run time", "#undisturbed (90 %)", "#node hours lost", "cause", "label"},
               rows);
}

// -- the whole site

std::string title_of(By by) {
  switch (by) {
    case By::cause: return "by likely cause";
    case By::project: return "by project";
    case By::partition: return "by partition";
    default: return "by " + std::string(ledger::by_names[static_cast<std::size_t>(by)]);
  }
}

std::string table_of_losses(By by, const std::vector<Loss>& losses) {
  const double total = ledger::sum_of(losses).lost_node_hours;
  std::string rows;
  for (std::size_t i = 0; i < std::min(losses.size(), most_rows); ++i) {
    const std::string name = briefly(shown_name(by, losses[i]), widest_cell);
    rows += share_row(by == By::cause && !losses[i].name.empty() ? "<code>" + escaped(name) + "</code>" : escaped(name),
                      lost_words(losses[i]), losses[i].lost_node_hours, total);
  }
  const std::string caption =
      title_of(by) + (losses.size() > most_rows ? fmt::format(", the largest {} of {}", most_rows, losses.size()) : "");
  return rows.empty() ? "" : share_table(caption, rows);
}

std::string section_of_losses(const SiteOnPages& site) {
  std::vector<site_figure::PartOfCalendar> parts;
  for (const LossInPart& part : site.along) {
    parts.push_back({day_of(part.period.since),
                     day_of(part.period.until),
                     part.loss.lost_node_hours,
                     {part.loss.low_node_hours, part.loss.high_node_hours}});
  }
  std::string tables;
  for (const auto& [by, losses] : site.losses) tables += table_of_losses(by, losses);
  return section("Node hours lost", "What runs took longer than they would have undisturbed, on all their hosts.",
                 site_figure::lost_along_calendar(
                     parts, "Node hours that were lost to others, with 90 % intervals, by when runs began.") +
                     "<div class=\"tables\">" + tables + "</div>\n",
                 "h2");
}

std::string section_of_hosts(const SiteOnPages& site) {
  const std::vector<HostEffect>& hosts = site.ranking.hosts;
  if (hosts.empty()) return "";
  const NodeSettings settings;
  std::vector<site_figure::NamedEffect> shown;
  std::vector<Cells> rows;
  std::size_t listed = 0;
  for (const HostEffect& host : hosts) {
    listed += host.is_listed ? 1 : 0;
    if (shown.size() < most_hosts_in_figure) shown.push_back({host_name(site, host.host), host});
    if (!host.is_listed) continue;
    rows.push_back({link(page_in(site.host_pages, host.host, ""), escaped(host_name(site, host.host))),
                    std::to_string(host.runs), percent_words(host.percent, host.interval_percent),
                    decimal(100.0 * host.chance_slow, 0), with_times(slow_since_words(host))});
  }
  const std::string told =
      listed == 0 ? fmt::format("None of {} makes runs surely more than {} % longer than the middle host does.",
                                plural(hosts.size(), "host"), decimal(settings.slow_percent, 0))
                  : fmt::format(
                        "{} of {} make runs more than {} % longer than the middle host does; {} % of such a list are "
                        "expected not to.",
                        listed, plural(hosts.size(), "host"), decimal(settings.slow_percent, 0),
                        decimal(100.0 * settings.most_false_discoveries, 0));
  std::string others;
  for (const HostEffect& host : hosts) {
    const std::string to = page_in(site.host_pages, host.host, "");
    if (!host.is_listed && !to.empty())
      others += (others.empty() ? "" : " ") + link(to, escaped(host_name(site, host.host)));
  }
  std::string to_exclude;
  for (const auto& [cluster, names] : names_to_exclude(site.history, site.ranking)) {
    to_exclude += "<p>" + (has_clusters(site.history) ? escaped(cluster) + ": " : "") + "<code>--exclude=" + names +
                  "</code></p>\n";
  }
  return section(
      "Slow nodes", told,
      table({"host", "#runs", "#slower by % (90 %)", "#surely %", "became slow"}, rows) + to_exclude +
          site_figure::slow_hosts(
              shown, settings.slow_percent,
              fmt::format("How much longer runs take on a host than on the middle one: the first {} by how sure "
                          "it is. Dashed: {} %.",
                          shown.size(), decimal(settings.slow_percent, 0))) +
          (others.empty() ? "" : "<details><summary>Other hosts</summary><p>" + others + "</p></details>\n"),
      "h2");
}

std::string section_of_works(const SiteOnPages& site) {
  std::vector<Cells> rows;
  std::string others;
  for (const WorkTrend& trend : site.trends) {
    const ledger::SiteWork& work = site.history.works[trend.work];
    const std::string to = page_in(site.work_pages, trend.work, "");
    const std::string name = link(to, escaped(briefly(shown_name(work.work), 60)));
    std::string what;
    for (const Change& change : trend.changes.changes)
      if (change.of != ChangeOf::machine) what += with_times(escaped(change_words(change))) + "<br>";
    for (const LossChange& change : trend.changes.losses)
      what += with_times(escaped(loss_change_words(change))) + "<br>";
    if (what.empty()) {
      if (!to.empty()) others += "<li>" + name + "</li>\n";
      continue;
    }
    rows.push_back({name, std::to_string(trend.changes.runs), what});
  }
  return section(
      "Works that changed",
      rows.empty() ? "No work surely needs another time than before, or loses another share of it."
                   : "What a work needs undisturbed, and what it loses to others. Changes of the machine are on the "
                     "pages of the works.",
      table({"work", "#runs", "since when"}, rows) +
          (others.empty() ? "" : "<details><summary>Other works</summary><ul>" + others + "</ul></details>\n") + " ",
      "h2");
}

std::string facts_of_site(const SiteOnPages& site) {
  const Loss sum = site.losses.empty() ? Loss{} : ledger::sum_of(site.losses.front().second);
  std::string facts = fact("runs that began", with_times(fmt::format("{} to {}", when_words(site.period.since, true),
                                                                     when_words(site.period.until - 1, true))));
  facts += fact("runs", fmt::format("{}, {} with an estimate", sum.runs, sum.judged_runs));
  facts += fact("node hours", hours_words(sum.node_hours));
  facts += fact("node hours lost", fmt::format("<b>{}</b>", lost_words(sum)));
  facts += fact("lost, of runs with an estimate", lost_share_words(sum) + " %");
  if (sum.own_node_hours > 0.0)
    facts += fact("may be the programs' own doing", hours_words(sum.own_node_hours) + " of the lost node hours");
  if (!site.has_names) facts += fact("names", "of users, projects, jobs and programs are left out");
  if (const std::string left_out = left_out_words(site.history); !left_out.empty())
    facts += fact("not in nodes and works", left_out, "wide");
  return "<dl class=\"facts\">\n" + facts + "</dl>\n";
}

// -- names of files

/// Names that are safe everywhere, each once.
class FileNames {
 public:
  std::string of(const std::string& directory, const std::string& name) {
    const bool is_safe = !name.empty() && name.size() <= 100 && name.front() != '.' && name.front() != '-' &&
                         std::ranges::all_of(name, [](unsigned char letter) {
                           return std::isalnum(letter) != 0 || letter == '.' || letter == '-' || letter == '_';
                         });
    std::string file = directory + "/" + (is_safe ? name : fmt::format("{:016x}", fnv1a(name)));
    for (int again = 2; !taken_.insert(file).second; ++again) file += fmt::format("-{}", again);
    return file + ".html";
  }

 private:
  std::set<std::string> taken_;
};

}  // namespace

void name_pages(SiteOnPages& site, std::size_t most) {
  FileNames names;
  for (const HostEffect& host : site.ranking.hosts) {
    if (site.host_pages.size() == most) break;
    const ledger::SiteHost& known = site.history.hosts[host.host];
    site.host_pages[host.host] =
        names.of(page_directories[0], known.cluster.empty() ? known.name : known.cluster + "." + known.name);
  }
  for (const WorkTrend& trend : site.trends) {
    if (site.work_pages.size() == most) break;
    site.work_pages[trend.work] = names.of(page_directories[1], site.history.works[trend.work].work.work);
  }
  for (const std::vector<PastRun>* runs : {&site.costliest, &site.latest}) {
    for (const PastRun& run : *runs) {
      if (site.run_pages.size() == most) break;
      if (!site.run_pages.contains(run.run.run))
        site.run_pages[run.run.run] = names.of(page_directories[2], run.run.key);
    }
  }
}

std::string site_page(const SiteOnPages& site) {
  const std::string body =
      std::string(mark_of_pages) + "\n" + facts_of_site(site) + section_of_losses(site) + section_of_hosts(site) +
      section_of_works(site) +
      section("Runs that lost the most", "", table_of_runs(site, site.costliest, most_rows, ""), "h2") +
      section("The latest runs", "", table_of_runs(site, site.latest, most_rows, ""), "h2");
  return page("The runs of a site", "What the runs of a site lost to others", "", body);
}

std::string host_page(const SiteOnPages& site, const HostEffect& host, const std::vector<PastRun>& runs) {
  const NodeSettings settings;
  const std::string name = host_name(site, host.host);
  std::string facts = fact("runs", std::to_string(host.runs));
  facts += fact("runs take longer by", percent_words(host.percent, host.interval_percent) + " %");
  facts += fact(fmt::format("surely more than {} %", decimal(settings.slow_percent, 0)),
                decimal(100.0 * host.chance_slow, 0) + " %");
  facts += fact("became slow", host.is_listed ? with_times(slow_since_words(host)) : "it is not listed as slow");
  std::string body = fmt::format("<h2>{}</h2>\n<dl class=\"facts\">\n{}</dl>\n", escaped(name), facts);
  body += section(
      "Along the calendar",
      "How much longer runs took on it than on the middle host, as estimated from all runs together.",
      site_figure::course_of_host(host, settings.slow_percent,
                                  fmt::format("With 90 % intervals. Dashed: {} %.{}", decimal(settings.slow_percent, 0),
                                              host.since_days ? " Shaded: when it became slow." : "")));
  body += section("Its latest runs", host.runs > runs.size() ? fmt::format("{} of {}.", runs.size(), host.runs) : "",
                  table_of_runs(site, runs, runs.size(), "../"));
  return page(name, "One node of a site", "../", body + command_of("nodes"));
}

std::string work_page(const SiteOnPages& site, const WorkTrend& trend, const std::vector<PastRun>& runs) {
  const ledger::SiteWork& work = site.history.works[trend.work];
  std::string facts;
  facts += fact("work", "<code>" + escaped(work.work.work) + "</code>");
  if (!work.cluster.empty()) facts += fact("cluster", escaped(work.cluster));
  facts += fact("runs that were compared", std::to_string(trend.changes.runs));
  std::string items;
  for (const Change& change : trend.changes.changes)
    items += "<li>" + with_times(escaped(change_words(change))) + "</li>\n";
  for (const LossChange& change : trend.changes.losses)
    items += "<li>" + with_times(escaped(loss_change_words(change))) + "</li>\n";
  if (trend.changes.drifts) items += "<li>somewhere, what it needs changes slowly: no day can be named</li>\n";
  if (items.empty()) items = "<li>no change is certain</li>\n";
  std::vector<site_figure::RunPoint> points;
  for (const PastRun& past : runs) {
    const ledger::RunRow& run = past.run;
    if (!run.undisturbed_seconds || run.is_injected != 0) continue;
    points.push_back({.day = day_of(run.run),
                      .seconds = *run.undisturbed_seconds,
                      .interval_seconds = {*run.undisturbed_low_seconds, *run.undisturbed_high_seconds},
                      .lost_percent = run.run_time_seconds > 0.0
                                          ? 100.0 * (1.0 - *run.undisturbed_seconds / run.run_time_seconds)
                                          : 0.0});
  }
  std::ranges::sort(points, {}, &site_figure::RunPoint::day);
  const std::string drawn = points.size() < trend.changes.runs
                                ? fmt::format(" The latest {} of {} are drawn.", points.size(), trend.changes.runs)
                                : "";
  constexpr std::size_t most_listed = 50;
  std::string body =
      fmt::format("<h2>{}</h2>\n<dl class=\"facts\">\n{}</dl>\n", escaped(briefly(shown_name(work.work))), facts);
  body += section("What changed, and whose change it is", "", "<ul class=\"warnings\">\n" + items + "</ul>\n");
  body += section("Undisturbed time", "",
                  site_figure::times_of_work(
                      points, trend.changes.changes,
                      "What each run would have taken undisturbed, with 90 % intervals. Dashed: changes, which were "
                      "found without what slow hosts add." +
                          drawn));
  body += section("Lost to others", "",
                  site_figure::losses_of_work(points, trend.changes.losses,
                                              "The share of its run time that each run lost." + drawn));
  body += section("Its latest runs", "", table_of_runs(site, runs, most_listed, "../"));
  return page(shown_name(work.work), "One work: the same command, ranks and number of hosts", "../",
              body + command_of("trend " + work.work.work.substr(0, 8)));
}

namespace {

struct Kind {
  std::string_view name;
  double SliceRow::*seconds;
};
constexpr std::array<Kind, 5> kinds{{{"computation", &SliceRow::computation},
                                     {"point-to-point", &SliceRow::point_to_point},
                                     {"collective", &SliceRow::collective},
                                     {"file I/O", &SliceRow::file_io},
                                     {"device", &SliceRow::device}}};
struct Demanded {
  std::string_view name;
  std::int64_t SliceRow::*bytes;
};
constexpr std::array<Demanded, 6> demands{{{"sent", &SliceRow::bytes_sent},
                                           {"handed to collectives", &SliceRow::bytes_collective},
                                           {"one-sided", &SliceRow::bytes_one_sided},
                                           {"read from files", &SliceRow::bytes_read},
                                           {"written to files", &SliceRow::bytes_written},
                                           {"of devices", &SliceRow::device_bytes}}};

std::string verdict_section(const ledger::RunRow& run, const std::string& report) {
  std::string content = verdict_box(escaped(run.verdict), run.may_be_own != 0 && run.verdict != "unknown"
                                                              ? "What was lost may be the program's own doing."
                                                              : "");
  if (run.undisturbed_seconds) {
    const auto lost = [&run](double undisturbed) {
      return decimal(run.run_time_seconds > 0.0 ? 100.0 * (1.0 - undisturbed / run.run_time_seconds) : 0.0, 1);
    };
    content += fmt::format(
        "<div class=\"figures\"><p><b class=\"number\">{} %</b> of the run time was lost<br><span class=\"soft\">90 % "
        "interval {} "
        "to {} %</span></p>\n<p><b class=\"number\">{}</b> is the estimated undisturbed run time<br><span "
        "class=\"soft\">90 % "
        "interval {} to {}; the run took {}</span></p></div>\n",
        lost(*run.undisturbed_seconds), lost(*run.undisturbed_high_seconds), lost(*run.undisturbed_low_seconds),
        seconds(*run.undisturbed_seconds), seconds(*run.undisturbed_low_seconds),
        seconds(*run.undisturbed_high_seconds), seconds(run.run_time_seconds));
  }
  if (run.verdict == "unknown" && !run.no_verdict.empty()) {
    content += fmt::format("<p class=\"cause\"><b>No verdict:</b> <code>{0}</code> (halcyon help {0})</p>\n",
                           escaped(run.no_verdict));
  }
  if (!run.cause.empty()) {
    content += fmt::format("<p class=\"cause\"><b>Likely cause:</b> <code>{0}</code> (halcyon help {0})</p>\n",
                           escaped(run.cause));
  }
  if (!report.empty())
    content += fmt::format("<p class=\"cause\"><a href=\"{}\">The report of its profile</a></p>\n", escaped(report));
  return "<section class=\"top\">\n" + content + "</section>\n";
}

std::string facts_of_run(const SiteOnPages& site, const PastRun& past) {
  const ledger::RunRow& run = past.run;
  const auto work = std::ranges::find_if(site.history.works, [&](const ledger::SiteWork& known) {
    return known.work.work == run.work && known.cluster == run.cluster;
  });
  const std::string to =
      work == site.history.works.end()
          ? std::string()
          : page_in(site.work_pages, static_cast<std::uint32_t>(work - site.history.works.begin()), "../");
  std::string facts =
      fact("program", link(to, "<code>" + escaped(command_words(shown_name(past.work))) + "</code>"), "whole");
  const auto text = [&facts](std::string_view label, const std::string& words, std::string_view classes = "") {
    if (!words.empty()) facts += fact(label, escaped(words), classes);
  };
  text("label", run.label);
  text("note", run.note, "wide");
  facts += fact("began", time_of(run));
  facts += fact("run time", seconds(run.run_time_seconds));
  facts += fact("ranks", fmt::format("{} on {}", run.ranks, plural(static_cast<std::size_t>(run.hosts), "host")));
  facts += fact("coverage", fmt::format("{} % of the run time", decimal(run.coverage_percent, 1)));
  text("job", run.job + (run.job_step.empty() ? "" : "." + run.job_step));
  text("user", run.user_name);
  text("project", run.project);
  text("cluster", run.cluster);
  text("partition", run.partition_name);
  text("MPI library", run.mpi);
  text("work measured by", counter_words(run.counter));
  text("ended", run.exit_state);
  facts += fact("run", "<code>" + escaped(run.key) + "</code>");
  return "<dl class=\"facts\">\n" + facts + "</dl>\n";
}

std::string slices_section(const RunOfPage& run) {
  const std::vector<SliceRow>& slices = run.slices;
  if (slices.empty()) {
    return section("Along the run", "", "<p>Its slices of time are no longer kept.</p>\n");
  }
  const std::size_t at_once = (slices.size() + most_parts_of_run - 1) / most_parts_of_run;
  std::vector<double> lost((slices.size() + at_once - 1) / at_once, 0.0);
  std::array<double, kinds.size()> by_kind{};
  std::array<double, demands.size()> bytes{};
  for (std::size_t i = 0; i < slices.size(); ++i) {
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      by_kind[k] += slices[i].*kinds[k].seconds;
      lost[i / at_once] += slices[i].*kinds[k].seconds;
    }
    for (std::size_t k = 0; k < demands.size(); ++k) bytes[k] += static_cast<double>(slices[i].*demands[k].bytes);
  }
  double total = 0.0;
  for (const double value : by_kind) total += std::max(value, 0.0);
  std::string rows;
  for (std::size_t k = 0; k < kinds.size(); ++k)
    if (by_kind[k] > 0.0) rows += share_row(std::string(kinds[k].name), seconds(by_kind[k]), by_kind[k], total);
  std::string moved;
  for (std::size_t k = 0; k < demands.size(); ++k) {
    if (bytes[k] > 0.0)
      moved += row_of(std::string(demands[k].name), number_cell(amount(static_cast<std::uint64_t>(bytes[k]), "B")));
  }
  const double length = static_cast<double>(at_once) * static_cast<double>(run.run.run.slice_seconds);
  return section(
      "Along the run", "",
      site_figure::losses_of_run(lost, length, fmt::format("The share of each {} that was lost.", seconds(length))) +
          "<div class=\"tables\">" + (rows.empty() ? "" : share_table("lost in", rows)) +
          (moved.empty() ? "" : share_table("bytes", moved)) + "</div>\n");
}

}  // namespace

std::string run_page(const SiteOnPages& site, const RunOfPage& run) {
  std::string rows;
  double total = 0.0;
  for (const ledger::HostRow& host : run.hosts) total += std::max(host.excess_seconds, 0.0);
  std::vector<ledger::HostRow> hosts = run.hosts;
  std::ranges::stable_sort(hosts, std::greater(), &ledger::HostRow::excess_seconds);
  for (std::size_t i = 0; i < std::min(hosts.size(), most_rows); ++i) {
    const auto known = std::ranges::find(site.history.hosts, ledger::SiteHost{run.run.run.cluster, hosts[i].host});
    const std::string to =
        known == site.history.hosts.end()
            ? std::string()
            : page_in(site.host_pages, static_cast<std::uint32_t>(known - site.history.hosts.begin()), "../");
    rows += share_row(link(to, escaped(hosts[i].host.empty() ? "(no name)" : hosts[i].host)),
                      seconds(hosts[i].excess_seconds), hosts[i].excess_seconds, total);
  }
  const std::string of_all =
      hosts.size() > most_rows ? fmt::format(", the first {} of {}", most_rows, hosts.size()) : "";
  const std::string name = shown_name(run.run);
  const std::string body =
      fmt::format("<h2>{}</h2>\n", escaped(name)) + verdict_section(run.run.run, run.report) +
      facts_of_run(site, run.run) + slices_section(run) +
      section("Hosts", "", share_table("lost while ranks on that host held the others up" + of_all, rows));
  return page(fmt::format("{}: {}", run.run.run.verdict, name), "One run of a site", "../",
              body + command_of("who " + run.run.run.key.substr(0, 8)));
}

}  // namespace halcyon
