#include "libprofile/format/run_facts.hpp"

#include <vector>

#include "libprofile/format/columns.hpp"
#include "libprofile/format/packer.hpp"

namespace halcyon {

void set_facts(const RunFacts& facts, Profile& profile) {
  std::vector<const std::string*> texts;
  for_each_run_fact(facts, [&texts](const Attribute&, const std::string& text) { texts.push_back(&text); });
  auto next = texts.begin();
  for_each_run_fact(profile, [&next](const Attribute&, std::string& text) { text = **next++; });
}

std::vector<std::byte> pack_facts(const RunFacts& facts) {
  Packer packer;
  for_each_run_fact(facts, [&packer](const Attribute&, const std::string& text) { packer.put_text(text); });
  return packer.take();
}

RunFacts unpack_facts(const std::vector<std::byte>& packed) {
  RunFacts facts;
  Unpacker unpacker(packed);
  for_each_run_fact(facts, [&unpacker](const Attribute&, std::string& text) { text = unpacker.get_text(); });
  return facts;
}

}  // namespace halcyon
