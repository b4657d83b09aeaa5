#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "analyzer/machine/background.hpp"
#include "report/first_lines.hpp"
#include "report/layout.hpp"
#include "report/remedies.hpp"
#include "report/where_it_went.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

constexpr double least_split_percent = 1.0;  // with less interference, its parts are not shown

struct Style {
  std::string_view on;
  std::string_view off;
};

Style style_of(Verdict verdict, Colour colour) {
  if (colour == Colour::never) return {"", ""};
  switch (verdict) {
    case Verdict::green: return {"\x1b[1;32m", "\x1b[0m"};
    case Verdict::yellow: return {"\x1b[1;33m", "\x1b[0m"};
    case Verdict::red: return {"\x1b[1;31m", "\x1b[0m"};
    case Verdict::unknown: break;
  }
  return {"\x1b[1m", "\x1b[0m"};
}

std::string upper(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

constexpr std::string_view of_run = "halcyon: ";
constexpr std::size_t short_label_width = 9;

// A command stays in one piece, so that it can be copied.
std::string with_command(std::string lines, std::size_t indent, const std::string& command) {
  lines.pop_back();  // the end of the last one
  const std::size_t used = columns_of(std::string_view(lines).substr(lines.rfind('\n') + 1));
  const bool has_room = used + 1 + columns_of(command) <= page_width;
  return lines + (has_room ? " " : fmt::format("\n{:{}}", "", indent)) + command + "\n";
}

// As wide in a report as at the end of a run, so that the lines are the same. Colour codes take no room: they are put
// in after lines are filled.
std::string first_lines(const std::string& file, const Profile& profile, const Analysis& analysis, Colour colour,
                        ReadIn where) {
  const std::string verdict = upper(name_of(analysis.result().verdict));
  const std::array<std::string_view, 5> labels{verdict, "time", "cause", "rank", "next"};
  FirstAnswers answers = first_answers(profile, analysis);
  const NextCommand next = next_command(file, profile, analysis, where);
  answers.back() += next.lead;
  constexpr std::size_t indent = of_run.size() + short_label_width;
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text += filled(fmt::format("{}{:<{}}", of_run, labels[i], short_label_width), indent, answers[i]);
  }
  text = with_command(std::move(text), indent, next.words);
  std::size_t at = of_run.size();
  if (where == ReadIn::report) {
    for (at = 0; at < text.size(); at = text.find('\n', at) + 1) text.erase(at, of_run.size());
    at = 0;
  }
  const Style style = style_of(analysis.result().verdict, colour);
  return text.insert(at + verdict.size(), style.off).insert(at, style.on);
}

}  // namespace

std::string closing_lines(const std::string& file, const Profile& profile, const Analysis& analysis, Colour colour) {
  return first_lines(file, profile, analysis, colour, ReadIn::run);
}

// What of the run could be judged, and how.
std::string covered_words(const Analysis& analysis) {
  constexpr double told_percent = 0.5;
  const double accounted = analysis.accounted_percent;
  const double repeats = analysis.coverage_percent - accounted;
  if (accounted < told_percent) return fmt::format("the {:.1f} % of the run time that repeats", repeats);
  const std::string counted = fmt::format("what the kernel counted in {:.1f} %", accounted);
  if (repeats < told_percent) return counted + " of the run time: nothing repeats";
  return fmt::format("the {:.1f} % of the run time that repeats, and {}", repeats, counted);
}

// How far the number can be trusted, in short; the details follow further down in the report.
std::string basis_words(const Profile& profile, const Analysis& analysis) {
  std::string words = fmt::format("{}; work measured by {}", covered_words(analysis),
                                  profile.counter == "cpu"    ? "CPU time, which also grows on a slower machine"
                                  : profile.counter == "none" ? "no counter"
                                                              : "a hardware counter");
  if (analysis.known_runs) words += fmt::format("; {}", plural(analysis.known_runs->runs, "known run"));
  if (!analysis.warnings.empty()) words += fmt::format("; {} below", plural(analysis.warnings.size(), "warning"));
  return words;
}

std::string report_text(const std::string& file, const Profile& profile, const Analysis& analysis, Colour colour) {
  const MethodResult& result = analysis.result();
  std::string text = first_lines(file, profile, analysis, colour, ReadIn::report) + "\n";
  if (result.verdict == Verdict::unknown) {
    text += wrapped("why", analysis.no_verdict->reason.message + " [" + analysis.no_verdict->reason.code + "]");
    const bool has_ended_early = profile.composed_of.empty() && profile.exit_state != "finalized";
    text += wrapped("what to do", has_ended_early
                                      ? fmt::format("The program did not come to its end ({}): look for the reason in "
                                                    "its own output first.",
                                                    profile.exit_state)
                                      : std::string(info_of_warning(analysis.no_verdict->reason.code).remedy));
    // The evidence is about the whole run: without a verdict, no lost time is known.
    const auto wrapped_if_any = [](std::string_view label, const std::string& content) {
      return content.empty() ? std::string() : wrapped(label, content);
    };
    text += wrapped_if_any("evidence", evidence_words(profile, Breakdown{}));
    text += wrapped_if_any("whole host", host_evidence_words(profile));
  } else {
    text += wrapped("interference", fmt::format("{}{}; all intervals are 90 % intervals", with_interval(result),
                                                result.may_be_own ? ", which may be the program's own doing" : ""));
    if (result.interference_percent >= least_split_percent) {
      text += wrapped("", parts_words(result));
    }
    if (analysis.cause) {
      text += wrapped("likely cause", fmt::format("{} [{}]", analysis.cause->text, analysis.cause->code));
      text += wrapped("what to do", std::string(analysis.cause->action));
    }
    if (const std::string crowded = crowded_words(analysis); !crowded.empty()) text += wrapped("the program", crowded);
    text += wrapped("based on", basis_words(profile, analysis));
  }
  const auto lines = [](std::string_view label, const std::vector<std::string>& content) {
    std::string all;
    for (const std::string& line : content) all += wrapped(std::exchange(label, ""), line);
    return all;
  };
  text += lines("slow rank", slower_ranks_words(profile, analysis.peers));
  text += lines("imbalance", more_work_words(profile, analysis.peers));
  if (const std::string went = where_it_went_text(profile, analysis); !went.empty()) text += "\n" + went;
  text += "\n" + wrapped("program", command_words(profile.command));
  const std::vector<std::string> hosts = profile.hosts();
  const std::string where = hosts.size() == 1 ? hosts.front() : plural(hosts.size(), "host");
  text += wrapped("ranks", fmt::format("{} on {}, {}", profile.ranks, where, profile.mpi));
  text += wrapped("started", profile.start_time);
  if (profile.suspension) text += wrapped("suspended", suspension_words(profile));
  if (const std::string unit = unit_words(profile, analysis); !unit.empty()) text += wrapped("unit", unit);
  text += fmt::format("  {:<{}}{} ({:.0f} a second) in {} of {}\n", "segments", label_width, analysis.segments,
                      analysis.segment_rate_hz, plural(analysis.groups, "group"), plural(analysis.clusters, "cluster"));
  text +=
      fmt::format("  {:<{}}{:.1f} % of the run time, {} in {}\n", "coverage", label_width, analysis.coverage_percent,
                  plural(analysis.judged_segments, "segment"), plural(analysis.judged.size(), "judged group"));
  if (analysis.phases) text += lines("phases", phases_words(*analysis.phases));
  text += wrapped("boundaries", boundary_words(profile));
  if (const std::string efficiency = efficiency_words(profile); !efficiency.empty()) {
    text += wrapped("efficiency", efficiency);
  }
  if (const std::string shares = time_shares_words(profile); !shares.empty()) text += wrapped("time of ranks", shares);
  if (const std::string spent = spent_words(analysis.spent); !spent.empty()) {
    text += wrapped("time spent in", spent + ", by the slowest rank of each segment");
  }
  text += wrapped("work measured by", counter_words(profile.counter));
  if (const std::optional<Background> background = background_of(profile)) {
    text +=
        wrapped("background", fmt::format("a fixed loop lost {:.1f} % of its time on the ranks' cores before the run, "
                                          "and {:.1f} % after it",
                                          background->before_percent, background->after_percent));
  }
  if (analysis.known_runs) text += wrapped("known runs", known_runs_words(profile));
  if (const std::string probes = probes_words(analysis); !probes.empty()) text += wrapped("machine", probes);
  if (analysis.injected_percent) {
    text += wrapped("injected",
                    fmt::format("{:.1f} % of the run time, by intM ({})", *analysis.injected_percent, profile.inject));
  }
  text += "\n";
  // Without judged segments, the methods have no numbers to show.
  for (const MethodResult& method : analysis.methods) {
    if (!analysis.has_estimate()) break;
    text += fmt::format("  {:<{}}{:<{}}{:5.1f} %{}\n", &method == &analysis.methods.front() ? "methods" : "",
                        label_width, method.name, 8, method.interference_percent,
                        method.name != result.name           ? ""
                        : result.verdict == Verdict::unknown ? "  (no verdict)"
                                                             : "  (used for the verdict)");
  }
  for (const Warning& warning : analysis.warnings) {
    if (analysis.no_verdict && warning.code == analysis.no_verdict->reason.code) continue;  // already at the top
    text += wrapped("warning", warning.message + " [" + warning.code + "]");
  }
  return text + fmt::format("  {:<{}}{}\n", "profile", label_width, briefly(file));
}

SummaryRow summary_row(const std::string& file, const Analysis& analysis) {
  return {.file = briefly(file),
          .verdict = analysis.result().verdict,
          .interference_percent = analysis.result().interference_percent,
          .may_be_own = analysis.result().may_be_own,
          .run_time_seconds = analysis.run_time_seconds,
          .undisturbed_time_seconds = analysis.undisturbed_time_seconds(),
          .undisturbed = undisturbed_words(analysis)};
}

std::string summary_text(const std::vector<SummaryRow>& runs) {
  constexpr std::size_t most_name = 16;  // a longer one has a line of its own
  std::size_t width = std::string_view("profile").size();
  for (const SummaryRow& run : runs) width = std::max(width, std::min(columns_of(run.file), most_name));
  std::string text = fmt::format("{:<{}}  {:<7}  {:>7}  {:>9}  {}\n", "profile", width, "verdict", "outside", "ran",
                                 "undisturbed (90 % interval)");
  std::vector<double> undisturbed;
  for (const SummaryRow& run : runs) {
    const std::size_t columns = columns_of(run.file);
    text += run.file + (columns > width ? "\n" + std::string(width, ' ') : std::string(width - columns, ' '));
    text += fmt::format("  {:<7}  ", name_of(run.verdict));
    if (run.verdict == Verdict::unknown) {
      text += fmt::format("{:>7}  {:>9}\n", "–", seconds(run.run_time_seconds));
      continue;
    }
    text += fmt::format("{:>5.1f} %{} {:>9}  {}\n", run.interference_percent, run.may_be_own ? "?" : " ",
                        seconds(run.run_time_seconds), run.undisturbed);
    undisturbed.push_back(run.undisturbed_time_seconds);
  }
  const bool is_any_own = std::ranges::any_of(runs, [](const SummaryRow& run) { return run.may_be_own; });
  if (is_any_own) text += "?: what was lost may be the program's own doing\n";
  text += fmt::format("{} of {} judged", undisturbed.size(), plural(runs.size(), "run"));
  if (undisturbed.empty()) return text + "\n";
  const auto [least, most] = std::minmax_element(undisturbed.begin(), undisturbed.end());
  constexpr double apart = 1.1;
  text += fmt::format("; undisturbed times from {} to {}\n", seconds(*least), seconds(*most));
  if (*most > apart * *least)
    text += "If the runs did the same work, one of these times is wrong: they differ too much.\n";
  return text;
}

std::string info_text(const std::string& file, const Profile& profile) {
  std::string text = briefly(file) + "\n";
  const auto line = [&text](std::string_view label, std::string_view content) { text += wrapped(label, content); };
  line("program", command_words(profile.command));
  if (!profile.label.empty()) line("label", profile.label);
  if (!profile.note.empty()) line("note", profile.note);
  line("ranks", ranks_and_hosts_words(profile));
  line("MPI", profile.mpi);
  line("started", profile.start_time);
  if (const std::string job = job_words(profile); !job.empty()) line("job", job);
  line("ended", profile.exit_state + (profile.incomplete.empty() ? "" : "; " + profile.incomplete));
  if (!profile.composed_of.empty()) line("composed of", fmt::format("{}", fmt::join(profile.composed_of, ", ")));
  line("run time", seconds(profile.run_time_seconds));
  if (profile.suspension) line("suspended", suspension_words(profile));
  if (const std::string efficiency = efficiency_words(profile); !efficiency.empty()) line("efficiency", efficiency);
  if (const std::string shares = time_shares_words(profile); !shares.empty()) line("time of ranks", shares);
  line("segments", std::to_string(profile.segments));
  line("boundaries", boundary_words(profile));
  line("counter", counter_words(profile.counter));
  line("clock", fmt::format("{}, steps of {:.2g} ns", profile.clock, profile.clock_resolution_seconds * 1e9));
  line("schema", fmt::format("version {}, written by halcyon {}", profile.schema_version, profile.recorder_version));
  if (!profile.inject.empty()) line("injected", profile.inject);
  if (!profile.disagreement.empty()) line("disagreement", profile.disagreement);
  text += fmt::format("\n  {:<24}{:>16}{:>18}{:>18}\n", "totals", "all ranks", "least of a rank", "most of a rank");
  for (const FeatureInfo& info : features) {
    std::vector<std::uint64_t> column;  // of the ranks that were recorded
    for (std::size_t rank = 0; rank < profile.totals[index_of(info.feature)].size(); ++rank) {
      if (!profile.left_nothing(rank)) column.push_back(profile.totals[index_of(info.feature)][rank]);
    }
    if (column.empty()) continue;
    const auto [least, most] = std::minmax_element(column.begin(), column.end());
    text += fmt::format("  {:<24}{:>16}{:>18}{:>18}\n", info.name,
                        amount(std::accumulate(column.begin(), column.end(), std::uint64_t{0}), info.units),
                        amount(*least, info.units), amount(*most, info.units));
  }
  return text;
}

}  // namespace halcyon
