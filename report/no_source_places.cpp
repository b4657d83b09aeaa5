// A build without libdw: call sites stay module+offset.
#include "report/source_places.hpp"

namespace halcyon {

void find_source_places(Profile& /*profile*/) {}

}  // namespace halcyon
