#include "libprofile/merge/names.hpp"

#include <utility>

#include "libprofile/format/packer.hpp"

namespace halcyon {
namespace {

// Merges the ranks' call sites by name, so that a site has one number in the whole program.
std::vector<std::string> merge_sites(const Exchange& exchange, std::set<std::string>& all) {
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

OwnNames::OwnNames() {
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    quantizers_.push_back(std::make_unique<ProgramQuantizer>());
  }
}

void OwnNames::add(const RankRecords& rank) {
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const RankQuantizer& bins = rank.store->quantizer(feature);
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      quantizers_[feature]->insert(bins.value(bin) * scale_of(rank, feature), bins.weight(bin));
    }
  }
  sites_.insert(rank.sites.begin(), rank.sites.end());
}

void OwnNames::drop_compute() {
  auto& compute = quantizers_[index_of(Feature::compute)];
  compute = std::make_unique<ProgramQuantizer>();
  compute->insert(0.0);
}

ProgramNames merge_names(const Exchange& exchange, OwnNames& own) {
  std::vector<std::vector<double>> bins = merge_bins(exchange, own.quantizers_);
  ProgramNames names;
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    if (bins[feature].size() > 1) names.active.push_back(feature);
    names.bins[feature] = std::move(bins[feature]);
  }
  names.sites = merge_sites(exchange, own.sites_);
  return names;
}

}  // namespace halcyon
