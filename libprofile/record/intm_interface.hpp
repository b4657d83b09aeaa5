// How the recorder learns what intM, if loaded, has added: libintm.so exports functions with these names.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace halcyon {

/// What intM has added on this rank since it started: nanoseconds asked for and nanoseconds spent.
using InjectedTotals = void (*)(std::uint64_t* requested, std::uint64_t* actual);
using InjectedSpec = const char* (*)();
inline constexpr const char* injected_totals_symbol = "intm_injected_totals";
inline constexpr const char* injected_spec_symbol = "intm_spec";

/// Null where intM is not loaded.
inline InjectedTotals totals_of_intm() {
  return reinterpret_cast<InjectedTotals>(dlsym(RTLD_DEFAULT, injected_totals_symbol));
}
/// Empty where intM is not loaded. An intM in front of the recorder reads its SPECs after the recorder has started: ask
/// at the first boundary, or later.
inline std::string spec_of_intm() {
  const auto spec = reinterpret_cast<InjectedSpec>(dlsym(RTLD_DEFAULT, injected_spec_symbol));
  return spec != nullptr ? spec() : std::string();
}

}  // namespace halcyon
