#include "analyzer/estimate/duration_law.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <unsupported/Eigen/FFT>
#include <utility>

namespace halcyon {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t cells = LawTable::cells;
constexpr double first_edge = LawTable::first_edge;

// Numerics: tables of laws. The periodic transform wraps durations beyond the table back to its left. Damping by exp(-u
// x) over the table (exponential tilting; Gruebel and Hermesmeier, ASTIN Bulletin 29, 1999) leaves e^-20 of it.
constexpr double damping_over_table = 20.0;
// Cells cannot show a narrower jitter than this many of their widths without ringing.
constexpr double least_jitter_steps = 0.6;
constexpr int spike_lengths = 10;  // from 1 to 512 standard deviations of the jitter, each twice the one before
// Steps in probability of the power law's mixture, and how many decades of its tail they cover.
constexpr std::size_t power_pieces = 48;
constexpr double power_decades = 4.0;

constexpr double spiked_share = 0.04;  // of the segments

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

// A value for each frequency of a table.
using Transform = std::array<Complex, cells / 2 + 1>;

// The arguments of the transform: u = damping - i t.
Transform arguments(double step) {
  const double length = step * cells;
  Transform u;
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

// The factors that undo the damping, of each cell. They also turn an unscaled inverse transform into probabilities: the
// density is that transform over the table's length, and a cell is a step wide.
std::vector<double> undamping() {
  std::vector<double> factors(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    factors[i] = std::exp(damping_over_table * static_cast<double>(i) / cells) / cells;
  }
  return factors;
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

struct DurationLaws::Tables {
  // Makes tables of transforms. It keeps its memory: new memory for each table would take as long as the arithmetic.
  class Inverse {
   public:
    Inverse() {
      fft_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
      fft_.SetFlag(Eigen::FFT<double>::Unscaled);
    }

    // Without delays if these are null.
    void make(LawTable& table, const Transform& jitter, const Transform* delays) {
      for (std::size_t j = 0; j < jitter.size(); ++j) {
        conjugate_[j] = std::conj(delays != nullptr ? jitter[j] * (*delays)[j] : jitter[j]);
      }
      fft_.inv(damped_, conjugate_, cells);
      double sum = 0.0;
      table.at_edge[0] = 0.0F;
      for (std::size_t i = 0; i < cells; ++i) {
        sum = std::min(1.0, sum + std::max(0.0, damped_[i] * undamping_[i]));
        table.at_edge[i + 1] = static_cast<float>(sum);
      }
    }

   private:
    Eigen::FFT<double> fft_;
    std::vector<Complex> conjugate_ = std::vector<Complex>(std::tuple_size_v<Transform>);
    std::vector<double> damped_;
    std::vector<double> undamping_ = undamping();
  };

  using Delays = std::tuple<double, double, std::size_t, double>;  // of a shape: all but its jitter
  struct Grid {
    explicit Grid(bool fine) : step(step_of(fine)), u(arguments(step)) {}

    double step;
    Transform u;
    MadeOnce<Jitter, Transform> jitter;
    MadeOnce<std::pair<std::size_t, double>, Transform> one_delay;  // by law and mean
    MadeOnce<Delays, Transform> delays;
  };
  Grid fine{true};
  Grid coarse{false};
  MadeOnce<std::pair<Delays, Jitter>, DurationLaw> laws;
  std::mutex changes_of_idle;
  std::vector<std::unique_ptr<Inverse>> idle;  // as many as threads have made tables at the same time

  static Delays delays_of(const DurationShape& shape) {
    return {shape.hits, shape.mean_delay, shape.law, shape.exposed};
  }

  const Transform& jitter(Grid& grid, Jitter kind) {
    return grid.jitter.get(kind, [&](Transform& values) {
      const double deviation = std::max(1.0, least_jitter_steps * grid.step);
      for (std::size_t j = 0; j < values.size(); ++j) {
        // The table's first value is for the middle of its first cell.
        const Complex u = grid.u[j];
        values[j] = jitter_transform(kind, deviation, u) * std::exp(u * (first_edge + 0.5 * grid.step));
      }
    });
  }
  const Transform& one_delay(Grid& grid, std::size_t law, double mean) {
    return grid.one_delay.get({law, mean}, [&](Transform& values) {
      std::vector<Complex> scaled(grid.u.begin(), grid.u.end());
      for (Complex& u : scaled) u *= mean;
      std::ranges::copy(laplace_transform(delay_laws[law], scaled), values.begin());
    });
  }
  const Transform& all_delays(Grid& grid, const DurationShape& shape) {
    return grid.delays.get(delays_of(shape), [&](Transform& values) {
      const Transform& one = one_delay(grid, shape.law, shape.mean_delay);
      for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] = (1.0 - shape.exposed) + shape.exposed * std::exp(shape.hits * (one[j] - 1.0));
      }
    });
  }
  std::unique_ptr<Inverse> idle_one() {
    const std::lock_guard changing(changes_of_idle);
    if (idle.empty()) return std::make_unique<Inverse>();
    std::unique_ptr<Inverse> one = std::move(idle.back());
    idle.pop_back();
    return one;
  }
  void make(LawTable& table, Grid& grid, const DurationShape& shape) {
    const Transform& of_jitter = jitter(grid, shape.jitter);
    const Transform* of_delays = shape.hits > 0.0 ? &all_delays(grid, shape) : nullptr;
    std::unique_ptr<Inverse> inverse = idle_one();
    inverse->make(table, of_jitter, of_delays);
    const std::lock_guard changing(changes_of_idle);
    idle.push_back(std::move(inverse));
  }
};

const LawTable& DurationLaw::coarse() const {
  coarse_is_made_.run([this] {
    coarse_ = std::make_unique<LawTable>();
    laws_->tables_->make(*coarse_, laws_->tables_->coarse, shape_);
  });
  return *coarse_;
}

double DurationLaw::quantile(double probability) const {
  const bool fine = static_cast<double>(fine_.at_edge[cells - 64]) > probability;
  const auto& table = (fine ? fine_ : coarse()).at_edge;
  const auto found = std::lower_bound(table.begin(), table.end(), static_cast<float>(probability));
  return first_edge + step_of(fine) * static_cast<double>(found - table.begin());
}

DurationLaws::DurationLaws() : tables_(std::make_unique<Tables>()) {}

DurationLaws::~DurationLaws() = default;

const DurationLaw& DurationLaws::get(const DurationShape& shape) {
  return tables_->laws.get({Tables::delays_of(shape), shape.jitter}, [&](DurationLaw& law) {
    law.laws_ = this;
    law.shape_ = shape;
    tables_->make(law.fine_, tables_->fine, shape);
  });
}

}  // namespace halcyon
