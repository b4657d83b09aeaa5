// docs/columns.md, made from the columns of a profile.
#pragma once

#include <string>

namespace halcyon::cli {

std::string columns_page();

}  // namespace halcyon::cli
