#include "report/where_it_went.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

constexpr double least_told_percent = 1.0;  // of the run time: a smaller excess is not larger than jitter
constexpr std::size_t most_ranks_told = 3;
constexpr std::size_t most_hosts_told = 3;
constexpr std::size_t most_groups_shown = 3;
constexpr double least_share_in_text = 0.05;  // of the excess

class Shares {
 public:
  explicit Shares(double total) : total_(total) {}

  /// Leaves out what rounds to 0 %, and what was gained. Where some gained, another lost more than all together.
  void add(const std::string& name, double share) {
    const double percent = std::min(100.0, 100.0 * share / total_);
    if (percent < 0.5) return;
    text_ += fmt::format("{}{} {:.0f} %", text_.empty() ? "" : ", ", name, percent);
  }
  const std::string& text() const { return text_; }

 private:
  double total_;
  std::string text_;
};

std::string by_kind(const Breakdown& breakdown) {
  Shares shares(breakdown.seconds);
  for (const ExcessKind kind : largest_first(breakdown.kinds)) {
    shares.add(std::string(words_of(kind)), breakdown.kinds[static_cast<std::size_t>(kind)]);
  }
  return shares.text();
}

std::string by_host(const Breakdown& breakdown) {
  Shares shares(breakdown.seconds);
  for (std::size_t i = 0; i < std::min(breakdown.hosts.size(), most_hosts_told); ++i) {
    shares.add(breakdown.hosts[i].host, breakdown.hosts[i].seconds);
  }
  return shares.text();
}

// One bar per window, as high as its excess.
std::string over_time(const Breakdown& breakdown) {
  constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = *std::max_element(breakdown.windows.begin(), breakdown.windows.end());
  std::string line;
  for (const double window : breakdown.windows) {
    const double height = most > 0.0 ? std::clamp(window / most, 0.0, 1.0) : 0.0;
    line += blocks[static_cast<std::size_t>(std::lround(height * static_cast<double>(blocks.size() - 1)))];
  }
  return fmt::format("{}  a bar per {}, highest {}", line, seconds(breakdown.window_seconds), seconds(most));
}

// The groups with the largest excess first: share, number of segments and normal duration, in columns.
std::string by_group(const Profile& profile, const Breakdown& breakdown) {
  struct Columns {
    std::string percent;
    std::string count;
    std::string duration;
    std::string site;
  };
  std::vector<Columns> rows;
  std::size_t count_width = 0;
  std::size_t duration_width = 0;
  for (const GroupShare& group : breakdown.groups) {
    if (rows.size() == most_groups_shown) break;
    if (!rows.empty() && group.seconds < least_share_in_text * breakdown.seconds) break;
    rows.push_back({fmt::format("{:.0f} %", 100.0 * group.seconds / breakdown.seconds), std::to_string(group.segments),
                    seconds(group.baseline_seconds), site_words(profile, group.site)});
    count_width = std::max(count_width, rows.back().count.size());
    duration_width = std::max(duration_width, columns_of(rows.back().duration));
  }
  std::string text;
  for (const Columns& row : rows) {
    text +=
        wrapped(text.empty() ? "  segments" : "", fmt::format("{:>{}}  {:>{}} segments, normally {:>{}}, ending at {}",
                                                              row.percent, rows.front().percent.size(), row.count,
                                                              count_width, row.duration, duration_width, row.site));
  }
  return text;
}

}  // namespace

bool is_worth_telling(const Analysis& analysis) {
  return analysis.result().interference_percent >= least_told_percent && analysis.breakdown.seconds > 0.0;
}

std::string rank_shares_words(const Profile& profile, const Breakdown& breakdown) {
  Shares shares(breakdown.seconds);
  // The name of one more rank takes no more room than "1 other rank".
  const std::size_t all = breakdown.ranks.size();
  const std::size_t told = all <= most_ranks_told + 1 ? all : most_ranks_told;
  double others = 0.0;
  for (std::size_t i = 0; i < all; ++i) {
    const RankShare& share = breakdown.ranks[i];
    if (i < told) {
      shares.add(name_of_rank(profile, share.rank), share.seconds);
    } else {
      others += share.seconds;
    }
  }
  shares.add(plural(all - told, "other rank"), others);
  return shares.text();
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
  const Breakdown& breakdown = analysis.breakdown;
  if (analysis.result().verdict == Verdict::unknown || !is_worth_telling(analysis)) return {};
  std::string text = wrapped("where it went", seconds(breakdown.seconds));
  text += wrapped("  by kind", by_kind(breakdown));
  text += wrapped("  held up by", rank_shares_words(profile, breakdown));
  if (profile.hosts().size() > 1) text += wrapped("  by host", by_host(breakdown));
  text += wrapped("  over time", over_time(breakdown));
  text += by_group(profile, breakdown);
  const std::string evidence = evidence_words(profile, breakdown);
  if (!evidence.empty()) text += wrapped("  evidence", evidence);
  const std::string of_hosts = host_evidence_words(profile);
  if (!of_hosts.empty()) text += wrapped("  whole host", of_hosts);
  return text;
}

}  // namespace halcyon
