#include "report/html_document.hpp"

#include <fmt/format.h>

#include "report/page_assets.hpp"
#include "report/svg.hpp"

namespace halcyon {

std::string html_page(const HtmlDocument& document) {
  // The content security policy makes the browser enforce that nothing is loaded from anywhere.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n<title>{} – Halcyon</title>\n<style>\n{}\n{}</style>\n</head>\n"
      "<body>\n<main>\n<header><h1>Halcyon</h1><p class=\"soft\">{}</p></header>\n{}</main>\n{}</body>\n</html>\n",
      document.title, document.more_style, page_assets::page_css, document.subtitle, document.body,
      document.script.empty() ? "" : fmt::format("<script>\n{}</script>\n", document.script));
}

std::string wide_figure(const std::string& svg, const std::string& caption) {
  return fmt::format("<figure class=\"wide\"><div class=\"scroll\">{}</div><figcaption>{}</figcaption></figure>\n", svg,
                     caption);
}

}  // namespace halcyon
