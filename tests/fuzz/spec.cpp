// Bytes as the SPEC of an injection: what is accepted can be followed, what is not is told in one line.
#include "intm/draws.hpp"
#include "intm/spec.hpp"
#include "tests/fuzz/steering.hpp"

namespace {

using namespace halcyon;
using fuzz::promise;

void follow(const InjectionSpec& spec) {
  promise(spec.classes != 0 && (spec.classes & ~static_cast<unsigned>(inject_all)) == 0, "a class is known");
  promise(spec.probability >= 0.0 && spec.probability <= 1.0, "a probability is one");
  for (const int rank : {0, 1, 1 << 30}) spec.concerns(rank);
  for (const std::uint64_t now : {std::uint64_t{0}, spec.after, spec.until.value_or(~std::uint64_t{0})}) {
    promise(!spec.active_at(now) || now >= spec.after, "nothing is injected before its time");
  }
  for (std::uint64_t event = 0; event < 8; ++event) {
    const double delay = normal_delay({}, event, spec.mean, spec.deviation);
    promise(delay >= 0.0 && delay < 0x1p63, "a delay fits into a clock");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const Outcome<InjectionSpec> spec = parse_spec(text)) follow(*spec);
  const Outcome<std::vector<InjectionSpec>> specs = parse_specs(text);
  if (!specs) {
    fuzz::promise_one_line(specs.failure().message);
    return 0;
  }
  for (const InjectionSpec& spec : *specs) follow(spec);
  return 0;
}
