#include "libprofile/reduce/merge.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "libprofile/reduce/last_rank.hpp"

namespace halcyon {
namespace {

// Every rank's call sites by name, so that a site has one number in the whole program.
std::vector<std::string> merge_sites(const World& world, const std::vector<RankRecords>& own) {
  std::set<std::string> all;
  for (const RankRecords& rank : own) all.insert(rank.sites.begin(), rank.sites.end());
  const auto pack = [&all] {
    Packer packer;
    for (const std::string& text : all) packer.put_text(text);
    return packer.take();
  };
  world.merge_to_root(pack, [&all](const std::vector<std::byte>& data) {
    for (Unpacker unpacker(data); !unpacker.at_end();) all.insert(unpacker.get_text());
  });
  std::vector<std::byte> merged = world.is_root() ? pack() : std::vector<std::byte>();
  world.broadcast(merged);
  std::vector<std::string> texts;
  for (Unpacker unpacker(merged); !unpacker.at_end();) texts.push_back(unpacker.get_text());
  return texts;
}

double scale_of(const RankRecords& records, std::size_t feature) {
  return feature == index_of(Feature::compute) ? records.compute_scale : 1.0;
}

RowTimes times_of(const std::byte* row, const RowLayout& layout) {
  RowTimes times;
  std::memcpy(&times, row, layout.time_bytes);
  return times;
}

template <class Meaning>
void merge_patterns(const World& world, Patterns<Meaning>& patterns) {
  const auto pack = [&patterns] {
    Packer packer;
    packer.put(static_cast<std::uint64_t>(patterns.diverse() ? program_bins + 1 : patterns.hashes().size()));
    if (!patterns.diverse()) {
      packer.put(patterns.hashes().data(), patterns.hashes().size());
      packer.put(patterns.meanings().data(), patterns.meanings().size());
    }
    return packer.take();
  };
  const auto merge = [&patterns](const std::vector<std::byte>& data) {
    Unpacker unpacker(data);
    const auto count = unpacker.get<std::uint64_t>();
    if (count > program_bins) {
      patterns.give_up();
      return;
    }
    std::vector<std::uint64_t> hashes(count);
    std::vector<Meaning> meanings(count);
    unpacker.get(hashes.data(), count);
    unpacker.get(meanings.data(), count);
    for (std::size_t i = 0; i < count; ++i) patterns.number_of(hashes[i], meanings[i]);
  };
  world.merge_to_root(pack, merge);
  std::vector<std::byte> all = world.is_root() ? pack() : std::vector<std::byte>();
  world.broadcast(all);
  if (!world.is_root()) {
    patterns = {};
    merge(all);
  }
}

}  // namespace

ProgramNames merge_names(const World& world, const std::vector<RankRecords>& own) {
  std::vector<std::unique_ptr<ProgramQuantizer>> quantizers;
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    quantizers.push_back(std::make_unique<ProgramQuantizer>());
    for (const RankRecords& rank : own) {
      const RankQuantizer& bins = rank.store->quantizer(feature);
      for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        quantizers.back()->insert(bins.value(bin) * scale_of(rank, feature), bins.weight(bin));
      }
    }
  }
  std::vector<std::vector<double>> bins = merge_bins(world, quantizers);
  ProgramNames names;
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    if (bins[feature].size() > 1) names.active.push_back(feature);
    names.bins[feature] = std::move(bins[feature]);
  }
  names.sites = merge_sites(world, own);
  return names;
}

double RowTimes::lateness() const {
  const double calls = of(TimeKind::point_to_point) + of(TimeKind::collective) + of(TimeKind::file_io);
  return halcyon::lateness(of(TimeKind::boundary), calls, static_cast<double>(off_cpu));
}

RowLayout::RowLayout(bool with_injection, std::size_t active_features)
    : time_bytes(with_injection ? sizeof(RowTimes) : offsetof(RowTimes, injected_requested)),
      bins(1 + active_features) {}

RowWriter::RowWriter(const ProgramNames& names, const RankRecords& records, const RowLayout& layout)
    : names_(names),
      store_(*records.store),
      layout_(layout),
      seconds_per_tick_(static_cast<float>(records.nanoseconds_per_tick * 1e-9)) {
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
  RowTimes times;
  times.duration = segment.duration * seconds_per_tick_;
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    times.kinds[kind] = static_cast<float>(segment.times.kinds[kind]) * seconds_per_tick_;
  }
  times.off_cpu = static_cast<float>(segment.times.off_cpu) * seconds_per_tick_;
  times.beyond_usual = static_cast<float>(segment.times.beyond_usual) * seconds_per_tick_;
  times.injected_requested = segment.injected_requested * 1e-9F;
  times.injected_actual = segment.injected_actual * 1e-9F;
  std::array<std::uint16_t, 1 + feature_count> bins{};
  bins[0] = site_of_index_[segment.site];
  for (std::size_t i = 0; i < names_.active.size(); ++i) {
    const std::size_t feature = names_.active[i];
    bins[1 + i] = bin_of_slot_[feature][segment.slots[feature]];
  }
  std::memcpy(row, &times, layout_.time_bytes);
  std::memcpy(row + layout_.time_bytes, bins.data(), layout_.bins * sizeof(std::uint16_t));
}

Merger::Merger(const ProgramNames& names, std::vector<std::uint32_t> ranks, bool with_injection, std::size_t count)
    : names_(names),
      ranks_(std::move(ranks)),
      with_injection_(with_injection),
      merged_(names.active.size()),
      middle_(ranks_.size()) {
  for (auto* column : {&owned_.duration, &owned_.boundary_wait, &owned_.calls_beyond_usual}) column->reserve(count);
  for (auto& column : owned_.last_rank_times) column.reserve(count);
  owned_.last_rank.reserve(count);
  owned_.last_rank_off_cpu.reserve(count);
  site_pattern_.reserve(count);
}

void Merger::add(const std::byte* rows, std::size_t stride, const RowLayout& layout) {
  double duration = 0.0, wait = 0.0, requested = 0.0, actual = 0.0;
  float critical = 0.0F;
  float beyond_usual = std::numeric_limits<float>::max();
  std::size_t last = 0;
  RowTimes times_of_last;
  std::uint64_t sites = 0;
  std::array<double, feature_count> sums{};
  std::array<std::uint64_t, feature_count> patterns{};
  std::array<std::uint16_t, 1 + feature_count> bins{};
  std::uint16_t first_site = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const std::byte* row = rows + rank * stride;
    const RowTimes times = times_of(row, layout);
    std::memcpy(bins.data(), row + layout.time_bytes, layout.bins * sizeof(std::uint16_t));
    duration += static_cast<double>(times.duration);
    wait += times.of(TimeKind::boundary);
    beyond_usual = std::min(beyond_usual, times.beyond_usual);
    if (rank == 0 || times.lateness() > times_of_last.lateness()) {
      last = rank;
      times_of_last = times;
    }
    if (with_injection_) {
      requested += static_cast<double>(times.injected_requested);
      actual += static_cast<double>(times.injected_actual);
      critical = std::max(critical, times.injected_actual);
    }
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
  const double share = 1.0 / static_cast<double>(ranks_.size());
  owned_.duration.push_back(static_cast<float>(duration * share));
  owned_.boundary_wait.push_back(static_cast<float>(wait * share));
  owned_.calls_beyond_usual.push_back(beyond_usual);
  owned_.last_rank.push_back(ranks_[last]);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    owned_.last_rank_times[kind].push_back(times_of_last.kinds[kind]);
  }
  owned_.last_rank_off_cpu.push_back(times_of_last.off_cpu);
  if (with_injection_) {
    owned_.injected_requested.push_back(static_cast<float>(requested));
    owned_.injected_actual.push_back(static_cast<float>(actual));
    owned_.injected_critical.push_back(critical);
  }
  site_pattern_.push_back(sites);
  site_patterns_.number_of(sites, first_site);
  first_site_.push_back(first_site);
  for (std::size_t i = 0; i < names_.active.size(); ++i) {
    const std::size_t feature = names_.active[i];
    MergedFeature& merged = merged_[i];
    merged.value.push_back(feature == index_of(Feature::compute) ? median_over_ranks() : sums[i]);
    if (features[feature].kind == FeatureKind::count) {
      merged.pattern.push_back(patterns[i]);
      merged.patterns.number_of(patterns[i], sums[i]);
    }
  }
}

OwnedSegments Merger::finish(const World& world) {
  std::vector<std::unique_ptr<ProgramQuantizer>> quantizers;
  std::vector<std::size_t> quantized;
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    if (names_.bins[feature].size() > 1) continue;
    const double ranks = features[feature].kind == FeatureKind::work ? 1.0 : static_cast<double>(ranks_.size());
    owned_.features[feature].bins = {names_.bins[feature].front() * ranks};
  }
  for (std::size_t i = 0; i < names_.active.size(); ++i) {
    const std::size_t feature = names_.active[i];
    MergedFeature& merged = merged_[i];
    if (features[feature].kind == FeatureKind::count) {
      merge_patterns(world, merged.patterns);
      if (!merged.patterns.diverse()) {
        owned_.features[feature].bins = merged.patterns.meanings();
        for (const std::uint64_t pattern : merged.pattern) {
          owned_.features[feature].index.push_back(merged.patterns.known(pattern));
        }
        continue;
      }
    }
    owned_.features[feature].reduced = true;
    quantized.push_back(i);
    quantizers.push_back(std::make_unique<ProgramQuantizer>());
    for (const double value : merged.value) quantizers.back()->insert(value);
  }
  std::vector<std::vector<double>> bins = merge_bins(world, quantizers);
  for (std::size_t q = 0; q < quantized.size(); ++q) {
    const MergedFeature& merged = merged_[quantized[q]];
    OwnedFeature& column = owned_.features[names_.active[quantized[q]]];
    column.bins = std::move(bins[q]);
    for (const double value : merged.value) column.index.push_back(nearest_bin(column.bins, value));
  }
  for (OwnedFeature& column : owned_.features) {
    if (column.bins.size() <= 1) column.index.clear();
  }
  finish_sites(world);
  return std::move(owned_);
}

double Merger::median_over_ranks() {
  const std::vector<double>& bins = names_.bins[index_of(Feature::compute)];
  const auto middle = middle_.begin() + static_cast<std::ptrdiff_t>(ranks_.size() / 2);
  std::nth_element(middle_.begin(), middle, middle_.end());
  if (ranks_.size() % 2 == 1) return bins[*middle];
  return 0.5 * (bins[*middle] + bins[*std::max_element(middle_.begin(), middle)]);
}

void Merger::finish_sites(const World& world) {
  merge_patterns(world, site_patterns_);
  if (site_patterns_.diverse()) {
    owned_.sites = names_.sites;
    owned_.site = first_site_;
  } else {
    for (const std::uint16_t site : site_patterns_.meanings()) owned_.sites.push_back(names_.sites[site]);
    for (const std::uint64_t pattern : site_pattern_) owned_.site.push_back(site_patterns_.known(pattern));
  }
  if (owned_.sites.size() <= 1) owned_.site.clear();
}

}  // namespace halcyon
