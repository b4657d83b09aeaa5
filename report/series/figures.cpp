#include "report/series/figures.hpp"

#include <fmt/format.h>

#include <utility>

#include "report/html_document.hpp"
#include "report/layout.hpp"

namespace halcyon::series_figure {

// The colours are those that readers with any colour vision tell apart (page.css). Tables become lists where they have
// no room.
const std::string_view style = R"(
:root { --p0: #0072b2; --p1: #c04a00; --p2: #00795a; --p3: #a3307d; --p4: #8a6d00; --p5: #5b4bb5; }
@media (prefers-color-scheme: dark) {
  :root { --p0: #56b4e9; --p1: #ff8a4c; --p2: #2fbf95; --p3: #f28fd8; --p4: #e5cf3a; --p5: #b3a6ff; }
}
@media print { :root { --p0: #0072b2; --p1: #c04a00; --p2: #00795a; --p3: #a3307d; --p4: #8a6d00; --p5: #5b4bb5; } }
.p0 { --own: var(--p0); } .p1 { --own: var(--p1); } .p2 { --own: var(--p2); }
.p3 { --own: var(--p3); } .p4 { --own: var(--p4); } .p5 { --own: var(--p5); }
.chip { display: inline-block; min-width: 1.7em; padding: 0 .4em; border-radius: 4px; text-align: center;
  background: var(--own); color: var(--on-light); }
.programs { list-style: none; margin: 12px 0 0; padding: 0; } .programs li { margin: 4px 0; display: flex; gap: 10px; align-items: flex-start; }
.programs code { padding-top: 2px; }
.answer .advice { font-size: 17px; }
.list thead th { color: var(--soft); white-space: nowrap; } .list td { font-variant-numeric: tabular-nums; }
.list th.number, .list td.number { text-align: right; width: auto; }
.list th, .list td { padding-right: 16px; } .list tr.own td:first-child { border-left: 4px solid var(--own); padding-left: 8px; }
.list tr.own th:first-child { padding-left: 12px; }
dl.said { margin: 0 0 14px; } dl.said dt { margin-top: 8px; } dl.said dd { max-width: 46em; }
.series .own { fill: var(--own); } .series .hollow { fill: var(--card); stroke: var(--own); stroke-width: 2; }
.series .line { stroke: var(--own); fill: none; stroke-width: 2; } .series .thick { stroke-width: 5; stroke-opacity: .55; }
.series .band.own { fill: var(--own); fill-opacity: .16; } .series .letter { font-weight: 700; }
.series .narrow { display: none; }
@media screen and (max-width: 1000px) { .series text { font-size: 16px; } .series .narrow text { font-size: 13px; } }
@media screen and (max-width: 760px) {
  .series .broad { display: none; } .series .narrow { display: block; max-width: 560px; }
  .list thead { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }
  .list, .list tbody, .list caption { display: block; }
  .list tr { display: flex; flex-wrap: wrap; gap: 0 16px; border-top: 1px solid var(--line); padding: 6px 0; }
  .list tr.own { border-left: 4px solid var(--own); padding-left: 10px; }
  .list td, .list td.number, .list tr.own td:first-child { border: 0; padding: 1px 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .list td[data-title]:not([data-title=""])::before { content: attr(data-title) ": "; color: var(--soft); }
  .list td:first-child, .list tbody th { flex-basis: 100%; font-weight: 650; }
  .list tbody th { border: 0; padding: 1px 0; overflow-wrap: anywhere; } .list td:empty { display: none; }
}
)";

namespace {

std::string capitalised(std::string words) {
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z') {
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  }
  if (!words.empty() && words.back() != '.') words += '.';
  return words;
}

std::string_view sign_of(std::string_view verdict) {
  return verdict == "green" ? "✓" : verdict == "yellow" ? "…" : verdict == "red" ? "!" : "?";
}

std::string html_of(const SeriesAnswer& answer) {
  return fmt::format(
      "<div class=\"verdict answer {}\"><span class=\"sign\" aria-hidden=\"true\">{}</span>\n<div><h2 "
      "class=\"light\">{}</h2><p class=\"advice\">{}</p></div></div>\n",
      answer.verdict, sign_of(answer.verdict), svg::escaped(answer.word), svg::escaped(capitalised(answer.sentence)));
}

bool has_letter(const SeriesFact& program) { return program.label.size() == 1; }

std::string html_of_programs(const std::vector<SeriesFact>& programs) {
  std::string items;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    items += fmt::format("<li>{}<code>{}</code></li>\n", has_letter(programs[i]) ? chip(i, programs[i].label) : "",
                         svg::escaped(programs[i].words));
  }
  return "<ul class=\"programs\">\n" + items + "</ul>\n";
}

std::string html_of(const std::vector<SeriesFact>& facts) {
  if (facts.empty()) return "";
  std::string items;
  for (const SeriesFact& fact : facts) {
    if (!fact.label.empty()) items += "<dt>" + svg::escaped(fact.label) + "</dt>";
    items += "<dd>" + svg::escaped(capitalised(fact.words)) + "</dd>\n";
  }
  return "<dl class=\"said\">\n" + items + "</dl>\n";
}

std::string html_of(const SeriesTable& table) {
  const auto class_of = [](const SeriesTable::Column& column) { return column.is_number ? " class=\"number\"" : ""; };
  std::string html = "<table class=\"list\">";
  if (!table.heading.empty()) {
    html += fmt::format("<caption>{}</caption>", table.program ? chip(*table.program, table.heading)
                                                               : "<b>" + svg::escaped(table.heading) + "</b>");
  }
  html += fmt::format("\n<thead><tr{}>", !table.rows.empty() && table.rows.front().program ? " class=\"own\"" : "");
  for (const SeriesTable::Column& column : table.columns) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column), svg::escaped(column.title));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const SeriesTable::Row& row : table.rows) {
    html += row.program ? fmt::format("<tr class=\"own {}\">", class_of_program(*row.program)) : "<tr>";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const bool is_last_of_few = i + 1 == row.cells.size() && i + 1 < table.columns.size();
      const bool has_no_title = is_last_of_few || (i == 0 && !table.columns[i].is_number);
      const std::string span = is_last_of_few ? fmt::format(" colspan=\"{}\"", table.columns.size() - i) : "";
      const bool is_letter = row.program && row.cells[i] == std::string{static_cast<char>('A' + *row.program)};
      html += fmt::format("<td{}{} data-title=\"{}\">{}</td>", is_last_of_few ? "" : class_of(table.columns[i]), span,
                          has_no_title ? "" : svg::escaped(table.columns[i].title),
                          is_letter ? chip(*row.program, row.cells[i]) : svg::escaped(row.cells[i]));
    }
    html += "</tr>\n";
  }
  html += "</tbody></table>\n";
  for (const std::string& words : table.legend)
    html += "<p class=\"soft\">" + svg::escaped(capitalised(words)) + "</p>\n";
  return html;
}

std::string picture(std::string_view label, std::string_view classes, const Frame& frame, const Drawing& drawn) {
  return fmt::format(
      "<svg class=\"{}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      classes, frame.width, drawn.height, svg::escaped(label), drawn.content);
}

}  // namespace

Frame Frame::lane(std::size_t number, std::size_t lanes) const {
  if (lanes == 1) return *this;
  constexpr double height = 150.0;
  constexpr double gap = 26.0;  // above it, for its title
  Frame lane = *this;
  lane.top = top + static_cast<double>(number) * (height + gap) + gap;
  lane.bottom = lane.top + height;
  return lane;
}

RoomOnAxis::RoomOnAxis(const Frame& frame, double of_each) : of_each_(of_each), end_(frame.width - 0.5 * of_each) {}

bool RoomOnAxis::takes(double place) {
  if (place - last_ < of_each_ || place > end_) return false;
  last_ = place;
  return true;
}

Counts::Counts(const Frame& frame, std::size_t last)
    : frame_(frame), last_(last), scale_{0.0, static_cast<double>(last) + 1.0, frame.left, frame.right()} {}

std::string Counts::labels(std::string_view horizontal) const {
  const auto most_labels = static_cast<std::size_t>((frame_.right() - frame_.left) / RoomOnAxis::room);
  const std::size_t step = std::max<std::size_t>(1, (last_ + most_labels - 1) / most_labels);
  std::string content;
  for (std::size_t i = step; i <= last_; i += step) {
    content += value_on_axis(frame_, scale_(static_cast<double>(i)), std::to_string(i));
  }
  return content + title_of_axis(frame_, horizontal);
}

std::string axes(const Frame& frame, const svg::Scale& y, const std::function<std::string(double)>& label) {
  std::string content = svg::line(frame.left, frame.bottom, frame.right(), frame.bottom, "axis");
  for (const double value : svg::ticks(y.from_value, y.to_value, frame.bottom - frame.top > 200.0 ? 4 : 2)) {
    content += svg::line(frame.left, y(value), frame.right(), y(value), "grid") +
               svg::text(frame.left - 8, y(value) + 4, "soft end", label(value));
  }
  return content;
}

std::string title_of_axis(const Frame& frame, std::string_view horizontal) {
  return svg::text(0.5 * (frame.left + frame.right()), frame.bottom + 38, "soft middle", horizontal);
}

std::string value_on_axis(const Frame& frame, double place, std::string_view words) {
  return svg::text(place, frame.bottom + 18, "soft middle", words);
}

std::string band(const Frame& frame, const svg::Scale& y, const Interval& interval, std::string_view classes) {
  const double upper = std::max(y(interval.high), frame.top);
  const double lower = std::min(y(interval.low), frame.bottom);
  if (!(upper < lower)) return "";
  return svg::rectangle(frame.left, upper, frame.right() - frame.left, lower - upper, classes);
}

std::string whisker(const svg::Scale& y, double place, const Interval& interval, std::string_view classes) {
  const Interval shown{std::max(interval.low, y.from_value), std::min(interval.high, y.to_value)};
  if (!(shown.low < shown.high)) return "";
  return svg::line(place, y(shown.low), place, y(shown.high), classes);
}

std::string class_of_program(std::size_t program) {
  constexpr std::size_t colours = 6;
  return fmt::format("p{}", program % colours);
}

std::string chip(std::size_t program, std::string_view letter) {
  return fmt::format("<b class=\"chip {}\">{}</b> ", class_of_program(program), svg::escaped(letter));
}

std::string figure(std::string_view label, const std::function<Drawing(const Frame&)>& draw,
                   const std::string& caption) {
  return fmt::format("<figure class=\"series\">{}{}<figcaption>{}</figcaption></figure>\n",
                     picture(label, "broad", wide, draw(wide)), picture(label, "narrow", narrow, draw(narrow)),
                     caption);
}

std::string page(const Page& page) {
  std::string title;
  for (const SeriesFact& program : page.programs) {
    title += fmt::format("{}{}{}", title.empty() ? "" : " · ", has_letter(program) ? program.label + ": " : "",
                         svg::escaped(program.words));
  }
  std::string body = "<section>\n" + html_of(page.answer) + html_of_programs(page.programs) + html_of(page.remarks);
  for (const SeriesTable& table : page.first) body += html_of(table);
  body += "</section>\n";
  if (!page.figures.empty()) body += "<section>\n" + page.figures + "</section>\n";
  if (!page.facts.empty() || !page.tables.empty()) {
    body += "<section><h2>In detail</h2>\n" + html_of(page.facts);
    for (const SeriesTable& table : page.tables) body += html_of(table);
    body += "</section>\n";
  }
  return html_page(
      {.title = title, .subtitle = page.subtitle, .body = std::move(body), .more_style = style, .script = {}});
}

Page page_of(std::string_view subtitle, const std::string& command, SeriesAnswer answer,
             std::vector<std::string> remarks, SeriesTable table) {
  Page page{.subtitle = subtitle, .programs = {{"", command_words(command)}}, .answer = std::move(answer)};
  for (std::string& remark : remarks) page.remarks.push_back({"", std::move(remark)});
  page.tables.push_back(std::move(table));
  return page;
}

}  // namespace halcyon::series_figure
