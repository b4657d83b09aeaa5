// A file whose code calls MPI: the program or one of its libraries.
#pragma once

#include <string>

namespace halcyon {

struct Module {
  std::string name;      // as call sites have it
  std::string path;      // absolute; empty where it was not known
  std::string build_id;  // in hexadecimal digits; empty where it has none
};

}  // namespace halcyon
