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

namespace html {

// Pieces of pages. Texts are markup, unless they are said to be words.

/// Of a list `<dl class="facts">`.
std::string fact(std::string_view label, const std::string& content, std::string_view classes = "");
/// Nothing without a content.
std::string section(std::string_view title, std::string_view explanation, const std::string& content,
                    std::string_view heading = "h3");
std::string figure(std::string_view classes, const std::string& svg, const std::string& caption = "");
/// A row of a table, with a bar as long as its share of the total.
std::string share_row(const std::string& name, const std::string& words, double share, double total);
std::string share_table(std::string_view caption, const std::string& rows, std::string_view classes = "shares");
/// The verdict as a sign and a word, and what is said of it.
std::string verdict_box(std::string_view verdict, std::string_view advice);
/// The verdict in a table.
std::string verdict_tag(std::string_view verdict);

}  // namespace html

}  // namespace halcyon
