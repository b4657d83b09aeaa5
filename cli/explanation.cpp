#include "cli/explanation.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/troubleshooting.hpp"
#include "report/layout.hpp"

namespace halcyon::cli {
namespace {

constexpr std::string_view heading = "### ";

// Markdown as plain text: keeps the words of links, and drops the marks of bold and code.
std::string plain(const std::string& markdown) {
  std::string text;
  for (std::size_t at = 0; at < markdown.size(); ++at) {
    const char letter = markdown[at];
    if (letter == ']' && markdown.compare(at, 2, "](") == 0) {
      at = std::min(markdown.find(')', at), markdown.size());
    } else if (letter != '[' && letter != '*' && letter != '`') {
      text += letter;
    }
  }
  return text;
}

// Fills the paragraphs and list items of a section; each may have several lines in the source.
std::string in_paragraphs(const std::string& section) {
  std::istringstream lines(section);
  std::string text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    const bool is_item = paragraph.starts_with("- ");
    if (!paragraph.empty()) text += filled(is_item ? "  " : "", is_item ? 4 : 0, plain(paragraph));
    paragraph.clear();
  };
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line.starts_with("- ")) end_paragraph();
    if (line.empty() && !text.empty()) text += '\n';
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (!line.empty()) paragraph += (paragraph.empty() ? "" : " ") + line.substr(begin);
  }
  end_paragraph();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

struct Section {
  std::string code;
  std::string markdown;
};

std::vector<Section> sections() {
  std::vector<Section> all;
  bool is_within = false;
  std::istringstream lines{std::string(troubleshooting)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      is_within = line.starts_with(heading);
      if (is_within) all.push_back({.code = line.substr(heading.size()), .markdown = {}});
    } else if (is_within) {
      all.back().markdown += line + '\n';
    }
  }
  return all;
}

}  // namespace

std::optional<std::string> explanation_of(std::string_view shown) {
  std::string code;  // as it is shown: in brackets, or as the first word of a report
  for (const char c : shown) {
    if (c != '[' && c != ']') code += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::string text;
  for (const Section& section : sections()) {
    if (section.code == code) text += "\n" + in_paragraphs(section.markdown);
  }
  return text.empty() ? std::nullopt : std::optional(code + text);
}

std::vector<std::string> explained_codes() {
  std::vector<std::string> codes;
  for (const Section& section : sections()) codes.push_back(section.code);
  return codes;
}

}  // namespace halcyon::cli
