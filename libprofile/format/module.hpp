// A file whose code calls MPI: the program or one of its libraries.
#pragma once

#include <string>

namespace halcyon {

struct Module {
  std::string name;      // as in call sites
  std::string path;      // absolute; empty if unknown
  std::string build_id;  // in hexadecimal digits; empty if it has none
};

}  // namespace halcyon
