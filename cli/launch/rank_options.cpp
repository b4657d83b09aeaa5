#include "cli/launch/rank_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "intm/spec.hpp"
#include "libprofile/shared/setting_values.hpp"

namespace halcyon::cli {
namespace {

// What the recorder would read, so that nothing is refused only when the ranks run.
std::string whole_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc() && end == text.data() + text.size() && number > 0;
  return good ? std::string() : "'" + text + "' is not a whole number above 0";
}

std::string objection_to_label(const std::string& text) {
  if (text.size() > longest_label) return fmt::format("it is longer than {} bytes", longest_label);
  if (text.find_first_of(" \t\n") != text.npos)
    return "'" + text + "' has blanks: give each word by a --label of its own";
  return "";
}

}  // namespace

void add_recording_options(const Command& command, RankOptions& options) {
  command.option("--counter", options.counter, "What measures work. Default: auto")
      .placeholder(any_of(counter_names))
      .check([](const std::string& text) {
        CounterRequest request;
        return parse_counter(text, request) ? std::string() : "'" + text + "' is not " + one_of(counter_names);
      });
  command.option("--boundary", options.boundary, "What ends segments. Default: auto")
      .placeholder(any_of(boundary_choice_names))
      .check([](const std::string& text) {
        BoundaryChoice choice{};
        return parse_boundary(text, choice) ? std::string() : "'" + text + "' is not " + one_of(boundary_choice_names);
      });
  command
      .option("--boundary-ranks", options.boundary_ranks,
              "Collectives over at least N ranks end segments. Default: the whole world")
      .placeholder("N")
      .check(whole_number);
  command
      .option("--memory", options.memory,
              "Memory limit for segments on a rank, in MiB. Default: " + std::to_string(default_memory_mebibytes))
      .placeholder("MIB")
      .check(whole_number);
  command
      .option("--spill", options.spill,
              "Save to FILE.h5.parts every SECONDS, for `halcyon recover`; 0: only when "
              "the run dies. Default: " +
                  std::to_string(default_spill_seconds))
      .placeholder("SECONDS")
      .check([](const std::string& text) {
        int seconds = 0;
        return parse_spill(text, seconds) ? std::string() : "'" + text + "' is not a whole number of seconds";
      });
  command
      .option("--background", options.background,
              "Measure the machine's background for SECONDS, half before and half after the run. Default: " +
                  (options.background.empty() ? "0" : options.background))
      .placeholder("SECONDS")
      .check([](const std::string& text) {
        double seconds = 0.0;
        return parse_background(text, seconds)
                   ? std::string()
                   : fmt::format("'{}' is not a number of seconds up to {:.0f}", text, longest_background_seconds);
      });
  command
      .option("--live", options.live,
              "Show progress in shared memory while the program runs, and let it be suspended. Default: on")
      .placeholder("on|off")
      .check([](const std::string& text) {
        bool is_on = false;
        return parse_switch(text, is_on) ? std::string() : "'" + text + "' is neither on nor off";
      });
  command
      .option("--label", options.label,
              "A word by which runs of this program are told apart, such as its version: v2.1 or input=small; may be "
              "repeated")
      .placeholder("TEXT")
      .repeatable()
      .check(objection_to_label);
  command.option("--note", options.note, "What to remember of the run")
      .placeholder("TEXT")
      .check([](const std::string& text) {
        return text.size() > longest_note ? fmt::format("it is longer than {} bytes", longest_note) : std::string();
      });
  command.flag("--no-probes", options.no_probes,
               "Do not measure the machine's speed before and after the run (takes some milliseconds)");
  command.flag("--no-names", options.no_names,
               "Leave the names of the user, the hosts, the cluster and its nodes out of the profile");
}

void add_rank_options(const Command& command, RankOptions& options) {
  command
      .option("-o,--output", options.output,
              "Profile to write, or a directory for it; {app}, {np}, {jobid} and {timestamp} are replaced. Default: " +
                  std::string(default_output))
      .placeholder("FILE");
  add_recording_options(command, options);
  command
      .option("--inject", options.inject,
              "Delay calls: class=" + any_of(injected_class_names) +
                  ",prob=P,mean=5ms,sd=1ms; optional parts, appended "
                  "without blanks: ,ranks=0-3 ,after=2s ,until=9s ,every=1s,for=100ms; may be repeated")
      .placeholder("SPEC")
      .repeatable()
      .check([](const std::string& text) {
        const Outcome<InjectionSpec> spec = parse_spec(text);
        return spec ? std::string() : spec.failure().message;
      });
}

}  // namespace halcyon::cli
