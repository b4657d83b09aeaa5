// A condition on a running job, such as "interference > 30% for 60s", and whether it has held for long enough.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/watch/watched_job.hpp"

namespace halcyon {

/// `interference`: of the run so far, in percent. `rate`: progress now, in percent of the usual. `standstill`: seconds
/// since the last boundary.
enum class Watched : std::uint8_t { interference, rate, standstill };
inline constexpr std::array<std::string_view, 3> watched_names{"interference", "rate", "standstill"};

struct Condition {
  Watched watched = Watched::interference;
  bool is_above = true;      // the value must be above the limit; otherwise below
  double limit = 0.0;        // percent, or s
  double for_seconds = 0.0;  // without a break

  /// The interference is above a limit only if its whole 90 % interval is, and below only if the whole interval is. An
  /// unknown value is neither.
  bool holds(const JobView& view) const;
};

/// "interference > 30 % for 60 s"
std::string text_of(const Condition& condition);
/// "interference 34.2 % (31.0 to 40.5)", "rate 61 %", "standstill 12 s"
std::string value_text(Watched watched, const JobView& view);

class ConditionWatch {
 public:
  explicit ConditionWatch(const Condition& condition) : condition_(condition) {}

  /// True once: at the first look at which the condition has held for long enough.
  bool look(const JobView& view);
  const Condition& condition() const { return condition_; }

 private:
  Condition condition_;
  std::optional<double> since_;  // elapsed seconds
  bool is_told_ = false;
};

}  // namespace halcyon
