#include "cli/launch/program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
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

#include "libprofile/system/shell_word.hpp"
#include "libprofile/system/shortened.hpp"

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

bool gains_rights(const std::string& program) {
  struct stat file {};
  if (stat(program.c_str(), &file) != 0) return false;
  const bool is_other_user = (file.st_mode & S_ISUID) != 0 && file.st_uid != getuid();
  const bool is_other_group = (file.st_mode & S_ISGID) != 0 && file.st_gid != getgid();
  const bool has_capabilities = getuid() != 0 && getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
  return is_other_user || is_other_group || has_capabilities;
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

Outcome<Words> words_of_command(const std::string& text) {
  const auto is_in = [](std::string_view signs, char c) { return signs.find(c) != std::string_view::npos; };
  constexpr char no_quote = 0;
  char quote = no_quote;
  Words words;
  std::optional<std::string> word;
  const auto end_word = [&] {
    if (word) words.push_back(std::move(*word));
    word.reset();
  };
  const auto add = [&word](char c) {
    if (!word) word.emplace();
    *word += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_escape =
        c == '\\' && quote != '\'' && i + 1 < text.size() && (quote == no_quote || is_in("$`\"\\\n", text[i + 1]));
    if (is_escape) {
      ++i;
      if (text[i] != '\n') add(text[i]);  // the command goes on in the next line
    } else if (quote == no_quote && is_in(" \t\n", c)) {
      end_word();
    } else if ((quote == no_quote && is_in(";|&<>()$`", c)) || (quote == '"' && is_in("$`", c))) {
      return Failure{fmt::format(
          "no shell runs the command, so {} does nothing in '{}': put it in single quotes, or start a shell: sh -c '…'",
          c, text)};
    } else if (quote == no_quote && is_in("'\"", c)) {
      quote = c;
      if (!word) word.emplace();  // '' is a word, too
    } else if (c == quote) {
      quote = no_quote;
    } else {
      add(c);
    }
  }
  if (quote != no_quote) return Failure{fmt::format("{} is not closed in '{}'", quote, text)};
  end_word();
  if (words.empty()) return Failure{"no launch command given"};
  return words;
}

std::string quoted(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted_word(word);
  return line;
}

std::string as_typed(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + typed_word(word);
  return line;
}

std::string in_short(const Words& words) {
  constexpr std::size_t most_bytes = 200;
  return shortened(as_typed(words), most_bytes);
}

}  // namespace halcyon::cli
