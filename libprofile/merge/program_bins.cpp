#include "libprofile/merge/program_bins.hpp"

namespace halcyon {

std::vector<std::vector<double>> merge_bins(const Exchange& exchange,
                                            std::vector<std::unique_ptr<ProgramQuantizer>>& own) {
  const auto pack = [&own] {
    Packer packer;
    for (const auto& quantizer : own) {
      packer.put(static_cast<std::uint64_t>(quantizer->size()));
      for (std::size_t bin = 0; bin < quantizer->size(); ++bin) {
        packer.put(quantizer->value(bin));
        packer.put(quantizer->weight(bin));
      }
    }
    return packer.take();
  };
  const auto merge = [&own](const std::vector<std::byte>& data) {
    Unpacker unpacker(data);
    for (const auto& quantizer : own) {
      for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
        const auto value = unpacker.get<double>();
        quantizer->insert(value, unpacker.get<double>());
      }
    }
  };
  const std::vector<std::byte> merged = merge_over_ranks(exchange, pack, merge);
  std::vector<std::vector<double>> bins(own.size());
  Unpacker unpacker(merged);
  for (std::vector<double>& values : bins) {
    for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
      values.push_back(unpacker.get<double>());
      unpacker.get<double>();  // its weight
    }
  }
  return bins;
}

}  // namespace halcyon
