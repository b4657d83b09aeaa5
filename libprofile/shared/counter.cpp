#include "libprofile/shared/counter.hpp"

#include "libprofile/shared/hardware_counters.hpp"

namespace halcyon {

void Counter::choose(const CounterRequest& request, std::string& complaint) {
  const auto try_event = [this](const std::string& event, std::string& error) {
    if (!papi_.choose(event, error)) return false;
    kind_ = Kind::papi;
    name_ = "papi:" + event;
    return true;
  };
  std::string error;
  switch (request.kind) {
    case CounterRequest::Kind::none:
      kind_ = Kind::none;
      name_ = "none";
      return;
    case CounterRequest::Kind::papi:
      if (try_event(request.event, error)) return;
      complaint = "counter papi:" + request.event + " cannot be used (" + error + "); CPU time is used instead";
      break;
    case CounterRequest::Kind::automatic:
      // PAPI takes milliseconds to start, and then fails on most virtual machines; the kernel tells at once.
      if (error_of_hardware_counters() != 0) break;
      // The last one is the kernel's own: PAPI has no presets for some processors.
      for (const char* event : {"PAPI_FP_OPS", "PAPI_TOT_INS", "perf::INSTRUCTIONS"}) {
        if (try_event(event, error)) return;
      }
      complaint =
          "this machine has hardware counters, and PAPI cannot use them (" + error + "); CPU time is used instead";
      break;
    case CounterRequest::Kind::cpu: break;
  }
  kind_ = Kind::cpu;
  name_ = "cpu";
}

}  // namespace halcyon
