#include "libprofile/reduce/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <set>

#include "libprofile/reduce/last_rank.hpp"

namespace halcyon {
namespace {

constexpr std::size_t piece_bytes = std::size_t{8} << 20;  // of the send and of the receive buffer

std::string text_of(const CallSite& site) {
  std::string text(boundary_names[static_cast<std::size_t>(site.boundary)]);
  if (site.address == nullptr) return text;
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(site.offset));
  return text + "@" + site.module + offset;
}

// Every rank's call sites by name, so that a site has one number in the whole program.
std::vector<std::string> merge_sites(const World& world, const std::vector<CallSite>& own) {
  std::set<std::string> all;
  for (const CallSite& site : own) all.insert(text_of(site));
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

// What a rank's rows are translated with before they leave it.
struct Translation {
  std::array<std::vector<double>, feature_count> bins;  // program-wide, of the ranks' own values
  std::array<std::array<std::uint16_t, 256>, feature_count> bin_of_slot{};
  std::vector<std::size_t> active;  // features with more than one bin
  std::vector<std::string> sites;
  std::array<std::uint16_t, 256> site_of_index{};
};

Translation translate(const World& world, const Recorder& run, double nanoseconds_per_tick, bool with_compute) {
  Translation translation;
  const auto scale = [&](std::size_t feature) {
    if (feature != index_of(Feature::compute)) return 1.0;
    return !with_compute ? 0.0 : run.counter.kind() == Counter::Kind::cpu ? nanoseconds_per_tick : 1.0;
  };
  std::vector<std::unique_ptr<ProgramQuantizer>> quantizers;
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const RankQuantizer& own = run.segments->quantizer(feature);
    quantizers.push_back(std::make_unique<ProgramQuantizer>());
    for (std::size_t bin = 0; bin < own.size(); ++bin) {
      quantizers.back()->insert(own.value(bin) * scale(feature), own.weight(bin));
    }
  }
  std::vector<std::vector<double>> bins = merge_bins(world, quantizers);
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const RankQuantizer& own = run.segments->quantizer(feature);
    for (std::size_t bin = 0; bin < own.size(); ++bin) {
      translation.bin_of_slot[feature][own.slot(bin)] = nearest_bin(bins[feature], own.value(bin) * scale(feature));
    }
    if (bins[feature].size() > 1) translation.active.push_back(feature);
    translation.bins[feature] = std::move(bins[feature]);
  }
  translation.sites = merge_sites(world, run.sites);
  for (std::size_t i = 0; i < run.sites.size(); ++i) {
    const auto found = std::lower_bound(translation.sites.begin(), translation.sites.end(), text_of(run.sites[i]));
    translation.site_of_index[i] = static_cast<std::uint16_t>(found - translation.sites.begin());
  }
  return translation;
}

// The beginning of a row on the wire, in seconds.
struct RowTimes {
  float duration = 0.0F;
  std::array<float, time_kind_count> kinds{};
  float off_cpu = 0.0F;
  float beyond_usual = 0.0F;
  float injected_requested = 0.0F;  // these two only where intM was loaded
  float injected_actual = 0.0F;

  double of(TimeKind kind) const { return static_cast<double>(kinds[static_cast<std::size_t>(kind)]); }
  double lateness() const {
    const double calls = of(TimeKind::point_to_point) + of(TimeKind::collective) + of(TimeKind::file_io);
    return halcyon::lateness(of(TimeKind::boundary), calls, static_cast<double>(off_cpu));
  }
};

// The layout of a row on the wire: times, then bins.
struct RowLayout {
  std::size_t time_bytes;
  std::size_t bins;  // call site, active features

  RowLayout(bool with_injection, std::size_t active_features)
      : time_bytes(with_injection ? sizeof(RowTimes) : offsetof(RowTimes, injected_requested)),
        bins(1 + active_features) {}
  std::size_t bytes() const { return time_bytes + bins * sizeof(std::uint16_t); }
  RowTimes times_of(const std::byte* row) const {
    RowTimes times;
    std::memcpy(&times, row, time_bytes);
    return times;
  }
};

void write_row(std::byte* row, const RowLayout& layout, const StoredSegment& segment, const Translation& translation,
               float seconds_per_tick) {
  RowTimes times;
  times.duration = segment.duration * seconds_per_tick;
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    times.kinds[kind] = static_cast<float>(segment.times.kinds[kind]) * seconds_per_tick;
  }
  times.off_cpu = static_cast<float>(segment.times.off_cpu) * seconds_per_tick;
  times.beyond_usual = static_cast<float>(segment.times.beyond_usual) * seconds_per_tick;
  times.injected_requested = segment.injected_requested * 1e-9F;
  times.injected_actual = segment.injected_actual * 1e-9F;
  std::array<std::uint16_t, 1 + feature_count> bins{};
  bins[0] = translation.site_of_index[segment.site];
  for (std::size_t i = 0; i < translation.active.size(); ++i) {
    const std::size_t feature = translation.active[i];
    bins[1 + i] = translation.bin_of_slot[feature][segment.slots[feature]];
  }
  std::memcpy(row, &times, layout.time_bytes);
  std::memcpy(row + layout.time_bytes, bins.data(), layout.bins * sizeof(std::uint16_t));
}

// What merging the ranks leaves of the features before they are binned again.
struct MergedFeature {
  std::vector<double> value;           // (own segments) median for compute, else sum over ranks
  std::vector<std::uint64_t> pattern;  // (own segments) of counts
  Patterns<double> patterns;
};

class Merger {
 public:
  Merger(const World& world, const Translation& translation, bool with_injection, std::size_t count)
      : translation_(translation),
        with_injection_(with_injection),
        ranks_(static_cast<std::size_t>(world.ranks())),
        merged_(translation.active.size()),
        middle_(ranks_) {
    for (auto* column : {&owned.duration, &owned.boundary_wait, &owned.calls_beyond_usual}) column->reserve(count);
    for (auto& column : owned.last_rank_times) column.reserve(count);
    owned.last_rank.reserve(count);
    owned.last_rank_off_cpu.reserve(count);
    site_pattern_.reserve(count);
  }

  OwnedSegments owned;

  /// One segment from the rows of all ranks; `stride` bytes lie between the rows of consecutive ranks.
  void add(const std::byte* rows, std::size_t stride, const RowLayout& layout) {
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
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const std::byte* row = rows + rank * stride;
      const RowTimes times = layout.times_of(row);
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
      for (std::size_t i = 0; i < translation_.active.size(); ++i) {
        const std::size_t feature = translation_.active[i];
        if (feature == index_of(Feature::compute)) {
          middle_[rank] = bins[1 + i];
        } else {
          sums[i] += translation_.bins[feature][bins[1 + i]];
          patterns[i] = mix(patterns[i], bins[1 + i]);
        }
      }
    }
    const double share = 1.0 / static_cast<double>(ranks_);
    owned.duration.push_back(static_cast<float>(duration * share));
    owned.boundary_wait.push_back(static_cast<float>(wait * share));
    owned.calls_beyond_usual.push_back(beyond_usual);
    owned.last_rank.push_back(static_cast<std::uint32_t>(last));
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
      owned.last_rank_times[kind].push_back(times_of_last.kinds[kind]);
    }
    owned.last_rank_off_cpu.push_back(times_of_last.off_cpu);
    if (with_injection_) {
      owned.injected_requested.push_back(static_cast<float>(requested));
      owned.injected_actual.push_back(static_cast<float>(actual));
      owned.injected_critical.push_back(critical);
    }
    site_pattern_.push_back(sites);
    site_patterns_.number_of(sites, first_site);
    first_site_.push_back(first_site);
    for (std::size_t i = 0; i < translation_.active.size(); ++i) {
      const std::size_t feature = translation_.active[i];
      MergedFeature& merged = merged_[i];
      merged.value.push_back(feature == index_of(Feature::compute) ? median_over_ranks() : sums[i]);
      if (features[feature].kind == FeatureKind::count) {
        merged.pattern.push_back(patterns[i]);
        merged.patterns.number_of(patterns[i], sums[i]);
      }
    }
  }

  /// Collective: numbers patterns program-wide, or bins what is too diverse for that.
  void finish(const World& world) {
    std::vector<std::unique_ptr<ProgramQuantizer>> quantizers;
    std::vector<std::size_t> quantized;
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      if (translation_.bins[feature].size() > 1) continue;
      const double ranks = features[feature].kind == FeatureKind::work ? 1.0 : static_cast<double>(ranks_);
      owned.features[feature].bins = {translation_.bins[feature].front() * ranks};
    }
    for (std::size_t i = 0; i < translation_.active.size(); ++i) {
      const std::size_t feature = translation_.active[i];
      MergedFeature& merged = merged_[i];
      if (features[feature].kind == FeatureKind::count) {
        merge_patterns(world, merged.patterns);
        if (!merged.patterns.diverse()) {
          owned.features[feature].bins = merged.patterns.meanings();
          for (const std::uint64_t pattern : merged.pattern) {
            owned.features[feature].index.push_back(merged.patterns.known(pattern));
          }
          continue;
        }
      }
      owned.features[feature].reduced = true;
      quantized.push_back(i);
      quantizers.push_back(std::make_unique<ProgramQuantizer>());
      for (const double value : merged.value) quantizers.back()->insert(value);
    }
    std::vector<std::vector<double>> bins = merge_bins(world, quantizers);
    for (std::size_t q = 0; q < quantized.size(); ++q) {
      const MergedFeature& merged = merged_[quantized[q]];
      OwnedFeature& column = owned.features[translation_.active[quantized[q]]];
      column.bins = std::move(bins[q]);
      for (const double value : merged.value) column.index.push_back(nearest_bin(column.bins, value));
    }
    for (OwnedFeature& column : owned.features) {
      if (column.bins.size() <= 1) column.index.clear();
    }
    finish_sites(world);
  }

 private:
  double median_over_ranks() {
    const std::vector<double>& bins = translation_.bins[index_of(Feature::compute)];
    const auto middle = middle_.begin() + static_cast<std::ptrdiff_t>(ranks_ / 2);
    std::nth_element(middle_.begin(), middle, middle_.end());
    if (ranks_ % 2 == 1) return bins[*middle];
    return 0.5 * (bins[*middle] + bins[*std::max_element(middle_.begin(), middle)]);
  }

  template <class Meaning>
  static void merge_patterns(const World& world, Patterns<Meaning>& patterns) {
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

  void finish_sites(const World& world) {
    merge_patterns(world, site_patterns_);
    if (site_patterns_.diverse()) {
      owned.sites = translation_.sites;
      owned.site = first_site_;
    } else {
      for (const std::uint16_t site : site_patterns_.meanings()) owned.sites.push_back(translation_.sites[site]);
      for (const std::uint64_t pattern : site_pattern_) owned.site.push_back(site_patterns_.known(pattern));
    }
    if (owned.sites.size() <= 1) owned.site.clear();
  }

  const Translation& translation_;
  bool with_injection_;
  std::size_t ranks_;
  std::vector<MergedFeature> merged_;  // of the active features
  std::vector<std::uint16_t> middle_;  // (ranks) compute bins of the segment at hand
  std::vector<std::uint64_t> site_pattern_;
  std::vector<std::uint16_t> first_site_;
  Patterns<std::uint16_t> site_patterns_;
};

}  // namespace

OwnedSegments exchange_segments(const World& world, const Recorder& run, double nanoseconds_per_tick,
                                bool with_compute) {
  const SegmentStore& store = *run.segments;
  const std::size_t segments = store.size();
  const auto ranks = static_cast<std::size_t>(world.ranks());
  const auto first = [&](int rank) { return first_owned(segments, world.ranks(), rank); };

  const Translation translation = translate(world, run, nanoseconds_per_tick, with_compute);
  const RowLayout layout(store.with_injection(), translation.active.size());
  const std::size_t own = first(world.rank() + 1) - first(world.rank());
  const std::size_t most_owned = first(1) - first(0);
  const std::size_t rows = std::clamp<std::size_t>(piece_bytes / (layout.bytes() * ranks), 1, most_owned);
  const std::size_t stride = rows * layout.bytes();

  Merger merger(world, translation, store.with_injection(), own);
  std::vector<std::byte> outgoing(stride * ranks);
  std::vector<std::byte> incoming(stride * ranks);
  const float seconds_per_tick = static_cast<float>(nanoseconds_per_tick * 1e-9);
  for (std::size_t done = 0; done < most_owned; done += rows) {
    for (int rank = 0; rank < world.ranks(); ++rank) {
      std::byte* row = outgoing.data() + static_cast<std::size_t>(rank) * stride;
      const std::size_t end = std::min(first(rank) + done + rows, first(rank + 1));
      for (std::size_t index = first(rank) + done; index < end; ++index, row += layout.bytes()) {
        write_row(row, layout, store.get(index), translation, seconds_per_tick);
      }
    }
    world.all_to_all(outgoing.data(), incoming.data(), stride);
    const std::size_t arrived = done < own ? std::min(rows, own - done) : 0;
    for (std::size_t i = 0; i < arrived; ++i) merger.add(incoming.data() + i * layout.bytes(), stride, layout);
  }
  merger.finish(world);
  return std::move(merger.owned);
}

}  // namespace halcyon
