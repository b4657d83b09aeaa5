// Which processor a rank runs on, as its records name it.
#pragma once

#include <cstdint>
#include <string>

namespace halcyon {

/// The model's name, else what is known of it: on aarch64 two numbers, elsewhere the architecture.
std::string cpu_model();

/// A processor of aarch64 by its MIDR_EL1. Who sells it with which memory is not in there: Grace is a Neoverse-V2.
std::string model_of_midr(std::uint64_t midr);

}  // namespace halcyon
