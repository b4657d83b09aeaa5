// What tests read out of a rank's stored segments.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "libprofile/record/store/segment_store.hpp"

namespace halcyon::testing {

/// The value of the compute feature that the bin of this segment stands for.
inline double compute_of(const SegmentStore& store, std::size_t segment) {
  const std::uint8_t slot = store.get(segment).slot(index_of(Feature::compute));
  const RankQuantizer& bins = store.quantizer(index_of(Feature::compute));
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins.slot(bin) == slot) return bins.value(bin);
  }
  ADD_FAILURE() << "segment " << segment << " points at a slot that no bin has";
  return -1.0;
}

}  // namespace halcyon::testing
