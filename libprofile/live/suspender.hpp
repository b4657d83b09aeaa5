// The other side of a suspension: stops the ranks of a record after the same boundary, and lets them continue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "libprofile/system/outcome.hpp"
#include "libprofile/live/layout.hpp"

namespace halcyon::live {

/// Ranks continue when the requested time is over, so that the program runs on if a regulator dies. They stop for at
/// most ten seconds after the last request.
class Suspender {
 public:
  /// The record must be one that Reader can read.
  static Outcome<Suspender> open(const std::string& path);
  ~Suspender();
  Suspender(Suspender&& other) noexcept;
  Suspender& operator=(Suspender&&) = delete;

  /// The most boundaries that any rank on this host has passed.
  std::uint64_t passed() const;

  /// Asks all ranks to stop when they have passed `at` boundaries, until this time (CLOCK_MONOTONIC, ns). If a rank may
  /// have passed that boundary before it could see the request, the others would wait for it within MPI. The request is
  /// then withdrawn, and the result is false. The call takes about 30 ms; the ranks should need several times that to
  /// reach boundary `at`. A rank that has stopped meanwhile counts this as a suspension. If the ranks are on several
  /// hosts, all their records need the same `at`.
  bool ask_to_stop(std::uint64_t at, std::uint64_t until);
  void renew(std::uint64_t until);
  /// The ranks continue.
  void let_go();

 private:
  Suspender(void* mapped, std::size_t bytes, std::uint32_t slots) : mapped_(mapped), bytes_(bytes), slots_(slots) {}
  Header& header() const { return *static_cast<Header*>(mapped_); }

  void* mapped_;
  std::size_t bytes_;
  std::uint32_t slots_;
};

}  // namespace halcyon::live
