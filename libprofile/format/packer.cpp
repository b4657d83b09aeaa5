#include "libprofile/format/packer.hpp"

#include <stdexcept>

namespace halcyon {

void Unpacker::throw_cut_off() { throw std::runtime_error("it is cut off"); }

}  // namespace halcyon
