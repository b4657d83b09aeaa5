// The source of the compute feature: a PAPI event where the machine has one, else the CPU time of the thread.
#pragma once

#include <cstdint>
#include <string>

#include "libprofile/shared/setting_values.hpp"

namespace halcyon {

/// A PAPI event counted on the calling thread. PAPI is opened at run time with RTLD_LOCAL, so that the application's
/// own PAPI, or its absence, is not affected.
class PapiCounter {
 public:
  /// Starts counting `event` (a preset or native name). On failure returns false and says why in `error`.
  bool start(const std::string& event, std::string& error);
  std::uint64_t read() const;
  void stop();

 private:
  int event_set_ = -1;
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
  std::uint64_t read_papi() const { return papi_.read(); }
  void stop();

 private:
  Kind kind_ = Kind::none;
  std::string name_ = "none";
  PapiCounter papi_;
};

}  // namespace halcyon
