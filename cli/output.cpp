// Results on standard output and in files, as text and JSON.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "cli/commands.hpp"
#include "report/json.hpp"

namespace halcyon::cli {

void add_json_option(CLI::App& command, std::string& where) {
  command.add_option("--json", where, "Write JSON to FILE, or to standard output instead of text with '-'")
      ->type_name("FILE|-");
}

Status print_result(const std::string& text, const nlohmann::ordered_json& document, const std::string& json) {
  std::cout << (json == "-" ? to_text(document) : text);
  if (!json.empty() && json != "-") {
    std::ofstream out(json);
    if (!(out << to_text(document)).flush()) return Failure{"cannot write " + json + ": " + std::strerror(errno)};
  }
  if (!std::cout.flush()) return Failure{"cannot write to standard output"};
  return Done{};
}

}  // namespace halcyon::cli
