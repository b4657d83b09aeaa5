// The vocabulary of options: what several commands take has one name, one form of its value and one description, here.
// tests/one_vocabulary finds an option of several commands that is declared elsewhere in another way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "cli/console/command.hpp"

namespace halcyon::cli {

/// What a command writes beside its text, or with '-' in place of it.
/// --json FILE|-
void add_json_option(const Command& command, std::string& where);
/// --csv FILE|-. `row`: what has one, such as "run".
void add_csv_option(const Command& command, std::string& where, std::string_view row);
/// --openmetrics FILE|-
void add_openmetrics_option(const Command& command, std::string& where);
/// --perfetto FILE|-
void add_perfetto_option(const Command& command, std::string& where);
/// --quote text|markdown|latex
void add_quote_option(const Command& command, std::string& form);
/// --html FILE
void add_html_option(const Command& command, std::string& file);

/// One of the options above that was given.
struct Written {
  std::string_view option;
  std::string_view where;  // empty: it was not given
};
/// The same for all spellings of a file.
std::filesystem::path canonical_path(const std::filesystem::path& file);
/// Why these cannot be written together, since two go to the same place; nothing if they can.
std::optional<std::string> objection_to_places(std::initializer_list<Written> all);

/// --method NAME
void add_method_option(const Command& command, std::string& method);
/// --no-baseline
void add_no_baseline_flag(const Command& command, bool& no_baseline);
/// --confidence PERCENT. Empty: not given, which is the default.
void add_confidence_option(const Command& command, std::string& confidence);
inline constexpr const char* default_confidence = "95%";
std::string objection_to_confidence(const std::string& text);
/// --seed N
void add_seed_option(const Command& command, std::uint64_t& seed);

}  // namespace halcyon::cli
