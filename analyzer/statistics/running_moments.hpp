// Mean and standard deviation of values as they come. B. P. Welford, Technometrics 4, 1962.
#pragma once

#include <cmath>
#include <cstddef>

namespace halcyon {

class RunningMoments {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (value - mean_);
  }

  std::size_t count() const { return count_; }
  double mean() const { return mean_; }  // 0 without values
  /// Of the distribution behind the values; 0 with fewer than two.
  double deviation() const { return count_ < 2 ? 0.0 : std::sqrt(squares_ / static_cast<double>(count_ - 1)); }

 private:
  std::size_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

}  // namespace halcyon
