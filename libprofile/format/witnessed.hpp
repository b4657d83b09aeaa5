// Who had the CPUs that ranks waited for, as a witness on a host saw it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon {

enum class PartyKind : std::uint8_t { nobody, ranks, own_job, other_job, service, kernel, other };
/// As the file and JSON have it, in this order.
inline constexpr std::array<std::string_view, 7> whose_codes{"nobody",  "ranks",  "own_job", "other_job",
                                                             "service", "kernel", "other"};
constexpr std::string_view code_of(PartyKind whose) { return whose_codes[static_cast<std::size_t>(whose)]; }

/// Processes that are told together.
struct Party {
  PartyKind whose = PartyKind::other;
  std::string program;
  std::string user;
  std::string job;      // of the batch system; empty if it has none
  std::string service;  // of systemd; empty if it is none

  auto operator<=>(const Party&) const = default;
};

/// Columns over parties, those that had most first. Parties that had little are left out.
struct Witnessed {
  std::string by;               // "switches" of the kernel, or "samples" of /proc
  double seconds = 0.0;         // for which it looked
  double waited_seconds = 0.0;  // of all ranks on this host, while others had their CPUs
  std::vector<std::string> whose;
  std::vector<std::string> program;
  std::vector<std::string> user;
  std::vector<std::string> job;
  std::vector<std::string> service;
  std::vector<double> had_seconds;

  bool operator==(const Witnessed&) const = default;
  std::size_t parties() const { return had_seconds.size(); }
  void add(const Party& party, double had) {
    whose.emplace_back(code_of(party.whose));
    program.push_back(party.program);
    user.push_back(party.user);
    job.push_back(party.job);
    service.push_back(party.service);
    had_seconds.push_back(had);
  }
  /// An unknown code, of a newer version, is somebody else.
  Party party(std::size_t number) const {
    Party one{.program = program[number], .user = user[number], .job = job[number], .service = service[number]};
    for (std::size_t i = 0; i < whose_codes.size(); ++i) {
      if (whose_codes[i] == whose[number]) one.whose = static_cast<PartyKind>(i);
    }
    return one;
  }
};

}  // namespace halcyon
