// The other side of a suspension: lets the ranks of a record stand still after the same boundary, and go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "libprofile/format/outcome.hpp"
#include "libprofile/live/layout.hpp"

namespace halcyon::live {

/// Ranks go on when the promised time is over, so that a regulator that dies leaves a program that runs. They believe
/// promises of ten seconds at most.
class Suspender {
 public:
  /// The record must be one that Reader can read.
  static Outcome<Suspender> open(const std::string& path);
  ~Suspender();
  Suspender(Suspender&& other) noexcept;
  Suspender& operator=(Suspender&&) = delete;

  /// The most boundaries that any rank on this host has passed.
  std::uint64_t passed() const;

  /// Asks all ranks to stop when they have passed `at` boundaries, until this time (CLOCK_MONOTONIC, ns). False, and
  /// taken back, if a rank may have passed so many before it could see this: others would wait for it within MPI.
  /// It takes some 30 ms; they should need several times that for the boundaries until then. A rank that has stopped
  /// meanwhile counts that as a suspension.
  /// If the ranks are on several hosts, all their records need the same `at`.
  bool ask_to_stop(std::uint64_t at, std::uint64_t until);
  void renew(std::uint64_t until);
  /// The ranks go on.
  void let_go();

 private:
  Suspender(void* mapped, std::size_t bytes, std::uint32_t slots) : mapped_(mapped), bytes_(bytes), slots_(slots) {}
  Header& header() const { return *static_cast<Header*>(mapped_); }

  void* mapped_;
  std::size_t bytes_;
  std::uint32_t slots_;
};

}  // namespace halcyon::live
