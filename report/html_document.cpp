#include "report/html_document.hpp"

#include <fmt/format.h>

#include <algorithm>

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

namespace html {
namespace {

std::string_view sign_of(std::string_view verdict) {
  return verdict == "green" ? "✓" : verdict == "yellow" ? "!" : verdict == "red" ? "✕" : "?";
}

}  // namespace

std::string fact(std::string_view label, const std::string& content, std::string_view classes) {
  return fmt::format("<div class=\"{}\"><dt>{}</dt><dd>{}</dd></div>\n", classes, label, content);
}

std::string section(std::string_view title, std::string_view explanation, const std::string& content,
                    std::string_view heading) {
  if (content.empty()) return "";
  return fmt::format("<section>\n<{3}>{0}</{3}>\n{1}{2}</section>\n", title,
                     explanation.empty() ? "" : fmt::format("<p class=\"soft\">{}</p>\n", explanation), content,
                     heading);
}

std::string figure(std::string_view classes, const std::string& svg, const std::string& caption) {
  if (svg.empty()) return "";
  return fmt::format("<figure class=\"{}\"><div class=\"scroll\">{}</div>{}</figure>\n", classes, svg,
                     caption.empty() ? "" : "<figcaption>" + caption + "</figcaption>");
}

std::string share_row(const std::string& name, const std::string& words, double share, double total) {
  const double percent = total > 0.0 ? std::clamp(100.0 * share / total, 0.0, 100.0) : 0.0;
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{:.0f} %</td>"
      "<td class=\"bar\" aria-hidden=\"true\"><span style=\"width:{:.1f}%\"></span></td></tr>\n",
      name, words, percent, percent);
}

std::string share_table(std::string_view caption, const std::string& rows, std::string_view classes) {
  return fmt::format("<table class=\"{}\"><caption>{}</caption>\n<tbody>{}</tbody></table>\n", classes, caption, rows);
}

std::string verdict_box(std::string_view verdict, std::string_view advice) {
  return fmt::format(
      "<div class=\"verdict {0}\"><span class=\"sign\" aria-hidden=\"true\">{1}</span>\n<div>"
      "<h3 class=\"light\">{0}</h3><p class=\"advice\">{2}</p></div></div>\n",
      verdict, sign_of(verdict), advice);
}

std::string verdict_tag(std::string_view verdict) {
  return fmt::format("<span class=\"tag {0}\">{1} {0}</span>", verdict, sign_of(verdict));
}

}  // namespace html

}  // namespace halcyon
