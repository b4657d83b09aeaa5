#include "libprofile/merge/merger.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "libprofile/format/columns.hpp"

namespace halcyon {
namespace {

// The measures of one segment over all ranks.
struct OverAllRanks {
  Measured<double> sum{};
  Measured<float> least;
  Measured<float> largest{};
  RowTimes of_last{};
  std::size_t last = 0;  // its index among the ranks

  OverAllRanks() { least.fill(std::numeric_limits<float>::max()); }

  void add(std::size_t rank, const RowTimes& times) {
    for (std::size_t i = 0; i < measure_count; ++i) {
      sum[i] += static_cast<double>(times[i]);
      least[i] = std::min(least[i], times[i]);
      largest[i] = std::max(largest[i], times[i]);
    }
    if (rank > 0 && !(lateness_of(times) > lateness_of(of_last))) return;
    last = rank;
    of_last = times;
  }

  float value(const TimeColumn& column, std::size_t ranks) const {
    const std::size_t i = index_of(column.measure);
    switch (column.over_ranks) {
      case OverRanks::mean: return static_cast<float>(sum[i] / static_cast<double>(ranks));
      case OverRanks::sum: return static_cast<float>(sum[i]);
      case OverRanks::least: return least[i];
      case OverRanks::largest: return largest[i];
      case OverRanks::of_last_rank: return of_last[i];
    }
    return 0.0F;
  }
};

// Visits the time columns that this run has.
template <class Visit>
void for_each_recorded_time(Profile& profile, bool with_injection, Visit visit) {
  for_each_time_column(profile, [&](const TimeColumn& column, std::vector<float>& values) {
    if (with_injection || measures[index_of(column.measure)].kept != Kept::with_intm) visit(column, values);
  });
}

}  // namespace

Merger::Merger(const ProgramNames& names, std::vector<std::uint32_t> ranks, bool with_injection, std::size_t count)
    : names_(names),
      ranks_(std::move(ranks)),
      with_injection_(with_injection),
      features_(names.active.size()),
      middle_(ranks_.size()) {
  for_each_recorded_time(merged_, with_injection,
                         [count](const TimeColumn&, std::vector<float>& values) { values.reserve(count); });
  merged_.last_rank.reserve(count);
  site_pattern_.reserve(count);
}

void Merger::add(const std::byte* rows, std::size_t stride, const RowLayout& layout) {
  OverAllRanks all;
  RowTimes times{};
  std::uint64_t sites = 0;
  std::array<double, feature_count> sums{};
  std::array<std::uint64_t, feature_count> patterns{};
  std::array<std::uint16_t, 1 + feature_count> bins{};
  std::uint16_t first_site = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    layout.read(rows + rank * stride, times, bins.data());
    all.add(rank, times);
    if (rank == 0) first_site = bins[0];
    sites = mix(sites, bins[0]);
    for (std::size_t i = 0; i < names_.active.size(); ++i) {
      const std::size_t feature = names_.active[i];
      if (feature == index_of(Feature::compute)) {
        middle_[rank] = bins[1 + i];
      } else {
        sums[i] += names_.bins[feature][bins[1 + i]];
        patterns[i] = mix(patterns[i], bins[1 + i]);
      }
    }
  }
  ++merged_.segments;
  for_each_recorded_time(merged_, with_injection_, [&](const TimeColumn& column, std::vector<float>& values) {
    values.push_back(all.value(column, ranks_.size()));
  });
  merged_.last_rank.push_back(ranks_[all.last]);
  site_pattern_.push_back(sites);
  site_patterns_.number_of(sites, first_site);
  first_site_.push_back(first_site);
  for (std::size_t i = 0; i < names_.active.size(); ++i) {
    const std::size_t feature = names_.active[i];
    MergedFeature& merged = features_[i];
    merged.value.push_back(feature == index_of(Feature::compute) ? median_over_ranks() : sums[i]);
    if (features[feature].kind == FeatureKind::count) {
      merged.pattern.push_back(patterns[i]);
      merged.patterns.number_of(patterns[i], sums[i]);
    }
  }
}

Profile Merger::finish(const Exchange& exchange) {
  finish_features(exchange);
  finish_sites(exchange);
  return std::move(merged_);
}

void Merger::finish_features(const Exchange& exchange) {
  std::vector<std::unique_ptr<ProgramQuantizer>> quantizers;
  std::vector<std::size_t> quantized;
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    if (names_.bins[feature].size() > 1) continue;
    const double ranks = features[feature].kind == FeatureKind::work ? 1.0 : static_cast<double>(ranks_.size());
    merged_.features[feature].bins = {names_.bins[feature].front() * ranks};
  }
  for (std::size_t i = 0; i < names_.active.size(); ++i) {
    const std::size_t feature = names_.active[i];
    MergedFeature& merged = features_[i];
    FeatureColumn& column = merged_.features[feature];
    if (features[feature].kind == FeatureKind::count) {
      merge_patterns(exchange, merged.patterns);
      if (!merged.patterns.diverse()) {
        column.bins = merged.patterns.meanings();
        for (const std::uint64_t pattern : merged.pattern) column.index.push_back(merged.patterns.known(pattern));
        continue;
      }
    }
    column.reduced = true;
    quantized.push_back(i);
    quantizers.push_back(std::make_unique<ProgramQuantizer>());
    for (const double value : merged.value) quantizers.back()->insert(value);
  }
  std::vector<std::vector<double>> bins = merge_bins(exchange, quantizers);
  for (std::size_t q = 0; q < quantized.size(); ++q) {
    FeatureColumn& column = merged_.features[names_.active[quantized[q]]];
    column.bins = std::move(bins[q]);
    for (const double value : features_[quantized[q]].value) column.index.push_back(nearest_bin(column.bins, value));
  }
  for (FeatureColumn& column : merged_.features) {
    if (column.bins.size() <= 1) column.index.clear();
  }
}

double Merger::median_over_ranks() {
  const std::vector<double>& bins = names_.bins[index_of(Feature::compute)];
  const auto middle = middle_.begin() + static_cast<std::ptrdiff_t>(ranks_.size() / 2);
  std::nth_element(middle_.begin(), middle, middle_.end());
  if (ranks_.size() % 2 == 1) return bins[*middle];
  return 0.5 * (bins[*middle] + bins[*std::max_element(middle_.begin(), middle)]);
}

void Merger::finish_sites(const Exchange& exchange) {
  merge_patterns(exchange, site_patterns_);
  if (site_patterns_.diverse()) {
    merged_.sites = names_.sites;
    merged_.site = first_site_;
  } else {
    for (const std::uint16_t site : site_patterns_.meanings()) merged_.sites.push_back(names_.sites[site]);
    for (const std::uint64_t pattern : site_pattern_) merged_.site.push_back(site_patterns_.known(pattern));
  }
  if (merged_.sites.size() <= 1) merged_.site.clear();
}

}  // namespace halcyon
