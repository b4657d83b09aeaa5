// Settings that the command and the recorder must understand alike.
#pragma once

#include <string>
#include <string_view>

namespace halcyon {

/// The profile's name where none is given; what is in braces is filled in by the recorder.
inline constexpr const char* default_output = "{app}.{np}p.{jobid}.{timestamp}.h5";

/// What --counter and HALCYON_COUNTER ask for.
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
