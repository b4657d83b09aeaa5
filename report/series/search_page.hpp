// The result of `halcyon search` as a page.
#pragma once

#include <string>

#include "report/series/search.hpp"

namespace halcyon {

/// The text of the result, the response over the load with the limit, and the loads in the order in which they ran.
std::string search_html(const SearchResult& result);

}  // namespace halcyon
