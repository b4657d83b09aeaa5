#include "libprofile/merge/merger.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "libprofile/format/columns.hpp"

namespace halcyon {
namespace {

float value_of(const MeasuresOverRanks& times, const MeasureColumn& column, std::size_t ranks) {
  const std::size_t i = index_of(column.measure);
  switch (column.over_ranks) {
    case OverRanks::mean: return static_cast<float>(times.sum[i] / static_cast<double>(ranks));
    case OverRanks::sum: return static_cast<float>(times.sum[i]);
    case OverRanks::least: return times.least[i];
    case OverRanks::largest: return times.largest[i];
    case OverRanks::of_last_rank: return times.of_last[i];
    case OverRanks::least_in_mpi: return times.least_slack;
    case OverRanks::by_cpu_waits: return times.least_slack_without_wait - times.least_slack;
    case OverRanks::by_slower_ranks: return times.least_slack_at_pace - times.least_slack;
    case OverRanks::by_more_work: return times.least_slack_with_equal_work - times.least_slack;
  }
  return 0.0F;
}

}  // namespace

BinsOfRanks::BinsOfRanks(std::size_t segments, std::size_t ranks)
    : ranks_(ranks),
      counts_(ranks > program_bins),
      per_segment_(bytes_of_segment(ranks) / sizeof(std::uint32_t)),
      values_(segments * per_segment_) {}

std::size_t BinsOfRanks::bytes_of_segment(std::size_t ranks) {
  return std::min(ranks, program_bins) * sizeof(std::uint32_t);
}

void BinsOfRanks::add(std::size_t segment, std::size_t rank, std::uint16_t bin) {
  std::uint32_t* values = values_.data() + segment * per_segment_;
  if (counts_) {
    ++values[bin];
  } else {
    values[rank] = bin;
  }
}

std::pair<std::uint16_t, std::uint16_t> BinsOfRanks::take_middle(std::size_t segment) {
  std::uint32_t* const values = values_.data() + segment * per_segment_;
  const bool has_one = ranks_ % 2 == 1;
  const std::size_t upper = ranks_ / 2;
  if (!counts_) {
    std::nth_element(values, values + upper, values + ranks_);
    const std::uint32_t lower = has_one ? values[upper] : *std::max_element(values, values + upper);
    return {static_cast<std::uint16_t>(lower), static_cast<std::uint16_t>(values[upper])};
  }
  const auto bin_at = [&](std::size_t index) {
    std::size_t bin = 0;
    for (std::size_t below = values[0]; below <= index && bin + 1 < program_bins; below += values[bin]) ++bin;
    return static_cast<std::uint16_t>(bin);
  };
  const std::pair middle{bin_at(has_one ? upper : upper - 1), bin_at(upper)};
  std::fill_n(values, program_bins, 0u);
  return middle;
}

MeasuresOverRanks::MeasuresOverRanks() { least.fill(std::numeric_limits<float>::max()); }

void MeasuresOverRanks::add(std::size_t rank, const RowMeasures& times, const Avoidable& avoidable) {
  for (std::size_t i = 0; i < measure_count; ++i) {
    sum[i] += static_cast<double>(times[i]);
    least[i] = std::min(least[i], times[i]);
    largest[i] = std::max(largest[i], times[i]);
  }
  const float slack = slack_of(times);
  least_slack = std::min(least_slack, slack);
  least_slack_without_wait = std::min(least_slack_without_wait, slack + avoidable.cpu_wait);
  least_slack_at_pace = std::min(least_slack_at_pace, slack + avoidable.slower);
  least_slack_with_equal_work = std::min(least_slack_with_equal_work, slack + avoidable.more_work);
  if (rank > 0 && !(lateness_of(times) > lateness_of(of_last))) return;
  last = rank;
  of_last = times;
}

// Visits the time columns that this run has.
template <class Visit>
void Merger::for_each_recorded_measure(Visit visit) {
  for_each_measure_column(merged_, [&](const MeasureColumn& column, std::vector<float>& values) {
    const bool needs_peers =
        column.over_ranks == OverRanks::by_slower_ranks || column.over_ranks == OverRanks::by_more_work;
    if (needs_peers && !avoidable_.has_peers()) return;
    if (with_injection_ || measures[index_of(column.measure)].kept != Kept::with_intm) visit(column, values);
  });
}

Merger::Merger(const ProgramNames& names, std::vector<std::uint32_t> ranks, const Peers& peers, bool with_injection,
               std::size_t count, std::size_t open)
    : names_(names),
      ranks_(std::move(ranks)),
      compute_at_(
          static_cast<std::size_t>(std::ranges::find(names.active, index_of(Feature::compute)) - names.active.begin())),
      avoidable_(peers, names.sites),
      with_injection_(with_injection),
      features_(names.active.size()),
      open_(open),
      compute_(open, ranks_.size()) {
  for_each_recorded_measure([count](const MeasureColumn&, std::vector<float>& values) { values.reserve(count); });
  merged_.last_rank.reserve(count);
  site_pattern_.reserve(count);
}

std::size_t Merger::bytes_of_open_segment(std::size_t ranks) {
  return sizeof(SegmentInMerge) + BinsOfRanks::bytes_of_segment(ranks);
}

void Merger::add(std::size_t segment, std::size_t rank, const std::byte* row, const RowLayout& layout) {
  SegmentInMerge& open = open_[segment];
  RowMeasures times{};
  std::array<std::uint16_t, 1 + feature_count> bins;
  layout.read(row, times, bins.data());
  const std::vector<double>& works = names_.bins[index_of(Feature::compute)];
  const double work = compute_at_ < names_.active.size() ? works[bins[1 + compute_at_]] : works.front();
  open.times.add(rank, times, avoidable_.of(rank, bins[0], work, times));
  if (rank == 0) open.first_site = bins[0];
  open.sites = mix(open.sites, bins[0]);
  for (std::size_t i = 0; i < names_.active.size(); ++i) {
    const std::size_t feature = names_.active[i];
    const std::uint16_t bin = bins[1 + i];
    if (feature == index_of(Feature::compute)) {
      compute_.add(segment, rank, bin);
      open.largest_work = std::max(open.largest_work, work);
      if (open.times.last == rank) open.last_rank_work = work;
    } else {
      open.sums[i] += names_.bins[feature][bin];
      open.patterns[i] = mix(open.patterns[i], bin);
    }
  }
}

void Merger::close(std::size_t segments) {
  for (std::size_t segment = 0; segment < segments; ++segment) {
    SegmentInMerge& open = open_[segment];
    ++merged_.segments;
    for_each_recorded_measure([&](const MeasureColumn& column, std::vector<float>& values) {
      values.push_back(value_of(open.times, column, ranks_.size()));
    });
    merged_.last_rank.push_back(ranks_[open.times.last]);
    site_pattern_.push_back(open.sites);
    site_patterns_.number_of(open.sites, open.first_site);
    first_site_.push_back(open.first_site);
    for (std::size_t i = 0; i < names_.active.size(); ++i) {
      const std::size_t feature = names_.active[i];
      MergedFeature& merged = features_[i];
      const bool is_compute = feature == index_of(Feature::compute);
      merged.value.push_back(is_compute ? median_over_ranks(segment) : open.sums[i]);
      if (is_compute && ranks_.size() > 1) {
        largest_work_.push_back(open.largest_work);
        last_rank_work_.push_back(open.last_rank_work);
      }
      if (features[feature].kind == FeatureKind::count) {
        merged.pattern.push_back(open.patterns[i]);
        merged.patterns.number_of(open.patterns[i], open.sums[i]);
      }
    }
    open = {};
  }
}

Profile Merger::finish(const Exchange& exchange) {
  finish_features(exchange);
  finish_sites(exchange);
  return std::move(merged_);
}

void Merger::finish_features(const Exchange& exchange) {
  std::vector<std::unique_ptr<ProgramQuantizer>> quantizers;
  std::vector<std::pair<FeatureColumn*, const std::vector<double>*>> quantized;  // a column, and its values
  const auto quantize = [&](FeatureColumn& column, const std::vector<double>& values) {
    quantized.emplace_back(&column, &values);
    quantizers.push_back(std::make_unique<ProgramQuantizer>());
    for (const double value : values) quantizers.back()->insert(value);
  };
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
    quantize(column, merged.value);
    if (feature == index_of(Feature::compute) && ranks_.size() > 1) {
      quantize(merged_.largest_work, largest_work_);
      quantize(merged_.last_rank_work, last_rank_work_);
    }
  }
  std::vector<std::vector<double>> bins = merge_bins(exchange, quantizers);
  for (std::size_t q = 0; q < quantized.size(); ++q) {
    const auto& [column, values] = quantized[q];
    column->bins = std::move(bins[q]);
    for (const double value : *values) column->index.push_back(nearest_bin(column->bins, value));
  }
  const auto leave_out_if_constant = [](FeatureColumn& column) {
    if (column.bins.size() <= 1) column.index.clear();
  };
  std::for_each(merged_.features.begin(), merged_.features.end(), leave_out_if_constant);
  leave_out_if_constant(merged_.largest_work);
  leave_out_if_constant(merged_.last_rank_work);
}

double Merger::median_over_ranks(std::size_t segment) {
  const std::vector<double>& bins = names_.bins[index_of(Feature::compute)];
  const auto [lower, upper] = compute_.take_middle(segment);
  return lower == upper ? bins[upper] : 0.5 * (bins[upper] + bins[lower]);
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
