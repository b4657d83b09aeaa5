#include "libprofile/record/cpu_model.hpp"

#include <sys/utsname.h>

#include <array>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace halcyon {
namespace {

struct ArmModel {
  unsigned implementer;
  unsigned part;
  const char* name;
};
// As the vendors' manuals number them; of those that clusters have.
constexpr ArmModel arm_models[] = {
    {0x41, 0xd07, "Arm Cortex-A57"},  {0x41, 0xd08, "Arm Cortex-A72"},  {0x41, 0xd0c, "Arm Neoverse-N1"},
    {0x41, 0xd40, "Arm Neoverse-V1"}, {0x41, 0xd49, "Arm Neoverse-N2"}, {0x41, 0xd4f, "Arm Neoverse-V2"},
    {0x46, 0x001, "Fujitsu A64FX"},
};

#if defined(__x86_64__)
std::string named_by_processor() {
  constexpr unsigned first = 0x80000002u;  // to 0x80000004: the brand, 16 characters each
  std::array<unsigned, 12> brand{};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned* part = &brand[4 * i];
    if (__get_cpuid(first + i, &part[0], &part[1], &part[2], &part[3]) == 0) return {};
  }
  char text[sizeof brand + 1] = {};
  std::memcpy(text, brand.data(), sizeof brand);
  std::string model(text);
  model.erase(0, model.find_first_not_of(' '));
  while (!model.empty() && model.back() == ' ') model.pop_back();
  return model;
}
#elif defined(__aarch64__)
// Programs may not read this register: where the kernel says so (HWCAP_CPUID), it answers for the core that asks.
std::string named_by_processor() {
  if ((getauxval(AT_HWCAP) & HWCAP_CPUID) == 0) return {};
  std::uint64_t midr = 0;
  asm volatile("mrs %0, midr_el1" : "=r"(midr));
  return model_of_midr(midr);
}
#else
std::string named_by_processor() { return {}; }
#endif

}  // namespace

std::string model_of_midr(std::uint64_t midr) {
  const auto implementer = static_cast<unsigned>(midr >> 24 & 0xff);
  const auto part = static_cast<unsigned>(midr >> 4 & 0xfff);
  for (const ArmModel& model : arm_models) {
    if (model.implementer == implementer && model.part == part) return model.name;
  }
  char text[64];
  std::snprintf(text, sizeof text, "aarch64, implementer 0x%02x, part 0x%03x", implementer, part);
  return text;
}

std::string cpu_model() {
  std::string model = named_by_processor();
  if (!model.empty()) return model;
  utsname machine{};
  return uname(&machine) == 0 ? machine.machine : "unknown";
}

}  // namespace halcyon
