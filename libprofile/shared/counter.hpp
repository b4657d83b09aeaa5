// The source of the compute feature: a PAPI event where the machine has one, else the CPU time of the thread.
#pragma once

#include <cstdint>
#include <string>

#include "libprofile/shared/setting_values.hpp"

namespace halcyon {

/// One thread's part of a PAPI counter. All zero bytes before the thread counts.
struct EventsOfThread {
  enum class State : std::uint8_t { not_begun, counting, failed };

  State state = State::not_begun;
  int event_set = 0;
};

/// A PAPI event, counted on each thread by itself. PAPI is opened at run time with RTLD_LOCAL, so that the
/// application's own PAPI, or its absence, is not affected.
class PapiCounter {
 public:
  /// Chooses `event` (a preset or native name). If this thread cannot count it, returns false and says why in `error`.
  bool choose(const std::string& event, std::string& error);

  /// Begins to count in the calling thread, until it ends or end() is called. Not async-signal-safe.
  void begin(EventsOfThread& events) const;
  /// A stretch begins: what the next reading will show if nothing is done until then. Reading itself has instructions.
  std::uint64_t begin_stretch(const EventsOfThread& events) const { return read(events) + of_reading_; }
  /// What was counted in it, 0 if the thread does not count. The next stretch begins.
  std::uint64_t end_stretch(const EventsOfThread& events, std::uint64_t& began) const {
    const std::uint64_t now = read(events);
    const std::uint64_t counted = now > began ? now - began : 0;
    began = now + of_reading_;
    return counted;
  }
  static void end(EventsOfThread& events);

 private:
  std::uint64_t read(const EventsOfThread& events) const;
  std::uint64_t least_of_reading(const EventsOfThread& events) const;

  std::string event_;
  std::uint64_t of_reading_ = 0;  // by so much the counter grows from one reading to the next, at least
};

/// The counter in use for the whole run of a rank.
class Counter {
 public:
  enum class Kind : std::uint8_t { papi, cpu, none };

  /// Chooses the requested counter, or falls back to CPU time. If an explicit request fails, `complaint` says why.
  void choose(const CounterRequest& request, std::string& complaint);
  Kind kind() const { return kind_; }
  /// The name as it is stored and shown: "papi:PAPI_FP_OPS", "cpu" or "none".
  const std::string& name() const { return name_; }
  /// The PAPI event: in each thread by itself.
  const PapiCounter& papi() const { return papi_; }

 private:
  Kind kind_ = Kind::none;
  std::string name_ = "none";
  PapiCounter papi_;
};

}  // namespace halcyon
