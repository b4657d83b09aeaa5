#include "cli/launch/program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace halcyon::cli {

namespace fs = std::filesystem;

std::optional<std::string> found_program(const std::string& command) {
  const char* searched = std::getenv("PATH");
  std::istringstream directories(command.find('/') != std::string::npos || searched == nullptr ? "" : searched);
  std::error_code error;
  const auto is_program = [&error](const std::string& path) {
    return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, error);
  };
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = (fs::path(directory) / command).string();
    if (is_program(path)) return path;
  }
  return command.find('/') != std::string::npos && is_program(command) ? std::optional(command) : std::nullopt;
}

Failure execute(const Words& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  return {"cannot start " + command.front() + ": " + std::strerror(errno)};
}

Words split_at_blanks(const std::string& line) {
  Words words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<Words> lines_of(const std::string& file) {
  std::vector<Words> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (Words words = split_at_blanks(line.substr(0, line.find('#'))); !words.empty()) lines.push_back(words);
  }
  return lines;
}

std::string quoted(const Words& words) {
  constexpr std::string_view plain_signs = "%+,-./:=@_";
  const auto is_plain = [plain_signs](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80 ||
           plain_signs.find(c) != std::string_view::npos;
  };
  std::string line;
  for (const std::string& word : words) {
    std::string shown = word;
    if (word.empty() || !std::all_of(word.begin(), word.end(), is_plain)) {
      for (std::size_t at = 0; (at = shown.find('\'', at)) != std::string::npos; at += 4) shown.replace(at, 1, "'\\''");
      shown = "'" + shown + "'";
    }
    line += (line.empty() ? "" : " ") + shown;
  }
  return line;
}

}  // namespace halcyon::cli
