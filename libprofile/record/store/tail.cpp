#include "libprofile/record/store/tail.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>
#include <stdexcept>

#include "libprofile/format/columns.hpp"
#include "libprofile/format/packer.hpp"

namespace halcyon {
std::size_t write_tail(std::byte* tail, const RankFigures& figures, PartEnd end, const SegmentStore& segments,
                       const std::vector<CallSite>& sites, const std::vector<Module>& modules) {
  Cursor out(tail);
  out.skip(tail_header_size);
  // If a closed block could not be written, the open segments are left out, since they belong after it.
  const bool whole = segments.in_file() == segments.closed_blocks();
  const std::size_t open = whole ? segments.open_size() : 0;
  const std::size_t known_sites = std::min(sites.size(), most_sites);
  TailFacts facts{.figures = figures,
                  .closed_blocks = segments.in_file(),
                  .open_segments = static_cast<std::uint32_t>(open),
                  .sites = static_cast<std::uint32_t>(known_sites),
                  .modules = static_cast<std::uint32_t>(modules.size()),
                  .end = end,
                  .remapped = 0};
  std::byte* const place_of_facts = out.skip(tail_facts_size);
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const RankQuantizer& bins = segments.quantizer(feature);
    out.put(static_cast<std::uint32_t>(bins.size()));
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      out.put(bins.value(bin));
      out.put(bins.weight(bin));
      out.put(bins.slot(bin));
    }
  }
  for (std::size_t i = 0; i < known_sites; ++i) out.put_text(sites[i].text, most_site_text);
  for (const Module& module : modules) {
    for (const std::string* text : {&module.name, &module.path, &module.build_id}) {
      out.put_text(*text, most_module_text);
    }
  }
  if (open > 0) {
    visit_columns(segments.open_block(), open, segments.with_injection(),
                  [&out](std::span<const std::byte> bytes) { out.put(bytes.data(), bytes.size()); });
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      segments.copy_open_slots(feature, reinterpret_cast<std::uint8_t*>(out.skip(open)));
    }
  }
  for (std::size_t feature = 0; segments.in_file() > 0 && feature < feature_count; ++feature) {
    SlotMap map;
    if (!segments.changed_since_file(feature, map)) continue;
    facts.remapped |= 1u << feature;
    out.put(map);
  }
  Cursor beginning(place_of_facts);
  for_each_number_of_tail(facts, [&beginning](const auto& number) { beginning.put(number); });
  return out.size();
}

ReadTail read_tail(const std::vector<std::byte>& tail, PartFile& part) {
  Unpacker in(tail);
  ReadTail read;
  TailFacts facts;
  for_each_number_of_tail(facts, [&in](auto& number) { in.get(number); });
  read.figures = facts.figures;
  read.figures.host.back() = '\0';
  read.figures.cpu.back() = '\0';
  read.end = static_cast<PartEnd>(facts.end);
  if (facts.open_segments >= SegmentBlock::capacity + 1 || facts.sites > most_sites || facts.modules > most_modules ||
      facts.closed_blocks > most_segments / SegmentBlock::capacity) {
    throw std::runtime_error("it lists segments that it cannot have");
  }
  read.written_segments = facts.closed_blocks * SegmentBlock::capacity + facts.open_segments;
  const bool has_segments = facts.closed_blocks + facts.open_segments > 0;
  if (has_segments && facts.sites == 0) throw std::runtime_error("it has segments without call sites");
  std::array<RankQuantizer, feature_count> quantizers;
  for (RankQuantizer& quantizer : quantizers) {
    const auto size = in.get<std::uint32_t>();
    if (has_segments && size == 0) {
      throw std::runtime_error("it has segments without bins");
    }
    double last = -1.0;
    for (std::uint32_t bin = 0; bin < size; ++bin) {
      const auto value = in.get<double>();
      const auto weight = in.get<double>();
      const auto slot = in.get<RankQuantizer::Slot>();
      if (!(value > last) || !std::isfinite(value) || !(weight >= 0.0) || !std::isfinite(weight) ||
          !quantizer.append(value, weight, slot)) {
        throw std::runtime_error("its bins contradict each other");
      }
      last = value;
    }
  }
  const auto get_text = [&in](std::size_t most) {
    std::string text(std::min<std::size_t>(in.get<std::uint32_t>(), most), '\0');
    in.get(text.data(), text.size());
    return text;
  };
  for (std::uint32_t i = 0; i < facts.sites; ++i) read.sites.push_back(get_text(most_site_text));
  for (std::uint32_t i = 0; i < facts.modules; ++i) {
    Module& module = read.modules.emplace_back();
    for (std::string* text : {&module.name, &module.path, &module.build_id}) *text = get_text(most_module_text);
  }
  OwnedBlock block = empty_block();
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t open = facts.open_segments;
  const bool with_injection = part.header().with_injection != 0;
  if (open > 0) {
    visit_columns(*block, open, with_injection,
                  [&in](std::span<std::byte> bytes) { in.get(bytes.data(), bytes.size()); });
    for (auto& slots : block->slots) in.get(slots.data(), open);
  }
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    if ((facts.remapped >> feature & 1) == 0) continue;
    block->maps[feature] = in.get<SlotMap>();
    block->mapped |= std::uint64_t{1} << feature;
  }
  // The open segments belong after the last closed block.
  const std::size_t closed = std::min<std::size_t>(facts.closed_blocks, part.blocks_within());
  read.segments = std::make_unique<SegmentStore>(part, with_injection, closed, std::move(block),
                                                 closed == facts.closed_blocks ? open : 0, quantizers);
  return read;
}

std::unique_ptr<SegmentStore> first_blocks(PartFile& part, std::size_t blocks) {
  OwnedBlock last = empty_block();
  OwnedBlock open = empty_block();
  if (last == nullptr || open == nullptr) throw std::bad_alloc();
  const auto quantizers = std::make_unique<std::array<RankQuantizer, feature_count>>();
  if (blocks > 0 && !part.read_block(blocks - 1, *last)) throw std::runtime_error("a block cannot be read");
  const float* values = last->bin_values.data();
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const std::size_t count = last->bin_counts[feature];
    std::vector<RankQuantizer::Slot> slots(count);
    std::iota(slots.begin(), slots.end(), RankQuantizer::Slot{0});
    std::sort(slots.begin(), slots.end(), [values](auto one, auto other) { return values[one] < values[other]; });
    for (const RankQuantizer::Slot slot : slots) {
      constexpr double weight = 1.0;  // not kept
      if (!(values[slot] >= 0.0F) || !std::isfinite(values[slot]) ||
          !(*quantizers)[feature].append(static_cast<double>(values[slot]), weight, slot)) {
        throw std::runtime_error("its bins contradict each other");
      }
    }
    if (blocks > 0 && count == 0) throw std::runtime_error("it has segments without bins");
    values += count;
  }
  return std::make_unique<SegmentStore>(part, part.header().with_injection != 0, blocks, std::move(open), 0,
                                        *quantizers);
}

}  // namespace halcyon
