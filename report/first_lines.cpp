#include "report/first_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/attribution/lost_time.hpp"
#include "analyzer/evidence/witnessed.hpp"
#include "libprofile/system/shell_word.hpp"
#include "report/remedies.hpp"
#include "report/where_it_went.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

bool is_composed(const Profile& profile) { return !profile.composed_of.empty(); }
bool is_quotable(const Profile& profile, const Analysis& analysis) {
  return is_whole(profile) && analysis.result().verdict == Verdict::green;
}

std::string quote_words(const Profile& profile, const Analysis& analysis) {
  const MethodResult& result = analysis.result();
  // How much of it is the program's own, an estimate does not know.
  const std::string percent = result.may_be_own ? fmt::format("between {:.1f} and {:.1f} %",
                                                              result.interval_percent.low, result.interval_percent.high)
                                                : with_interval(result);
  const std::string lost = result.verdict == Verdict::unknown ? headline(analysis.no_verdict->reason.message)
                                                              : percent + " came from outside";
  if (is_composed(profile)) return "do not quote it: it is composed of several runs, not measured";
  if (!is_whole(profile)) return "do not quote it: the run did not come to its end; " + lost;
  switch (result.verdict) {
    case Verdict::green: return "quote it: " + lost;
    case Verdict::yellow: return "better not quote it: " + lost;
    case Verdict::red: return "do not quote it: " + lost;
    case Verdict::unknown: break;
  }
  return "do not quote it yet: " + lost;
}

std::string time_words(const Profile& profile, const Analysis& analysis) {
  const std::string ran = "ran " + seconds(analysis.run_time_seconds);
  if (is_composed(profile)) return fmt::format("undisturbed {}", seconds(analysis.run_time_seconds));
  if (!analysis.has_estimate()) return ran + "; undisturbed: not known";
  const std::string known = analysis.known_runs ? "; " + known_runs_words(profile, InShort::yes) : "";
  if (analysis.no_verdict || analysis.result().may_be_own) {
    const Interval interval = analysis.undisturbed_interval_seconds();
    const Unit unit = unit_of(analysis.run_time_seconds);
    return fmt::format("{}; undisturbed between {:.{}f} and {:.{}f} {}{}", ran, interval.low / unit.seconds,
                       unit.digits, interval.high / unit.seconds, unit.digits, unit.name, known);
  }
  return fmt::format("{}; undisturbed {}{}", ran, undisturbed_words(analysis), known);
}

std::string cause_words(const Profile& profile, const Analysis& analysis) {
  if (const std::optional<Cause>& cause = analysis.cause) {
    const std::string who = cause->code == "other-processes" ? who_had_the_cpus(profile) : "";
    return headline(cause->text) + (who.empty() ? "" : ": " + who) +
           (analysis.result().may_be_own ? "; some of it may be the program's own" : "");
  }
  if (const std::string crowded = crowded_words(analysis); !crowded.empty()) {
    return "nothing from outside stands out; the program's own: " + headline(crowded);
  }
  if (!analysis.peers.more_work.empty()) {
    const bool is_own = analysis.peers.more_work.front().whose == Whose::program;
    return std::string(analysis.no_verdict ? "not known" : "nothing from outside stands out") +
           (is_own ? "; the program's own: unequal work of its ranks"
                   : "; unequal work of the ranks, or a slower core");
  }
  if (analysis.no_verdict) return "not known";
  return "nothing stands out";
}

// Whether no rank lost much more than another, so that their order is chance.
bool are_alike(const Profile& profile, const Breakdown& breakdown) {
  const std::vector<RankShare>& ranks = breakdown.ranks;
  return ranks.size() > 1 && ranks.size() == static_cast<std::size_t>(profile.ranks) &&
         ranks.back().seconds > nearly_all * ranks.front().seconds;
}

std::string rank_words(const Profile& profile, const Analysis& analysis) {
  std::string words;
  // Without a cause, what was lost is little, and unequal work may matter more.
  if (analysis.cause && is_worth_telling(analysis)) {
    words = are_alike(profile, analysis.breakdown) ? "all alike: " : "";
    words += rank_shares_words(profile, analysis.breakdown) + " of what was lost";
  }
  if (const std::string unequal = unequal_rank_words(profile, analysis.peers); !unequal.empty()) {
    words += (words.empty() ? "" : "; ") + unequal;
  }
  if (!words.empty()) return words;
  return analysis.no_verdict ? "not known" : "none stands out";
}

std::string first_sentence(std::string_view text) {
  std::string sentence(text.substr(0, std::min(text.find(". "), text.find_last_not_of('.') + 1)));
  if (sentence.size() > 1 && sentence[0] >= 'A' && sentence[0] <= 'Z' && sentence[1] >= 'a') sentence[0] += 'a' - 'A';
  return sentence;
}

std::string next_words(const Profile& profile, const Analysis& analysis) {
  if (!is_whole(profile)) return "look for the reason in the program's own output";
  if (analysis.no_verdict) return first_sentence(info_of_warning(analysis.no_verdict->reason.code).remedy);
  if (is_quotable(profile, analysis)) return "quote its time";
  return analysis.cause ? first_sentence(analysis.cause->action) : "measure again";
}

}  // namespace

bool is_whole(const Profile& profile) { return is_composed(profile) || profile.exit_state == "finalized"; }

std::string headline(std::string_view message) { return std::string(message.substr(0, message.find(": "))); }

FirstAnswers first_answers(const Profile& profile, const Analysis& analysis) {
  return {quote_words(profile, analysis), time_words(profile, analysis), cause_words(profile, analysis),
          rank_words(profile, analysis), next_words(profile, analysis)};
}

NextCommand next_command(const std::string& file, const Profile& profile, const Analysis& analysis, ReadIn where) {
  const std::string report = "halcyon report " + typed_word(file);
  if (is_quotable(profile, analysis)) return {"; a sentence for it:", report + " --quote text"};
  if (where == ReadIn::run) return {"; details:", report};
  if (!is_whole(profile)) return {"; more:", "halcyon help incomplete-run"};
  if (analysis.no_verdict && analysis.no_verdict->is_comparable && !is_composed(profile)) {
    return {":", "halcyon repeat -- mpirun ..."};
  }
  if (analysis.no_verdict) return {"; more:", "halcyon help " + analysis.no_verdict->reason.code};
  return {"; more:", fmt::format("halcyon help {}", analysis.cause ? analysis.cause->code : "report")};
}

}  // namespace halcyon
