#include "libprofile/format/run_facts.hpp"

#include <vector>

#include "libprofile/format/columns.hpp"
#include "libprofile/format/packer.hpp"

namespace halcyon {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // clang before 17 does not deduce it

}  // namespace

std::vector<std::byte> pack_facts(const RunFacts& facts) {
  Packer packer;
  for_each_run_fact(facts, Overloaded{[&packer](const Attribute&, const std::string& text) { packer.put_text(text); },
                                      [&packer](const Attribute&, std::int64_t number) { packer.put(number); }});
  return packer.take();
}

RunFacts unpack_facts(const std::vector<std::byte>& packed) {
  RunFacts facts;
  Unpacker unpacker(packed);
  for_each_run_fact(facts, Overloaded{[&unpacker](const Attribute&, std::string& text) { text = unpacker.get_text(); },
                                      [&unpacker](const Attribute&, std::int64_t& number) { unpacker.get(number); }});
  return facts;
}

}  // namespace halcyon
