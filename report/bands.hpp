// The classes of interference as bands on a scale from 0 to a given end, in percent.
#pragma once

#include <array>

#include "analyzer/judge/verdict.hpp"

namespace halcyon {

struct Band {
  Verdict verdict = Verdict::unknown;
  double from = 0.0;
  double to = 0.0;

  double middle() const { return 0.5 * (from + to); }
};

inline std::array<Band, 3> bands(double end) {
  return {{{Verdict::green, 0.0, green_below_percent},
           {Verdict::yellow, green_below_percent, red_above_percent},
           {Verdict::red, red_above_percent, end}}};
}

}  // namespace halcyon
