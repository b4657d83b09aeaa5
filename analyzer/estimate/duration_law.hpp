// The law of the durations of segments that did the same work: jitter, and on top of it Poisson many delays.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace halcyon {

/// How long one delay is, by laws from nearly constant to heavy-tailed. Real delays follow none of them. Together the
/// laws cover what the left side of the sum of delays can look like, and an estimate of the baseline needs no more.
enum class DelayFamily { gamma, inverse_gaussian, power };
struct DelayLaw {
  DelayFamily family;
  double parameter;  // gamma: shape; inverse Gaussian: coefficient of variation; power: exponent of the tail
};
inline constexpr std::array<DelayLaw, 9> delay_laws{{{DelayFamily::gamma, 64.0},
                                                     {DelayFamily::gamma, 8.0},
                                                     {DelayFamily::gamma, 2.5},
                                                     {DelayFamily::gamma, 1.0},
                                                     {DelayFamily::gamma, 0.4},
                                                     {DelayFamily::inverse_gaussian, 1.3},
                                                     {DelayFamily::inverse_gaussian, 2.5},
                                                     {DelayFamily::power, 2.0},
                                                     {DelayFamily::power, 1.25}}};

/// E exp(-u D) of a delay D of mean 1, for each u.
std::vector<std::complex<double>> laplace_transform(const DelayLaw& law, const std::vector<std::complex<double>>& u);

/// How durations vary beside the delays that the law counts: normally; with a longer right side (gamma or lognormal of
/// several widths); with a longer left side (Weibull); within limits (uniform); or normally, with a few segments in a
/// hundred delayed by something else for any time.
enum class Jitter { normal, skewed, lopsided, very_lopsided, left_skewed, bounded, spiked };
inline constexpr std::array jitters{Jitter::normal,      Jitter::skewed,  Jitter::lopsided, Jitter::very_lopsided,
                                    Jitter::left_skewed, Jitter::bounded, Jitter::spiked};

/// Lengths are in standard deviations of the jitter, and the undisturbed duration is at 0.
struct DurationShape {
  double hits = 0.0;        // delays that strike an exposed segment, on average
  double mean_delay = 1.0;  // of one
  std::size_t law = 0;      // of delay_laws
  double exposed = 1.0;     // share of the segments that can be struck; below 1 disturbance comes in bursts
  Jitter jitter = Jitter::normal;
};

/// A distribution function in a table, and its density. Lives no longer than the DurationLaws that made it.
class DurationLaw {
 public:
  struct Point {
    double probability;  // of a shorter duration
    double density;
  };
  Point at(double z) const;
  double quantile(double probability) const;

 private:
  friend class DurationLaws;
  const std::vector<float>& coarse() const;

  std::vector<float> fine_;            // at the edges of cells from `first_edge` on
  mutable std::vector<float> coarse_;  // the same in longer steps, for longer durations; few laws need it
  std::function<std::vector<float>()> make_coarse_;
};

/// Makes laws when they are first asked for, and keeps them. Each takes a Fourier transform, and groups use the same
/// laws.
class DurationLaws {
 public:
  DurationLaws();
  ~DurationLaws();
  DurationLaws(const DurationLaws&) = delete;
  DurationLaws& operator=(const DurationLaws&) = delete;

  const DurationLaw& get(const DurationShape& shape);

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace halcyon
