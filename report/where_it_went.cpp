#include "report/where_it_went.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

constexpr double least_told_percent = 1.0;  // of the run time: below, jitter is as large as what is told
constexpr std::size_t most_ranks_told = 3;
constexpr std::size_t most_hosts_told = 3;
constexpr std::size_t most_groups_shown = 3;
constexpr double least_group_share = 0.05;  // of the excess

class Shares {
 public:
  explicit Shares(double total) : total_(total) {}

  /// What rounds to nothing is not told.
  void add(const std::string& name, double share) {
    const double percent = 100.0 * share / total_;
    if (std::abs(percent) < 0.5) return;
    text_ += fmt::format("{}{} {:.0f} %", text_.empty() ? "" : ", ", name, percent);
  }
  const std::string& text() const { return text_; }

 private:
  double total_;
  std::string text_;
};

std::string by_kind(const Attribution& attribution) {
  Shares shares(attribution.seconds);
  for (const ExcessKind kind : largest_first(attribution.kinds)) {
    shares.add(std::string(words_of(kind)), attribution.kinds[static_cast<std::size_t>(kind)]);
  }
  return shares.text();
}

std::string by_rank(const Profile& profile, const Attribution& attribution) {
  Shares shares(attribution.seconds);
  const std::size_t told = std::min(attribution.ranks.size(), most_ranks_told);
  double others = 0.0;
  for (std::size_t i = 0; i < attribution.ranks.size(); ++i) {
    const RankShare& share = attribution.ranks[i];
    if (i < told) {
      shares.add(fmt::format("{} on {}", share.rank, profile.rank_host[share.rank]), share.seconds);
    } else {
      others += share.seconds;
    }
  }
  shares.add(plural(attribution.ranks.size() - told, "other"), others);
  return shares.text();
}

std::string by_host(const Attribution& attribution) {
  Shares shares(attribution.seconds);
  for (std::size_t i = 0; i < std::min(attribution.hosts.size(), most_hosts_told); ++i) {
    shares.add(attribution.hosts[i].host, attribution.hosts[i].seconds);
  }
  return shares.text();
}

// A block for each window, as high as its excess.
std::string over_time(const Attribution& attribution) {
  constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = *std::max_element(attribution.windows.begin(), attribution.windows.end());
  std::string line;
  for (const double window : attribution.windows) {
    const double height = most > 0.0 ? std::clamp(window / most, 0.0, 1.0) : 0.0;
    line += blocks[static_cast<std::size_t>(std::lround(height * static_cast<double>(blocks.size() - 1)))];
  }
  return fmt::format("{}  each {}, highest {}", line, seconds(attribution.window_seconds), seconds(most));
}

std::string of_group(const GroupShare& group, double total) {
  return fmt::format("{:.0f} % in {} of {} to {}", 100.0 * group.seconds / total, plural(group.segments, "segment"),
                     seconds(group.baseline_seconds), group.site);
}

}  // namespace

bool is_worth_telling(const Analysis& analysis) {
  return analysis.result().interference_percent >= least_told_percent && analysis.attribution.seconds > 0.0;
}

std::array<ExcessKind, excess_kind_count> largest_first(const SecondsByKind& seconds) {
  std::array<ExcessKind, excess_kind_count> order{};
  for (std::size_t kind = 0; kind < excess_kind_count; ++kind) order[kind] = static_cast<ExcessKind>(kind);
  std::stable_sort(order.begin(), order.end(), [&seconds](ExcessKind a, ExcessKind b) {
    return seconds[static_cast<std::size_t>(a)] > seconds[static_cast<std::size_t>(b)];
  });
  return order;
}

std::string where_it_went_text(const Profile& profile, const Analysis& analysis) {
  const Attribution& attribution = analysis.attribution;
  if (analysis.result().verdict == Verdict::unknown || !is_worth_telling(analysis)) return {};
  std::string text = wrapped("where it went", seconds(attribution.seconds) + ": " + by_kind(attribution));
  text += wrapped("  held up by rank", by_rank(profile, attribution));
  if (profile.hosts().size() > 1) text += wrapped("  host", by_host(attribution));
  text += wrapped("  over time", over_time(attribution));
  for (std::size_t i = 0; i < std::min(attribution.groups.size(), most_groups_shown); ++i) {
    const GroupShare& group = attribution.groups[i];
    if (i > 0 && group.seconds < least_group_share * attribution.seconds) break;
    text += wrapped(i == 0 ? "  groups" : "", of_group(group, attribution.seconds));
  }
  const std::string evidence = evidence_words(profile, attribution);
  return evidence.empty() ? text : text + wrapped("  evidence", evidence);
}

}  // namespace halcyon
