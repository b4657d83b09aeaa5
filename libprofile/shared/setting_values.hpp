// Settings that the command and the recorder must read in the same way.
#pragma once

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libprofile/format/boundary.hpp"
#include "libprofile/system/lists_of_names.hpp"

namespace halcyon {

/// The profile's default name; the recorder fills in the braces.
inline constexpr const char* default_output = "{app}.{np}p.{jobid}.{timestamp}.h5";
inline constexpr std::array<std::string_view, 4> output_placeholders{"{app}", "{np}", "{jobid}", "{timestamp}"};

/// The counter that --counter and HALCYON_COUNTER ask for.
struct CounterRequest {
  enum class Kind { automatic, papi, cpu, none } kind = Kind::automatic;
  std::string event;  // of papi
};

inline constexpr std::array<std::string_view, 4> counter_names{"auto", "papi:EVENT", "cpu", "none"};

/// Reads one of counter_names; false for anything else.
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

/// Reads the value of --boundary and HALCYON_BOUNDARY; false for anything else.
inline bool parse_boundary(std::string_view text, BoundaryChoice& choice) {
  for (std::size_t i = 0; i < boundary_choice_names.size(); ++i) {
    if (text != boundary_choice_names[i]) continue;
    choice = static_cast<BoundaryChoice>(i);
    return true;
  }
  return false;
}

/// The most bytes of a run's command that are passed to the ranks and kept. The kernel starts no program with a
/// variable or an argument of 128 KiB, and limits the sum of all.
inline constexpr std::size_t longest_command = 16384;

/// The most bytes of --label, all words together, and of --note.
inline constexpr std::size_t longest_label = 256;
inline constexpr std::size_t longest_note = 1024;

/// The path of a profile that cannot be written to its own place: a full disk, a directory that is gone.
inline std::string second_place(const std::string& path) {
  const char* directory = std::getenv("TMPDIR");
  return std::string(directory != nullptr && *directory != '\0' ? directory : "/tmp") + "/" +
         path.substr(path.rfind('/') + 1);
}

/// The directory of a profile's parts, until it is written.
inline std::string parts_of(const std::string& output) { return output + ".parts"; }

/// The most memory for segments on each rank, MiB.
inline constexpr int default_memory_mebibytes = 512;
/// The same of a run that is recorded for the ledger alone. No more goes to disk: a site records all runs, also those
/// that nobody looks at.
inline constexpr int memory_mebibytes_for_ledger = 64;

/// Seconds between two spills; a run that is killed loses no more than these.
inline constexpr int default_spill_seconds = 60;

/// Reads the value of --spill and HALCYON_SPILL; false for anything but a whole number of seconds up to a day.
inline bool parse_spill(std::string_view text, int& seconds) {
  constexpr int most = 86400;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = 10 * value + (c - '0');
    if (value > most) return false;
  }
  if (text.empty()) return false;
  seconds = value;
  return true;
}

/// A longer measurement would no longer be a small addition to a run.
inline constexpr double longest_background_seconds = 60.0;

/// Reads the value of --background and HALCYON_BACKGROUND; false for anything but a decimal number of seconds up to the
/// longest. Not with strtod, which depends on the program's locale, nor from_chars, which depends on libm.
inline bool parse_background(std::string_view text, double& seconds) {
  double value = 0.0;
  double place = 0.0;  // of the next decimal; 0 before the point
  bool any = false;
  for (const char c : text) {
    if (c == '.' && place == 0.0) {
      place = 0.1;
    } else if (c >= '0' && c <= '9') {
      any = true;
      value = place > 0.0 ? value + place * (c - '0') : 10.0 * value + (c - '0');
      place *= 0.1;
    } else {
      return false;
    }
  }
  if (!any || value > longest_background_seconds) return false;
  seconds = value;
  return true;
}

/// Reads the value of HALCYON_PROBES, HALCYON_NAMES and HALCYON_LIVE; false for anything but `on` and `off`.
inline bool parse_switch(std::string_view text, bool& is_on) {
  if (text != "on" && text != "off") return false;
  is_on = text == "on";
  return true;
}

}  // namespace halcyon
