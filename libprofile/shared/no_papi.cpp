// PapiCounter of a build without PAPI's header: it is never chosen.
#include "libprofile/shared/counter.hpp"

namespace halcyon {

bool PapiCounter::choose(const std::string& /*event*/, std::string& error) {
  error = "this Halcyon was built without PAPI";
  return false;
}

void PapiCounter::begin(EventsOfThread& /*events*/) const {}
std::uint64_t PapiCounter::read(const EventsOfThread& /*events*/) const { return 0; }
void PapiCounter::end(EventsOfThread& /*events*/) {}

}  // namespace halcyon
