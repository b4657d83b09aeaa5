// The law of the durations of segments that did the same work: jitter, and on top of it Poisson many delays.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "analyzer/estimate/made_once.hpp"

namespace halcyon {

/// Laws for the length of one delay, from nearly constant to heavy-tailed. Real delays follow none of them. Together
/// the laws cover the possible shapes of the left side of the sum of delays. An estimate of the baseline needs no more.
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

/// How durations vary in addition to the delays of the law: normally; with a longer right side (gamma or lognormal of
/// several widths); with a longer left side (Weibull); within limits (uniform); or normally, with a few segments in a
/// hundred delayed by something else for any time.
enum class Jitter { normal, skewed, lopsided, very_lopsided, left_skewed, bounded, spiked };
inline constexpr std::array jitters{Jitter::normal,      Jitter::skewed,  Jitter::lopsided, Jitter::very_lopsided,
                                    Jitter::left_skewed, Jitter::bounded, Jitter::spiked};

/// Lengths are in standard deviations of the jitter, and the undisturbed duration is at 0.
struct DurationShape {
  double hits = 0.0;        // average number of delays of an exposed segment
  double mean_delay = 1.0;  // of one
  std::size_t law = 0;      // of delay_laws
  double exposed = 1.0;     // share of the segments that delays can hit; below 1 disturbance comes in bursts
  Jitter jitter = Jitter::normal;
};

/// Probabilities of shorter durations at the edges of cells. A law has two tables: a fine one, and a coarse one for
/// longer durations.
struct LawTable {
  // Numerics: the table.
  static constexpr std::size_t cells = 1024;
  static constexpr double first_edge = -8.0;  // less than one in 10^15 lies below
  static constexpr double fine_step = 0.125;
  static constexpr double coarse_step = 4.0;
  static constexpr double fine_end = first_edge + fine_step * (cells - 64);

  std::array<float, cells + 1> at_edge;
};

class DurationLaws;

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
  const LawTable& coarse() const;

  DurationLaws* laws_ = nullptr;
  DurationShape shape_;
  LawTable fine_;
  mutable Once coarse_is_made_;
  mutable std::unique_ptr<LawTable> coarse_;  // few laws need it
};

// Here, since nearly all of a fit's time is spent in it.
inline DurationLaw::Point DurationLaw::at(double z) const {
  const bool fine = z < LawTable::fine_end;
  const double cells_per_unit = 1.0 / (fine ? LawTable::fine_step : LawTable::coarse_step);
  const std::array<float, LawTable::cells + 1>& table = (fine ? fine_ : coarse()).at_edge;
  const double place = (z - LawTable::first_edge) * cells_per_unit;
  if (place <= 1.0) return {0.0, 0.0};
  if (!(place < static_cast<double>(LawTable::cells - 1))) return {static_cast<double>(table[LawTable::cells]), 0.0};
  const auto cell = static_cast<std::size_t>(place);
  const double within = place - static_cast<double>(cell);
  const auto edge = [around = &table[cell - 1]](std::size_t i) { return static_cast<double>(around[i]); };
  const double here = edge(2) - edge(1);
  // The density is interpolated between the middles of cells, so that it has no steps. Both neighbours are read: a
  // branch would be mispredicted half of the time.
  const double below = std::max(0.0, 0.5 - within);
  const double above = std::max(0.0, within - 0.5);
  const double neighbours = below * (edge(1) - edge(0)) + above * (edge(3) - edge(2));
  return {edge(1) + within * here, ((1.0 - below - above) * here + neighbours) * cells_per_unit};
}

/// Makes laws when they are first needed, and keeps them. Each takes a Fourier transform, and groups use the same laws.
/// Several threads may use it, and make laws, at the same time.
class DurationLaws {
 public:
  DurationLaws();
  ~DurationLaws();
  DurationLaws(const DurationLaws&) = delete;
  DurationLaws& operator=(const DurationLaws&) = delete;

  const DurationLaw& get(const DurationShape& shape);

 private:
  friend class DurationLaw;
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace halcyon
