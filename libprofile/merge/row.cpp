#include "libprofile/merge/row.hpp"

#include <algorithm>
#include <cstring>

#include "libprofile/merge/last_rank.hpp"
#include "libprofile/merge/program_bins.hpp"

namespace halcyon {
namespace {

// The measures of intM are the last ones of the table.
constexpr std::size_t measures_without_intm = measure_count - count_of(Kept::with_intm);
constexpr bool intm_comes_last() {
  for (std::size_t i = 0; i < measure_count; ++i) {
    if ((measures[i].kept == Kept::with_intm) != (i >= measures_without_intm)) return false;
  }
  return true;
}
static_assert(intm_comes_last());

}  // namespace

double lateness_of(const RowMeasures& times) {
  const auto of = [&times](Measure measure) { return static_cast<double>(times[index_of(measure)]); };
  const double calls = of(Measure::point_to_point) + of(Measure::collective) + of(Measure::file_io);
  return lateness(of(Measure::boundary), calls, of(Measure::off_cpu));
}

float slack_of(const RowMeasures& times) {
  return times[index_of(Measure::boundary)] + times[index_of(Measure::point_to_point)] +
         times[index_of(Measure::collective)];
}

// Of the time off the CPU, what is neither a wait for it nor in calls.
float computing_of(const RowMeasures& times) {
  const float in_calls = slack_of(times) + times[index_of(Measure::file_io)] + times[index_of(Measure::device)];
  const float asleep = times[index_of(Measure::off_cpu)] - times[index_of(Measure::cpu_wait)] - in_calls;
  return std::max(0.0F, times[index_of(Measure::duration)] - in_calls - std::max(0.0F, asleep));
}

MeasureScale::MeasureScale(double nanoseconds_per_tick) {
  for (const MeasureInfo& info : measures) {
    scale_[index_of(info.measure)] = info.unit == MeasuredIn::ticks ? static_cast<float>(nanoseconds_per_tick * 1e-9)
                                     : info.unit == MeasuredIn::nanoseconds ? 1e-9F
                                                                            : 1.0F;
  }
}

RowMeasures MeasureScale::of(const StoredSegment& segment) const {
  RowMeasures measured{};
  for (std::size_t i = 0; i < measure_count; ++i) measured[i] = static_cast<float>(segment.measured[i]) * scale_[i];
  return measured;
}

RowLayout::RowLayout(bool with_injection, std::size_t active_features)
    : measures_(with_injection ? measure_count : measures_without_intm), bins_(1 + active_features) {}

void RowLayout::write(const RowMeasures& measured, const std::uint16_t* bins, std::byte* row) const {
  std::memcpy(row, measured.data(), measures_ * sizeof(float));
  std::memcpy(row + measures_ * sizeof(float), bins, bins_ * sizeof(std::uint16_t));
}

void RowLayout::read(const std::byte* row, RowMeasures& measured, std::uint16_t* bins) const {
  std::memcpy(measured.data(), row, measures_ * sizeof(float));
  std::memcpy(bins, row + measures_ * sizeof(float), bins_ * sizeof(std::uint16_t));
}

RowWriter::RowWriter(const ProgramNames& names, const RankRecords& records, const RowLayout& layout)
    : names_(names), store_(*records.store), layout_(layout), scale_(records.nanoseconds_per_tick) {
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const RankQuantizer& own = store_.quantizer(feature);
    for (std::size_t bin = 0; bin < own.size(); ++bin) {
      bin_of_slot_[feature][own.slot(bin)] =
          nearest_bin(names.bins[feature], own.value(bin) * scale_of(records, feature));
    }
  }
  for (std::size_t i = 0; i < records.sites.size(); ++i) {
    const auto found = std::lower_bound(names.sites.begin(), names.sites.end(), records.sites[i]);
    site_of_index_[i] = static_cast<std::uint16_t>(found - names.sites.begin());
  }
}

void RowWriter::write(std::size_t index, std::byte* row) const {
  const StoredSegment segment = store_.get(index);
  const RowMeasures measured = scale_.of(segment);
  std::array<std::uint16_t, 1 + feature_count> bins{};
  bins[0] = site_of_index_[segment.site];
  for (std::size_t i = 0; i < names_.active.size(); ++i) {
    const std::size_t feature = names_.active[i];
    bins[1 + i] = bin_of_slot_[feature][segment.slot(feature)];
  }
  layout_.write(measured, bins.data(), row);
}

}  // namespace halcyon
