// The value of --counter and HALCYON_COUNTER, which the command checks and the recorder follows.
#pragma once

#include <string>
#include <string_view>

namespace halcyon {

/// What HALCYON_COUNTER asks for.
struct CounterRequest {
  enum class Kind { automatic, papi, cpu, none } kind = Kind::automatic;
  std::string event;  // of papi
};

/// Reads `auto`, `papi:EVENT`, `cpu` or `none`; false for anything else.
inline bool parse_counter(std::string_view text, CounterRequest& request) {
  request = {};
  if (text.empty() || text == "auto") return true;
  if (text == "cpu") {
    request.kind = CounterRequest::Kind::cpu;
  } else if (text == "none") {
    request.kind = CounterRequest::Kind::none;
  } else if (text.size() > 5 && text.substr(0, 5) == "papi:") {
    request.kind = CounterRequest::Kind::papi;
    request.event = text.substr(5);
  } else {
    return false;
  }
  return true;
}

}  // namespace halcyon
