// The search for the largest or least load whose response still meets a limit: given the runs made so far, which load
// is tried next, or what the answer is. After the workbench paper (trials.hpp), sections 3.3 to 3.7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/search/limit.hpp"
#include "analyzer/search/trials.hpp"

namespace halcyon {

/// `largest`: small loads meet the limit. `least`: large loads meet it, such as amounts of a resource.
enum class Aim : std::uint8_t { largest, least };
std::string_view name_of(Aim aim);

/// How the next load is chosen. While the limit is on one side of all loads tried, `linear` continues with a fixed
/// step, and `binary` doubles or halves the load. Between a load that meets the limit and one that does not, both take
/// the middle. `model` draws a curve through two loads and takes the load where it crosses the limit.
enum class LoadPick : std::uint8_t { linear, binary, model };
std::string_view name_of(LoadPick pick);

/// The curve of `model`. `queue`: R = 1 / (a - b load), as the paper has it. `power`: R = a load^b, as the time of a
/// program usually depends on its size or its ranks.
enum class LoadModel : std::uint8_t { queue, power };

struct SearchRequest {
  Interval range;            // of loads
  bool whole_loads = true;   // only whole numbers are loads
  std::optional<Aim> aim{};  // nothing: decided by the responses
  ResponseLimit limit{};
  double accuracy = 0.90;       // of the response at the answer
  double confidence = 0.95;     // of the interval that the accuracy is taken from
  double region_inside = 0.10;  // a response may be better than the limit by this share of it
  double region_beyond = 0.0;   // and worse by this share; the paper has 0.1 for both
  LoadPick pick = LoadPick::binary;
  LoadModel model = LoadModel::power;
  std::optional<double> start{};  // the load that is tried first; nothing: the smallest
  double step = 0.0;              // of `linear`; 0: a twentieth of the range
  double resolution = 0.01;       // loads that differ by less than this share of them are not told apart
  std::size_t fewest_trials = 2;  // of a load
  std::size_t most_trials = 10;   // of a load, if its response is still not accurate enough
  std::size_t most_runs = 100;    // of the search
};

/// One run.
struct Trial {
  double load = 0.0;
  std::optional<double> response{};  // nothing: the run failed, which counts as not meeting the limit
};

/// What is known about a load. `open`: it needs more trials. `reached`: its mean is in the region at the limit.
/// `meets`, `fails`: it is outside, on that side.
enum class Standing : std::uint8_t { open, reached, meets, fails };

struct TriedLoad {
  double load = 0.0;
  std::size_t trials = 0;
  std::size_t failed = 0;  // of them
  double mean = 0.0;       // of the response; 0 if all failed
  Interval interval{};     // of the mean, at the requested confidence
  double accuracy = 0.0;   // of that interval
  Standing standing = Standing::open;
  bool is_sure = true;  // otherwise it has had the most trials, and only its mean decided
};

/// Why a search ends.
enum class SearchEnd : std::uint8_t {
  reached,       // the response at the answer is at the limit, with the requested accuracy
  bracketed,     // the next load, or one within the resolution, does not meet the limit
  all_meet,      // the answer is the end of the range, which still meets the limit
  none_meets,    // not even the easiest load of the range meets the limit, nor any other that was tried
  wrong_way,     // the easiest load does not meet the limit, but the response becomes better towards the others
  noise,         // a load near the limit had the most trials, and it is still not known whether it meets the limit
  too_many_runs  // the answer is the best load so far
};
constexpr std::string_view name_of(SearchEnd end) {
  switch (end) {
    case SearchEnd::reached: return "reached";
    case SearchEnd::bracketed: return "bracketed";
    case SearchEnd::all_meet: return "all-meet";
    case SearchEnd::none_meets: return "none-meets";
    case SearchEnd::wrong_way: return "wrong-way";
    case SearchEnd::noise: return "noise";
    case SearchEnd::too_many_runs: break;
  }
  return "too-many-runs";
}

struct SearchState {
  Aim aim = Aim::largest;
  std::vector<TriedLoad> tried;       // in the order in which they were first tried
  std::optional<double> next{};       // the load to try, or to try again; nothing: the search has ended
  std::optional<SearchEnd> end{};     // when it has ended
  std::optional<TriedLoad> answer{};  // or the best load so far; nothing: none is known to meet the limit
  std::optional<TriedLoad> beyond{};  // the next load tried that does not meet the limit
  bool is_monotone = true;            // otherwise the loads tried cross the limit more than once
};

/// Depends on nothing else, so that a search can be resumed or simulated. `trials` are in the order of time.
///
/// Algorithm 2 of the paper: two trials of a load. If the 95 % interval of its mean misses the region at the limit, the
/// load is settled, and another is picked. Otherwise it is tried until its mean has the requested accuracy. Beyond the
/// paper: the mean itself, and not only its interval, must be in the region to end the search; loads on both sides form
/// a bracket for the model; trials and runs are bounded; a range without an answer is reported.
SearchState state_of(const SearchRequest& request, std::span<const Trial> trials);

/// The best load for other factors, such as another problem size.
struct KnownPeak {
  std::vector<double> factors;
  double load = 0.0;
};
/// The load of the nearest of them, with which to start (section 3.7); nothing if none is known. Factors count relative
/// to the range of their values.
std::optional<double> start_from(std::span<const KnownPeak> known, std::span<const double> factors);

}  // namespace halcyon
