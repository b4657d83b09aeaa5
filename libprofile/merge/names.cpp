#include "libprofile/merge/names.hpp"

#include <memory>
#include <set>
#include <utility>

#include "libprofile/format/packing.hpp"
#include "libprofile/merge/program_bins.hpp"

namespace halcyon {
namespace {

// Merges the ranks' call sites by name, so that a site has one number in the whole program.
std::vector<std::string> merge_sites(const Exchange& exchange, const std::vector<RankRecords>& own) {
  std::set<std::string> all;
  for (const RankRecords& rank : own) all.insert(rank.sites.begin(), rank.sites.end());
  const auto pack = [&all] {
    Packer packer;
    for (const std::string& text : all) packer.put_text(text);
    return packer.take();
  };
  const auto merge = [&all](const std::vector<std::byte>& data) {
    for (Unpacker unpacker(data); !unpacker.at_end();) all.insert(unpacker.get_text());
  };
  const std::vector<std::byte> merged = merge_over_ranks(exchange, pack, merge);
  std::vector<std::string> texts;
  for (Unpacker unpacker(merged); !unpacker.at_end();) texts.push_back(unpacker.get_text());
  return texts;
}

}  // namespace

ProgramNames merge_names(const Exchange& exchange, const std::vector<RankRecords>& own) {
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
  std::vector<std::vector<double>> bins = merge_bins(exchange, quantizers);
  ProgramNames names;
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    if (bins[feature].size() > 1) names.active.push_back(feature);
    names.bins[feature] = std::move(bins[feature]);
  }
  names.sites = merge_sites(exchange, own);
  return names;
}

}  // namespace halcyon
