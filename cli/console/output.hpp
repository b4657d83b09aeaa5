// The output of the command: exit statuses, the one place that prints an error, results and files.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libprofile/system/outcome.hpp"
#include "report/layout.hpp"
#include "report/text.hpp"

namespace halcyon::cli {

/// Of all commands alike; those that start a program otherwise return its status. `halcyon help STATUS` explains each
/// (docs/troubleshooting.md).
enum ExitStatus { passed = 0, bad_usage_or_file = 2, negative_answer = 3, no_answer = 4 };

/// Prints a line on standard error, and ignores failure: a closed terminal must not end the command.
inline void tell(const std::string& message) { std::fprintf(stderr, "halcyon: %s\n", briefly(message).c_str()); }
inline int fail(const std::string& message) {
  tell(message);
  return bad_usage_or_file;
}

/// What went wrong, of an exception: memory and threads, mostly, since what is expected to fail is an outcome.
std::string words_of(const std::exception& error);

/// The last lines of a program's output, on standard error.
void show_end_of(const std::string& log);

/// Colour on a terminal only, and not if NO_COLOR is set (https://no-color.org).
inline Colour colour_for(int file) {
  const char* forbidden = std::getenv("NO_COLOR");
  return isatty(file) != 0 && (forbidden == nullptr || *forbidden == '\0') ? Colour::always : Colour::never;
}

/// Whether it begins as profiles do.
bool is_hdf5(const std::string& file);
/// Why the directory cannot take new files; empty if it can.
std::string objection_to_directory(const std::filesystem::path& directory);
/// Why no file of this name can be written; empty if it can. For a profile, a name that is taken is none of the
/// reasons: the recorder evades it.
std::string objection_to_place(const std::string& path);
/// The same for a file that is replaced if it is there.
std::string objection_to_writing(const std::string& path);
/// The same for a profile, which is never overwritten and has exactly this name.
std::string objection_to_new_profile(const std::string& path);

/// Writes or replaces a file, in one step: a reader of it sees the old text or the new one, and the old one stays if
/// the new one cannot be written.
Status write_file(const std::string& file, const std::function<void(std::ostream& out)>& write);
Status write_file(const std::string& file, const std::string& text);
Status print_text(const std::string& text);
/// Prints the text, or the JSON instead if `json` is "-". Otherwise writes the JSON to the file `json`, if it is named.
Status print_result(const std::string& text, const nlohmann::ordered_json& document, const std::string& json);
/// The same for results that took long: the text is printed even if the file cannot be written.
Status print_result_anyway(const std::string& text, const nlohmann::ordered_json& document, const std::string& json);

}  // namespace halcyon::cli
