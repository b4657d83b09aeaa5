#include "analyzer/estimate/duration_law.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <shared_mutex>
#include <tuple>
#include <unsupported/Eigen/FFT>

namespace halcyon {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t cells = LawTable::cells;
constexpr double first_edge = LawTable::first_edge;
// The periodic transform wraps durations beyond the table back to its left. Damping by exp(-u x) over the table
// (exponential tilting; Gruebel and Hermesmeier, ASTIN Bulletin 29, 1999) leaves e^-20 of it.
constexpr double damping_over_table = 20.0;
// Cells cannot show a narrower jitter than this many of their widths without ringing.
constexpr double least_jitter_steps = 0.6;
constexpr double spiked_share = 0.04;  // of the segments
constexpr int spike_lengths = 10;      // from 1 to 512 standard deviations of the jitter, each twice the one before

// Steps in probability of the power law's mixture, and how many decades of its tail they cover.
constexpr std::size_t power_pieces = 48;
constexpr double power_decades = 4.0;

// The transform of one piece of a power law: a gamma law of shape 16, as wide as the distance to the next piece.
Complex power_piece(Complex scaled) {
  Complex power = 1.0 / (1.0 + scaled / 16.0);
  for (int squaring = 0; squaring < 4; ++squaring) power *= power;
  return power;
}

Complex gamma_transform(double shape, Complex scaled) { return std::exp(-shape * std::log(1.0 + scaled / shape)); }

// A power law of mean 1 as a mixture of narrow gamma laws at its quantiles.
struct PowerMixture {
  std::array<double, power_pieces> weight;
  std::array<double, power_pieces> length;

  explicit PowerMixture(double exponent) {
    double total = 0.0;
    double mean = 0.0;
    for (std::size_t i = 0; i < power_pieces; ++i) {
      const double above = std::pow(10.0, -power_decades * static_cast<double>(i) / power_pieces);
      const double below = std::pow(10.0, -power_decades * static_cast<double>(i + 1) / power_pieces);
      weight[i] = above - below;
      length[i] = std::pow(above * below, -0.5 / exponent);
      total += weight[i];
      mean += weight[i] * length[i];
    }
    for (std::size_t i = 0; i < power_pieces; ++i) {
      weight[i] /= total;
      length[i] *= total / mean;
    }
  }
};

double step_of(bool fine) { return fine ? LawTable::fine_step : LawTable::coarse_step; }

// The arguments of the transform: u = damping - i t at the frequencies of a table.
std::vector<Complex> arguments(double step) {
  const double length = step * cells;
  std::vector<Complex> u(cells / 2 + 1);
  for (std::size_t j = 0; j < u.size(); ++j) {
    u[j] = {damping_over_table / length, -2.0 * std::numbers::pi * static_cast<double>(j) / length};
  }
  return u;
}

// A gamma law of mean 0 and deviation 1.
Complex gamma_jitter(double skewness, Complex u) {
  const double shape = 4.0 / (skewness * skewness);
  const Complex scaled = 0.5 * skewness * u;
  return std::exp(shape * (scaled - std::log(1.0 + scaled)));
}

// The transform of jitter of mean 0.
Complex jitter_transform(Jitter jitter, double deviation, Complex u) {
  switch (jitter) {
    case Jitter::normal: return std::exp(0.5 * deviation * deviation * u * u);
    case Jitter::skewed: return gamma_jitter(0.12, deviation * u);         // lognormal of 4 %, gamma of 6 %
    case Jitter::lopsided: return gamma_jitter(0.35, deviation * u);       // lognormal of 12 %, gamma of 18 %
    case Jitter::very_lopsided: return gamma_jitter(0.65, deviation * u);  // lognormal of 22 %
    case Jitter::left_skewed: return gamma_jitter(0.5, -deviation * u);    // Weibull of 15 %
    case Jitter::bounded: {
      const Complex half_width = std::sqrt(3.0) * deviation * u;
      return std::sinh(half_width) / half_width;
    }
    case Jitter::spiked: {
      const Complex normal = std::exp(0.5 * deviation * deviation * u * u);
      Complex spikes = 0.0;
      for (int i = 0; i < spike_lengths; ++i) spikes += power_piece(std::pow(2.0, i) * deviation * u);
      return normal * ((1.0 - spiked_share) + spiked_share * spikes / static_cast<double>(spike_lengths));
    }
  }
  return 1.0;
}

// The factors that undo the damping, of each cell.
std::vector<double> undamping() {
  std::vector<double> factors(cells);
  for (std::size_t i = 0; i < cells; ++i) factors[i] = std::exp(damping_over_table * static_cast<double>(i) / cells);
  return factors;
}

std::vector<float> distribution(const std::vector<Complex>& transform, Eigen::FFT<double>& fft) {
  static const std::vector<double> undamped = undamping();
  std::vector<double> damped;
  fft.inv(damped, transform, cells);
  std::vector<float> table(cells + 1);
  double sum = 0.0;
  for (std::size_t i = 0; i < cells; ++i) {
    // fft.inv divides by the number of cells, the density by the table's length, and a cell is a step wide.
    sum = std::min(1.0, sum + std::max(0.0, damped[i] * undamped[i]));
    table[i + 1] = static_cast<float>(sum);
  }
  return table;
}

}  // namespace

std::vector<Complex> laplace_transform(const DelayLaw& law, const std::vector<Complex>& u) {
  std::vector<Complex> values(u.size());
  switch (law.family) {
    case DelayFamily::gamma:
      for (std::size_t j = 0; j < u.size(); ++j) values[j] = gamma_transform(law.parameter, u[j]);
      break;
    case DelayFamily::inverse_gaussian: {
      const double variance = law.parameter * law.parameter;
      for (std::size_t j = 0; j < u.size(); ++j) {
        values[j] = std::exp((1.0 - std::sqrt(1.0 + 2.0 * variance * u[j])) / variance);
      }
      break;
    }
    case DelayFamily::power: {
      const PowerMixture mixture(law.parameter);
      for (std::size_t j = 0; j < u.size(); ++j) {
        for (std::size_t i = 0; i < power_pieces; ++i) {
          values[j] += mixture.weight[i] * power_piece(mixture.length[i] * u[j]);
        }
      }
      break;
    }
  }
  return values;
}

const std::vector<float>& DurationLaw::coarse() const {
  std::call_once(coarse_is_made_, [this] { coarse_ = make_coarse_(); });
  return coarse_;
}

double DurationLaw::quantile(double probability) const {
  const bool fine = static_cast<double>(fine_[cells - 64]) > probability;
  const std::vector<float>& table = fine ? fine_ : coarse();
  const auto found = std::lower_bound(table.begin(), table.end(), static_cast<float>(probability));
  return first_edge + step_of(fine) * static_cast<double>(found - table.begin());
}

struct DurationLaws::Tables {
  using Delays = std::tuple<double, double, std::size_t, double>;  // of a shape: all but its jitter
  struct Grid {
    double step;
    std::vector<Complex> u;
    std::map<Jitter, std::vector<Complex>> jitter;
    std::map<std::pair<std::size_t, double>, std::vector<Complex>> one_delay;  // by law and mean
    std::map<Delays, std::vector<Complex>> delays;
  };
  std::array<Grid, 2> grids;
  Eigen::FFT<double> fft;
  std::map<std::tuple<double, double, std::size_t, double, Jitter>, DurationLaw> laws;
  std::shared_mutex changes;

  const std::vector<Complex>& jitter(Grid& grid, Jitter kind) {
    std::vector<Complex>& values = grid.jitter[kind];
    if (values.empty()) {
      const double deviation = std::max(1.0, least_jitter_steps * grid.step);
      for (const Complex u : grid.u) {
        // The table's first value is for the middle of its first cell.
        values.push_back(jitter_transform(kind, deviation, u) * std::exp(u * (first_edge + 0.5 * grid.step)));
      }
    }
    return values;
  }
  const std::vector<Complex>& one_delay(Grid& grid, std::size_t law, double mean) {
    std::vector<Complex>& values = grid.one_delay[{law, mean}];
    if (values.empty()) {
      std::vector<Complex> scaled = grid.u;
      for (Complex& u : scaled) u *= mean;
      values = laplace_transform(delay_laws[law], scaled);
    }
    return values;
  }
  const std::vector<Complex>& all_delays(Grid& grid, const DurationShape& shape) {
    std::vector<Complex>& values = grid.delays[{shape.hits, shape.mean_delay, shape.law, shape.exposed}];
    if (values.empty()) {
      values = one_delay(grid, shape.law, shape.mean_delay);
      for (Complex& value : values) {
        value = (1.0 - shape.exposed) + shape.exposed * std::exp(shape.hits * (value - 1.0));
      }
    }
    return values;
  }
  std::vector<float> table(Grid& grid, const DurationShape& shape) {
    std::vector<Complex> transform = jitter(grid, shape.jitter);
    if (shape.hits > 0.0) {
      const std::vector<Complex>& delays = all_delays(grid, shape);
      for (std::size_t j = 0; j < transform.size(); ++j) transform[j] *= delays[j];
    }
    for (Complex& value : transform) value = std::conj(value);
    return distribution(transform, fft);
  }
};

DurationLaws::DurationLaws() : tables_(std::make_unique<Tables>()) {
  tables_->fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  for (const bool fine : {true, false}) {
    Tables::Grid& grid = tables_->grids[fine ? 0 : 1];
    grid.step = step_of(fine);
    grid.u = arguments(grid.step);
  }
}

DurationLaws::~DurationLaws() = default;

const DurationLaw& DurationLaws::get(const DurationShape& shape) {
  const auto key = std::make_tuple(shape.hits, shape.mean_delay, shape.law, shape.exposed, shape.jitter);
  {
    const std::shared_lock looking(tables_->changes);
    if (const auto known = tables_->laws.find(key); known != tables_->laws.end()) return known->second;
  }
  const std::unique_lock changing(tables_->changes);
  const auto [entry, is_new] = tables_->laws.try_emplace(key);
  DurationLaw& law = entry->second;
  if (is_new) {
    law.fine_ = tables_->table(tables_->grids[0], shape);
    law.make_coarse_ = [tables = tables_.get(), shape] {
      const std::unique_lock making(tables->changes);
      return tables->table(tables->grids[1], shape);
    };
  }
  return law;
}

}  // namespace halcyon
