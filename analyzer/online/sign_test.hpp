// Is progress below its target? The sign test of J. R. Douceur and W. J. Bolosky, "Progress-based regulation of
// low-importance processes" (SOSP 1999), section 6.1, and a variant for an unlimited number of looks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halcyon {

enum class Judgment : std::uint8_t { undecided, good, poor };

struct SignTestSettings {
  double alpha = 0.05;  // chance that good progress is judged poor
  double beta = 0.2;    // chance that poor progress is judged good
  /// false: each look at the data may err by `alpha`, as in the paper. Repeated looks err more often: at a chance of
  /// 1/2 for each sample, 23 % of the tests end with "poor" within 400 samples.
  /// true: all looks of all tests together err by `alpha`, for any number of looks.
  bool spends_alpha = false;
  /// A test that is undecided after this number of samples ends, and the next one begins: the time before a disturbance
  /// should not hide it. Only if alpha is spent.
  std::size_t most_samples = 240;
};

/// P(Bin(samples, 1/2) >= below).
double chance_of_at_least(std::size_t below, std::size_t samples);
/// P(Bin(samples, 1/2) <= below).
double chance_of_at_most(std::size_t below, std::size_t samples);

/// The permitted error of the `test`-th test, from 1 on, so that all tests together err by `alpha`: alpha ln 2 (1 /
/// ln(test + 1) - 1 / ln(test + 2)). This spends alpha over tests as Lan and DeMets spend it over looks (K. K. G. Lan,
/// D. L. DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70, 1983). The sum telescopes to alpha,
/// and the terms fall only a little faster than 1 / test, so that a late test is nearly as quick as an early one.
double spent_alpha(std::size_t test, double alpha);

/// How much better the samples fit to a chance above 1/2 than to 1/2, with the same prior for all chances above 1/2:
/// log of 2^(n+1) times the integral of p^r (1-p)^(n-r) over p from 1/2 to 1. With a chance of at most 1/2, it ever
/// reaches log(1 / a) with a probability of at most a, for any number of looks (J. Ville 1939; H. Robbins, Statistical
/// methods related to the law of the iterated logarithm, Ann. Math. Stat. 41, 1970).
double log_evidence_of_poor(std::size_t below, std::size_t samples);

/// One test after the other: a judgment ends a test, and the next sample begins a new one.
class SignTest {
 public:
  explicit SignTest(const SignTestSettings& settings) : settings_(settings) {}

  Judgment add(bool is_below_target);
  /// The samples so far judge nothing.
  void restart();

  /// Of the current test.
  std::size_t samples() const { return samples_; }
  std::size_t below() const { return below_; }

 private:
  bool is_poor() const;
  bool is_good() const;

  SignTestSettings settings_;
  std::size_t test_ = 1;
  std::size_t samples_ = 0;
  std::size_t below_ = 0;
};

}  // namespace halcyon
