#include "cli/explanation.hpp"

#include <algorithm>
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
std::string in_paragraphs(std::istream& lines) {
  std::string text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    const bool is_item = paragraph.starts_with("- ");
    if (!paragraph.empty()) text += filled(is_item ? "  " : "", is_item ? 4 : 0, plain(paragraph));
    paragraph.clear();
  };
  std::string line;
  while (std::getline(lines, line) && !line.starts_with('#')) {
    if (line.empty() || line.starts_with("- ")) end_paragraph();
    if (line.empty() && !text.empty()) text += '\n';
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (!line.empty()) paragraph += (paragraph.empty() ? "" : " ") + line.substr(begin);
  }
  end_paragraph();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace

std::optional<std::string> explanation_of(std::string_view code) {
  std::istringstream lines{std::string(troubleshooting)};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with(heading) && line.substr(heading.size()) == code) {
      return std::string(code) + "\n" + in_paragraphs(lines);
    }
  }
  return std::nullopt;
}

std::vector<std::string> explained_codes() {
  std::vector<std::string> codes;
  std::istringstream lines{std::string(troubleshooting)};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with(heading)) codes.push_back(line.substr(heading.size()));
  }
  return codes;
}

}  // namespace halcyon::cli
