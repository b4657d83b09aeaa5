// A build without RE2: other libraries may need time without bounds for an expression.
#include "cli/series/printed_number.hpp"

namespace halcyon::cli {

Outcome<NumberFinder> parse_read(const std::string& /*text*/) {
  return Failure{"--read needs RE2, and this Halcyon was built without it"};
}

}  // namespace halcyon::cli
