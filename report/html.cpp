#include "report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include "analyzer/machine/background.hpp"
#include "libprofile/format/columns.hpp"
#include "report/first_lines.hpp"
#include "report/html_document.hpp"
#include "report/layout.hpp"
#include "report/page_assets.hpp"
#include "report/remedies.hpp"
#include "report/run_figures.hpp"
#include "report/svg.hpp"
#include "report/where_it_went.hpp"
#include "report/words.hpp"

namespace halcyon {

using namespace html;

namespace {

constexpr std::size_t most_ranks_shown = 8;
constexpr std::size_t most_hosts_shown = 8;
constexpr double least_share_on_page = 0.01;  // of the excess
constexpr std::uint64_t fewest_drawn_segments = 2;

std::string verdict_section(const RunOnPage& run) {
  const MethodResult& result = run.analysis.result();
  const FirstAnswers answers = first_answers(run.profile, run.analysis);
  std::string content = verdict_box(name_of(result.verdict), answers[0]);
  if (result.verdict == Verdict::unknown) {
    content += fmt::format("<p class=\"figures\">No verdict: {}. {}</p>\n",
                           svg::escaped(run.analysis.no_verdict->reason.message),
                           svg::escaped(info_of_warning(run.analysis.no_verdict->reason.code).remedy));
  } else {
    content += fmt::format(
        "<div class=\"figures\"><p><b class=\"number\">{} %</b> of the run time {}"
        "<br><span class=\"soft\">90 % interval {} to {} %{}</span></p>\n"
        "<p><b class=\"number\">{}</b> is the estimated undisturbed run time<br><span class=\"soft\">90 % interval {} "
        "to "
        "{}; the run took {}</span></p></div>\n",
        decimal(result.interference_percent, 1), origin_words(result), decimal(result.interval_percent.low, 1),
        decimal(result.interval_percent.high, 1),
        result.may_be_own ? "; what was lost may be the program's own doing" : "",
        seconds(run.analysis.undisturbed_time_seconds()), seconds(run.analysis.undisturbed_interval_seconds().low),
        seconds(run.analysis.undisturbed_interval_seconds().high), seconds(run.analysis.run_time_seconds));
    if (run.analysis.cause) {
      content += fmt::format(
          "<p class=\"cause\"><b>Likely cause:</b> {} <code>{}</code><br><b>What to do:</b> {}</p>\n",
          svg::escaped(run.analysis.cause->text), run.analysis.cause->code, svg::escaped(run.analysis.cause->action));
    }
  }
  content += fmt::format("<p class=\"cause\"><b>Which rank:</b> {}</p>\n", svg::escaped(answers[3]));
  return "<section class=\"top\">\n" + content +
         figure("gauge", light_figure(result), "Each colour has its own scale.") + "</section>\n";
}

std::string facts_section(const RunOnPage& run) {
  const Profile& profile = run.profile;
  const Analysis& analysis = run.analysis;
  const std::vector<std::string> hosts = profile.hosts();
  std::string facts = fact("program", "<code>" + svg::escaped(command_words(profile.command)) + "</code>", "whole");
  if (!profile.label.empty()) facts += fact("label", svg::escaped(profile.label));
  if (!profile.note.empty()) facts += fact("note", svg::escaped(profile.note), "wide");
  facts += fact("ranks", fmt::format("{} on {}", profile.ranks,
                                     hosts.size() == 1 ? svg::escaped(hosts.front()) : plural(hosts.size(), "host")));
  facts += fact("run time", seconds(analysis.run_time_seconds));
  facts += fact("coverage", fmt::format("{:.1f} % of the run time in {}", analysis.coverage_percent,
                                        plural(analysis.judged.size(), "judged group")));
  facts += fact("segments", fmt::format("{}, {:.0f} a second", analysis.segments, analysis.segment_rate_hz));
  if (const std::string unit = unit_words(profile, analysis); !unit.empty()) facts += fact("unit", unit, "wide");
  facts += fact("boundaries", svg::escaped(run.boundaries));
  if (const std::string efficiency = efficiency_words(profile); !efficiency.empty()) {
    facts += fact("parallel efficiency", efficiency, "wide");
  }
  if (const std::string shares = time_shares_words(profile); !shares.empty()) {
    facts += fact("time of all ranks", shares, "wide");
  }
  for (const std::string& rank : slower_ranks_words(profile, analysis.peers)) {
    facts += fact("slow rank", svg::escaped(rank), "wide");
  }
  for (const std::string& rank : more_work_words(profile, analysis.peers)) {
    facts += fact("imbalance", svg::escaped(rank), "wide");
  }
  if (const std::string spent = spent_words(analysis.spent); !spent.empty()) {
    facts += fact("time spent in, by the slowest rank of each segment", spent, "wide");
  }
  facts += fact("work measured by", svg::escaped(counter_words(profile.counter)));
  facts += fact("MPI library", svg::escaped(profile.mpi));
  facts += fact("started", svg::escaped(profile.start_time));
  if (const std::optional<Background> background = background_of(profile)) {
    facts += fact("background", fmt::format("{:.1f} % before, {:.1f} % after", background->before_percent,
                                            background->after_percent));
  }
  if (profile.suspension) facts += fact("suspended", svg::escaped(suspension_words(profile)), "wide");
  if (analysis.known_runs) facts += fact("known runs", known_runs_words(profile), "wide");
  if (const std::string probes = probes_words(analysis); !probes.empty()) facts += fact("machine", probes, "wide");
  if (analysis.injected_percent) {
    facts +=
        fact("injected",
             fmt::format("{:.1f} % by intM <code>{}</code>", *analysis.injected_percent, svg::escaped(profile.inject)),
             "wide");
  }
  return "<dl class=\"facts\">\n" + facts + "</dl>\n";
}

// A share of the excess.
std::string share_row(const std::string& name, double share, double total) {
  return html::share_row(name, seconds(share), share, total);
}

// The first `most` shares, which the breakdown sorts by size, a row each; the others together in one row.
template <class Share, class Name>
std::string share_rows(const std::vector<Share>& shares, std::size_t most, double total, std::string_view noun,
                       Name name) {
  std::string rows;
  double others = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i < most) {
      rows += share_row(svg::escaped(name(shares[i])), shares[i].seconds, total);
    } else {
      others += shares[i].seconds;
    }
  }
  return shares.size() > most ? rows + share_row(plural(shares.size() - most, noun), others, total) : rows;
}

// "A: ": the name that tables and figures give to a group that lost much; empty for the other groups.
std::string letter_of(const Breakdown& breakdown, std::uint32_t group) {
  const auto place = std::find_if(breakdown.groups.begin(), breakdown.groups.end(),
                                  [group](const GroupShare& share) { return share.group == group; });
  if (place == breakdown.groups.end()) return "";
  return std::string(1, static_cast<char>('A' + (place - breakdown.groups.begin()))) + ": ";
}

std::string lost_section(const RunOnPage& run) {
  const Breakdown& breakdown = run.analysis.breakdown;
  const MethodResult& result = run.analysis.result();
  if (result.verdict == Verdict::unknown) return "";
  const double total = breakdown.seconds;
  if (!is_worth_telling(run.analysis)) {
    return section("Where time was lost", "",
                   "<p>Less than 1 % of the run time was lost, which is no more than jitter.</p>\n");
  }
  std::string kinds;
  for (const ExcessKind kind : largest_first(breakdown.kinds)) {
    if (breakdown.kinds[static_cast<std::size_t>(kind)] == 0.0) continue;
    kinds += share_row(std::string(words_of(kind)), breakdown.kinds[static_cast<std::size_t>(kind)], total);
  }
  std::string tables = share_table("by kind of operation", kinds);
  tables += share_table("by the rank that held the others up",
                        share_rows(breakdown.ranks, most_ranks_shown, total, "other rank",
                                   [&](const RankShare& share) { return run.profile.where_it_ran(share.rank); }));
  if (breakdown.hosts.size() > 1) {
    tables += share_table("by that rank's host", share_rows(breakdown.hosts, most_hosts_shown, total, "other host",
                                                            [](const HostShare& share) { return share.host; }));
  }
  std::string groups;
  std::uint64_t others = breakdown.other_groups;
  double others_seconds = breakdown.other_groups_seconds;
  for (const GroupShare& group : breakdown.groups) {
    if (group.seconds < least_share_on_page * total && !groups.empty()) {
      ++others;
      others_seconds += group.seconds;
      continue;
    }
    const std::string name = letter_of(breakdown, group.group);
    groups +=
        share_row(svg::escaped(fmt::format("{}{}, normally {}, ending at {}", name, plural(group.segments, "segment"),
                                           seconds(group.baseline_seconds), site_words(run.profile, group.site))),
                  group.seconds, total);
  }
  if (others > 0) groups += share_row(plural(others, "other group"), others_seconds, total);
  const std::string evidence = evidence_words(run.profile, breakdown);
  const std::string of_hosts = host_evidence_words(run.profile);
  return section(
      "Where time was lost", fmt::format("{} in all. Of the run time: {}.", seconds(total), parts_words(result)),
      "<div class=\"tables\">" + tables + "</div>\n" +
          share_table("by group of like segments", groups, "shares groups") +
          figure("wide", lost_figure(breakdown), "Time lost in each twentieth of the run.") +
          (evidence.empty() ? "" : "<p>The operating system counted: " + svg::escaped(evidence) + ".</p>\n") +
          (of_hosts.empty() ? "" : "<p>On the whole hosts: " + svg::escaped(of_hosts) + ".</p>\n"));
}

// The values of the static figure as arrays for uPlot; only numbers, so that nothing can be mistaken for markup.
std::string timeline_data(const Overview& overview) {
  nlohmann::json begin = nlohmann::json::array();
  nlohmann::json shortest = nlohmann::json::array();
  nlohmann::json longest = nlohmann::json::array();
  nlohmann::json disturbed = nlohmann::json::array();
  const auto rounded = [](double value, int digits) {
    const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(value)));
    return std::round(value * scale) / scale;
  };
  const auto known = [&](float value) {
    return value > 0.0F ? nlohmann::json(rounded(static_cast<double>(value), 4)) : nlohmann::json();
  };
  for (const TimeSlot& slot : overview.slots) {
    begin.push_back(slot.begin_seconds > 0.0 ? rounded(slot.begin_seconds, 7) : 0.0);
    shortest.push_back(known(slot.longest > 0.0F ? slot.shortest : 0.0F));
    longest.push_back(known(slot.longest));
    disturbed.push_back(known(slot.longest_disturbed));
  }
  return nlohmann::json::array({begin, shortest, longest, disturbed}).dump();
}

// As attributes for the figure that zooms: only numbers and our own words.
std::string shaded_data(const std::vector<ShadedPart>& shaded) {
  nlohmann::json data = nlohmann::json::array();
  for (const ShadedPart& part : shaded) data.push_back({part.from_seconds, part.to_seconds, part.kind});
  return svg::escaped(data.dump());
}

// What the shades of the timeline mean, and the sentences.
std::string phases_paragraphs(const Phases& phases, const std::vector<ShadedPart>& shaded) {
  std::string keys;
  for (const auto& [kind, meaning] :
       {std::pair{"startup", "start-up or end"}, {"slower", "slower work"}, {"faster", "faster work"}}) {
    const bool is_shown =
        std::any_of(shaded.begin(), shaded.end(),
                    [kind = std::string_view(kind)](const ShadedPart& part) { return part.kind == kind; });
    if (is_shown) keys += fmt::format("{}<span class=\"key {}\"></span> {}", keys.empty() ? "" : ", ", kind, meaning);
  }
  std::string clauses;
  for (const std::string& clause : phases_words(phases))
    clauses += (clauses.empty() ? "" : "; ") + svg::escaped(clause);
  if (clauses.empty()) return "";
  return fmt::format("<p class=\"phases\">Phases: {}. <span class=\"soft\">{}</span></p>\n", clauses, keys);
}

std::string timeline_section(const RunOnPage& run) {
  if (run.analysis.segments < fewest_drawn_segments) return "";
  const std::optional<Phases>& phases = run.analysis.phases;
  const std::vector<ShadedPart> shaded = phases ? shaded_parts(*phases) : std::vector<ShadedPart>();
  const std::string drawn = timeline_figure(run.overview, shaded);
  if (drawn.empty()) return "";
  const std::string interactive = fmt::format(
      "<div class=\"zoomable\" hidden><div class=\"plot\" role=\"img\" aria-label=\"{}\" data-shaded=\"{}\"></div>\n"
      "<p class=\"soft\">Point at the plot to read values; drag to zoom. "
      "<span class=\"buttons\"><button type=\"button\" value=\"earlier\">Earlier</button> "
      "<button type=\"button\" value=\"later\">Later</button> "
      "<button type=\"button\" value=\"closer\">Closer</button> "
      "<button type=\"button\" value=\"wider\">Wider</button> "
      "<button type=\"button\" value=\"whole\">Whole run</button></span></p>\n"
      "<script type=\"application/json\">{}</script></div>\n",
      timeline_label, shaded_data(shaded), timeline_data(run.overview));
  return section("Segments along the run",
                 "Duration of each segment, at the time when it began. <span class=\"key undisturbed\"></span> "
                 "undisturbed or not judged, <span class=\"key disturbed\"></span> disturbed (longer than the group's "
                 "threshold).",
                 "<div class=\"timeline\">" + interactive + figure("wide static", drawn) + "</div>\n" +
                     (phases ? phases_paragraphs(*phases, shaded) : ""));
}

std::string lateness_section(const RunOnPage& run) {
  if (run.analysis.result().verdict == Verdict::unknown || run.analysis.breakdown.seconds <= 0.0) return "";
  return section("Who held the others up, and when",
                 "Ranks leave a boundary together, so a segment is equally long on all of them. Darker means more time "
                 "lost waiting for this rank.",
                 figure("wide", lateness_figure(run.overview)));
}

std::string histograms_section(const RunOnPage& run) {
  if (run.analysis.segments < fewest_drawn_segments) return "";
  std::string figures = figure("half", durations_figure(run.overview),
                               fmt::format("<b>{} together.</b> Differences may come from different work.",
                                           plural(run.analysis.segments, "segment")));
  const bool is_judged = run.analysis.result().verdict != Verdict::unknown;
  for (const GroupOverview& group : run.overview.groups) {
    figures += figure(
        "half", group_figure(group),
        fmt::format(
            "<b>{}{} ending at <code>{}</code>.</b> Baseline {}{}; {} longer than the threshold of {}; lost {}.",
            is_judged ? letter_of(run.analysis.breakdown, group.judged.group) : "", plural(group.segments, "segment"),
            svg::escaped(site_words(run.profile, group.site)), seconds(group.judged.baseline_seconds),
            group.disturbed == group.segments ? " (estimated: no segment was that short)" : "", group.disturbed,
            seconds(group.judged.threshold_seconds), seconds(group.excess_seconds)));
  }
  return section(
      "How long segments take, together and by group",
      "Segments of a group did the same work and should take the same time. Heights are square roots of counts, so "
      "that a few disturbed segments stay visible.",
      "<div class=\"figures-grid\">" + figures + "</div>\n");
}

std::string_view words_of(Severity severity) {
  return severity == Severity::no_verdict ? "no verdict" : "limits the result";
}

std::string warnings_section(const RunOnPage& run) {
  std::string items;
  for (const Warning& warning : by_severity(run.analysis.warnings)) {
    const WarningInfo& info = info_of_warning(warning.code);
    items += fmt::format("<li><b>{}</b>: {}. {} <code>{}</code></li>\n", words_of(info.severity),
                         svg::escaped(warning.message), svg::escaped(info.remedy), warning.code);
  }
  return items.empty() ? "" : section("Warnings", "", "<ul class=\"warnings\">\n" + items + "</ul>\n");
}

// The command that repeats the run. The profile's `inject` holds intM's SPECs and its seed.
std::string run_command(const RunOnPage& run) {
  std::string seed;
  std::string options;
  std::istringstream specs(run.profile.inject);
  for (std::string word; specs >> word;) {
    if (word.substr(0, 5) == "seed=") {
      seed = "INTM_SEED=" + word.substr(5) + " ";
    } else {
      options += " --inject " + word;
    }
  }
  if (!run.profile.boundary.empty() && run.profile.boundary != "auto") options += " --boundary " + run.profile.boundary;
  if (run.profile.counter != "cpu") options += " --counter " + run.profile.counter;
  return seed + "halcyon run -o " + run.file + options + " -- " + run.profile.command;
}

std::string reproduce_section(const RunOnPage& run) {
  std::string methods;
  for (const MethodResult& method : run.analysis.methods) {
    methods += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{} %</td><td class=\"number\">{} to {} %</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        method.name, decimal(method.interference_percent, 1), decimal(method.interval_percent.low, 1),
        decimal(method.interval_percent.high, 1), name_of(method.verdict),
        method.name != run.analysis.result().name ? ""
        : method.verdict == Verdict::unknown      ? "no verdict"
                                                  : "used for the verdict");
  }
  const std::string commands =
      fmt::format("{}\nhalcyon report {}", svg::escaped(run_command(run)), svg::escaped(run.file));
  return section(
      "How to reproduce", "",
      fmt::format(
          "<pre>{}</pre>\n<div class=\"scroll\"><table class=\"methods\"><caption>The estimate of each "
          "method</caption>\n<thead><tr><th scope=\"col\">method</th><th scope=\"col\" "
          "class=\"number\">interference</th>"
          "<th scope=\"col\" class=\"number\">90 % interval</th><th scope=\"col\">verdict</th><td></td></tr></thead>\n"
          "<tbody>{}</tbody></table></div>\n<p class=\"soft\">Recorded by halcyon {}, reported by halcyon {}.</p>\n",
          commands, methods, svg::escaped(run.profile.recorder_version), HALCYON_VERSION));
}

std::string sections_of(const RunOnPage& run) {
  return verdict_section(run) + facts_section(run) + lost_section(run) + timeline_section(run) + lateness_section(run) +
         histograms_section(run) + warnings_section(run) + reproduce_section(run);
}

std::string side_by_side(const std::vector<RunOnPage>& runs, const std::vector<std::size_t>& order) {
  std::vector<RunOnFigure> bars;
  std::string rows;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const RunOnPage& run = runs[order[place]];
    const MethodResult& result = run.analysis.result();
    const std::string number = std::to_string(place + 1);
    bars.push_back({number, run.analysis.run_time_seconds, result});
    const bool is_judged = result.verdict != Verdict::unknown;
    rows += fmt::format(
        "<tr><th scope=\"row\"><a href=\"#run{0}\">{0}</a></th><td>{1}</td><td>{2}</td>"
        "<td class=\"number\">{3}</td><td class=\"number\">{4}</td><td class=\"number\">{5}</td></tr>\n",
        number, svg::escaped(run.file), verdict_tag(name_of(result.verdict)),
        is_judged ? fmt::format("{:.1f} %", result.interference_percent) : "–", seconds(run.analysis.run_time_seconds),
        is_judged ? seconds(run.analysis.undisturbed_time_seconds()) : "–");
  }
  return section(fmt::format("{} runs, slowest first", runs.size()), "",
                 figure("wide", side_by_side_figure(bars)) +
                     "<div class=\"scroll\"><table class=\"runs\">\n<thead><tr><th scope=\"col\">run</th><th "
                     "scope=\"col\">profile</th><th scope=\"col\">verdict</th><th scope=\"col\" "
                     "class=\"number\">interference</th><th "
                     "scope=\"col\" class=\"number\">run time</th><th scope=\"col\" "
                     "class=\"number\">undisturbed</th></tr></thead>\n<tbody>" +
                     rows + "</tbody></table></div>\n",
                 "h2");
}

}  // namespace

RunOnPage on_page(const std::string& file, Profile profile, const Grouping& grouping, Analysis analysis) {
  Overview overview = overview_of(profile, grouping, analysis);
  const std::string boundaries = boundary_words(profile);
  for_each_segment_column(profile, [](const Column&, auto& values) { values = {}; });
  for (FeatureColumn& feature : profile.features) feature.bins = {};
  analysis.excess = {};
  return {file, boundaries, std::move(profile), std::move(analysis), std::move(overview)};
}

std::string report_html(const std::vector<RunOnPage>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&runs](std::size_t a, std::size_t b) {
    return runs[a].analysis.run_time_seconds > runs[b].analysis.run_time_seconds;
  });
  std::string body;
  if (runs.size() > 1) body += side_by_side(runs, order);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const RunOnPage& run = runs[order[place]];
    const std::string name = svg::escaped(std::filesystem::path(run.file).filename().string());
    body += fmt::format("<article id=\"run{}\">\n<h2>{}{}</h2>\n{}</article>\n", place + 1,
                        runs.size() > 1 ? fmt::format("Run {}: ", place + 1) : "", name, sections_of(run));
  }
  const std::string title = runs.size() > 1 ? plural(runs.size(), "run")
                                            : fmt::format("{}: {}", name_of(runs.front().analysis.result().verdict),
                                                          svg::escaped(runs.front().file));
  return html_page({.title = title,
                    .subtitle = "How much of the time came from outside",
                    .body = std::move(body),
                    .more_style = page_assets::uplot_css,
                    .script = fmt::format("{}\n{}", page_assets::uplot_js, page_assets::timeline_js)});
}

}  // namespace halcyon
