// The kernel's records of context switches on all CPUs, and of the names that processes take.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cli/witness/waits.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// A process was started by another one.
struct Forked {
  pid_t process = 0;
  pid_t parent = 0;
};
/// It runs another program since, or has a new name.
struct Renamed {
  pid_t process = 0;
  std::string name;  // of its main thread
};

struct Record {
  std::uint64_t nanoseconds = 0;
  std::variant<Switch, Forked, Renamed> what;
};

/// The records since it was opened, by perf's ring buffers, one a CPU. Needs no hardware counter.
class Switches {
 public:
  /// A failure says what the user may do about it.
  static Outcome<Switches> open();

  /// Waits up to so many seconds for a buffer to fill up. Adds what has come, in the order of time.
  void read(double seconds, std::vector<Record>& records);
  /// That the kernel dropped, since buffers were full.
  std::uint64_t lost() const { return lost_; }
  std::size_t cpus() const { return buffers_.size(); }

  /// By the clock of the records.
  static std::uint64_t now();

 private:
  class Buffer;
  struct Ends {
    void operator()(Buffer* buffer) const;
  };
  Switches() = default;

  std::vector<std::unique_ptr<Buffer, Ends>> buffers_;
  std::vector<Record> early_;  // later than what another buffer may still bring
  std::uint64_t lost_ = 0;
};

}  // namespace halcyon::cli
