// The laws that are tried on a group: a lattice over how often delays strike, how long they are and how they are
// distributed, with the prior probability of each law.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/estimate/duration_law.hpp"

namespace halcyon {

/// A law on the lattice, without its jitter.
struct LatticePlace {
  int hits = 0;
  int delay = 0;
  std::size_t law = 0;       // of delay_laws
  std::size_t exposure = 0;  // of the shares of segments that delays can hit
};

/// All places whose laws can be distinguished from others. They are the same for every group.
const std::vector<LatticePlace>& lattice_places();

DurationShape shape_at(const LatticePlace& place, Jitter jitter);

/// Whether a place is tried in the first pass, which leaves most of them out.
bool is_of_first_look(const LatticePlace& place);
/// The places that are one step of hits, of delay or of both away.
std::vector<LatticePlace> neighbours_of(const LatticePlace& place);

/// The log prior probability of a law that delays a group, and of one that does not.
double log_prior_of(const DurationShape& shape);
double log_prior_undisturbed();
/// The same for two kinds of work in one group that no feature distinguishes.
double log_prior_of_other_work();

}  // namespace halcyon
