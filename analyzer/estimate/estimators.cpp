#include "analyzer/estimate/estimators.hpp"

#include "analyzer/estimate/baselines.hpp"
#include "analyzer/estimate/compound.hpp"

namespace halcyon {

const std::array<Method, 2> methods{{{"compound", estimate_compound}, {"paper", estimate_paper}}};

}  // namespace halcyon
