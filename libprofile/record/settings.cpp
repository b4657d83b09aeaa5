#include "libprofile/record/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "libprofile/record/run_names.hpp"
#include "libprofile/shared/output_file.hpp"
#include "libprofile/shared/receipt.hpp"
#include "libprofile/shared/spool.hpp"
#include "libprofile/system/environment.hpp"

namespace halcyon {
namespace {

// A positive integer that an int can hold, or 0.
int positive(const char* text) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, 10);
  const bool good = *end == '\0' && *text >= '0' && *text <= '9' && number <= std::numeric_limits<int>::max();
  return good ? static_cast<int>(number) : 0;
}

// Relative to the directory that the run was started in, since programs change their directory.
std::string from_start_directory(const std::string& path) {
  char directory[4096];
  if (path.front() == '/' || getcwd(directory, sizeof directory) == nullptr) return path;
  return std::string(directory) + "/" + path;
}

}  // namespace

Settings settings_from_environment(std::string& complaint) {
  Settings settings;
  const char* output = setting("HALCYON_OUTPUT");
  settings.output = from_start_directory(output != nullptr ? file_of_output(output) : default_output);
  const char* ledger = setting("HALCYON_LEDGER");
  if (ledger != nullptr && ledger != spool::not_wanted) settings.ledger = from_start_directory(ledger);
  settings.keeps_profile = !is_for_the_ledger_alone();
  if (!settings.keeps_profile && !settings.ledger.empty()) {
    settings.output = spool::unfinished_of_this_user(settings.ledger) + "/" + default_output;
    settings.memory_bytes = std::size_t{memory_mebibytes_for_ledger} << 20;
  }
  const char* receipt = setting("HALCYON_RECEIPT");
  const char* run = setting("HALCYON_RUN");
  if (receipt != nullptr && run != nullptr) settings.receipts = {receipt, receipt_beside(settings.output, run)};
  const char* command = setting("HALCYON_COMMAND");
  settings.command = command != nullptr ? command : own_command();
  if (const char* text = setting("HALCYON_COUNTER"); text != nullptr && !parse_counter(text, settings.counter)) {
    complaint = std::string("HALCYON_COUNTER=") + text + " is not " + one_of(counter_names) + "; auto is used instead";
  }
  if (const char* text = setting("HALCYON_BOUNDARY"); text != nullptr && !parse_boundary(text, settings.boundary)) {
    complaint =
        std::string("HALCYON_BOUNDARY=") + text + " is not " + one_of(boundary_choice_names) + "; auto is used instead";
  }
  if (const char* text = setting("HALCYON_BOUNDARY_RANKS")) {
    settings.boundary_ranks = positive(text);
    if (settings.boundary_ranks == 0) {
      complaint =
          std::string("HALCYON_BOUNDARY_RANKS=") + text + " is not a number of ranks; all ranks are used instead";
    }
  }
  if (const char* text = setting("HALCYON_MEMORY")) {
    if (const int mebibytes = positive(text); mebibytes > 0) {
      settings.memory_bytes = static_cast<std::size_t>(mebibytes) << 20;
    } else {
      complaint = std::string("HALCYON_MEMORY=") + text + " is not a number of MiB; " +
                  std::to_string(settings.memory_bytes >> 20) + " is used instead";
    }
  }
  if (const char* text = setting("HALCYON_SPILL"); text != nullptr && !parse_spill(text, settings.spill_seconds)) {
    complaint = std::string("HALCYON_SPILL=") + text + " is not a whole number of seconds; " +
                std::to_string(default_spill_seconds) + " is used instead";
  }
  if (const char* text = setting("HALCYON_BACKGROUND");
      text != nullptr && !parse_background(text, settings.background_seconds)) {
    complaint = std::string("HALCYON_BACKGROUND=") + text + " is not a number of seconds up to " +
                std::to_string(static_cast<int>(longest_background_seconds)) + "; the background is not measured";
  }
  if (const char* text = setting("HALCYON_PROBES"); text != nullptr && !parse_switch(text, settings.probes)) {
    complaint = std::string("HALCYON_PROBES=") + text + " is neither on nor off; the machine is probed";
  }
  if (const char* text = setting("HALCYON_NAMES"); text != nullptr && !parse_switch(text, settings.names)) {
    complaint = std::string("HALCYON_NAMES=") + text + " is neither on nor off; names are left out";
    settings.names = false;
  }
  const auto kept_text = [&complaint](const char* name, std::size_t most) {
    const char* text = setting(name);
    std::string kept = text != nullptr ? text : "";
    if (kept.size() <= most) return kept;
    complaint = std::string(name) + " is longer than " + std::to_string(most) + " bytes; the rest is left out";
    return kept.substr(0, most);
  };
  settings.label = kept_text("HALCYON_LABEL", longest_label);
  settings.note = kept_text("HALCYON_NOTE", longest_note);
  bool answers_lookups = true;  // interpose/looked_up.hpp reads it, when the first function is looked up
  if (const char* text = setting("HALCYON_DLSYM"); text != nullptr && !parse_switch(text, answers_lookups)) {
    complaint = std::string("HALCYON_DLSYM=") + text + " is neither on nor off; what is looked up is recorded";
  }
  bool is_live = false;
  if (const char* text = setting("HALCYON_LIVE"); text != nullptr && !parse_switch(text, is_live)) {
    complaint = std::string("HALCYON_LIVE=") + text + " is neither on nor off; there is no live record";
  }
  if (is_live) settings.live_record = name_of_run();
  settings.job = job_name();
  return settings;
}

bool is_for_the_ledger_alone() { return setting("HALCYON_LEDGER") != nullptr && setting("HALCYON_OUTPUT") == nullptr; }

std::string variables_of_children(const std::string& given, std::size_t room) {
  constexpr std::string_view preload = "LD_PRELOAD=";
  if (given.starts_with(preload) || given.find("\n" + std::string(preload)) != std::string::npos) return given;
  std::string all = given;
  const auto add = [&](const std::string& line) {
    const std::size_t more = line.size() + (all.empty() ? 0 : 1);
    if (all.size() + more > room || line.find('\n') != std::string::npos) return false;
    all += (all.empty() ? "" : "\n") + line;
    return true;
  };
  // The most important ones first. The last is made anew for each world.
  constexpr std::array<std::string_view, 3> apart{preload, "HALCYON_OUTPUT=", "HALCYON_COMMAND="};
  const char* const libraries = environment_value("LD_PRELOAD");
  const char* const output = environment_value("HALCYON_OUTPUT");
  if (libraries == nullptr || !add(std::string(preload) + libraries)) return {};
  if (output != nullptr) add(std::string(apart[1]) + output);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const bool is_ours = variable.starts_with("HALCYON_") || variable.starts_with("INTM_");
    const bool is_apart = std::any_of(apart.begin(), apart.end(),
                                      [variable](std::string_view name) { return variable.starts_with(name); });
    if (is_ours && !is_apart) add(std::string(variable));
  }
  return all;
}

void set_apart_from_parent(Settings& settings) {
  constexpr std::string_view extension = ".h5";
  const std::size_t end = settings.output.size() - (settings.output.ends_with(extension) ? extension.size() : 0);
  settings.output.insert(end, ".spawned");
  settings.command = own_command();
  settings.receipts.clear();
  if (!settings.live_record.empty()) settings.live_record += ".spawned";
}

}  // namespace halcyon
