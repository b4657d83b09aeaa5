// The common parts of all HTML pages: a page is one file, loads nothing, and works in light and dark mode, on screen
// and on paper.
#pragma once

#include <string>
#include <string_view>

namespace halcyon {

struct HtmlDocument {
  std::string title;
  std::string_view subtitle;
  std::string body;
  std::string_view more_style;
  std::string script;  // empty: none
};
std::string html_page(const HtmlDocument& document);

/// A figure as wide as the page. `caption` is markup.
std::string wide_figure(const std::string& svg, const std::string& caption);

}  // namespace halcyon
