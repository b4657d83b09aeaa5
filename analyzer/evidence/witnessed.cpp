#include "analyzer/evidence/witnessed.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace halcyon {

std::string words_of(const Party& party) {
  switch (party.whose) {
    case PartyKind::nobody: return "processes that were not seen";
    case PartyKind::ranks: return party.program + ", the ranks themselves";
    case PartyKind::kernel: return party.program + ", the kernel";
    case PartyKind::own_job: return party.program + ", of the same job";
    case PartyKind::other_job: return fmt::format("{} of {}, job {}", party.program, party.user, party.job);
    case PartyKind::service: return fmt::format("{}, service {}", party.program, party.service);
    case PartyKind::other: return fmt::format("{} of {}", party.program, party.user);
  }
  return {};
}

std::string who_had_the_cpus(const Profile& profile) {
  constexpr std::size_t most_named = 3;
  constexpr double least_share = 0.05;
  const Witnessed& witnessed = profile.witnessed;
  std::string words;
  std::size_t named = 0;
  for (std::size_t i = 0; i < witnessed.parties() && named < most_named; ++i) {
    const Party party = witnessed.party(i);
    const double had = witnessed.had_seconds[i];
    if (party.whose == PartyKind::ranks) continue;
    if (!(had >= least_share * witnessed.waited_seconds)) break;
    words += fmt::format("{}{} ({:.0f} %)", named++ > 0 ? ", " : "", words_of(party),
                         100.0 * had / witnessed.waited_seconds);
  }
  return words;
}

}  // namespace halcyon
