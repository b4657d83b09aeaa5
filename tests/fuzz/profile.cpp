// What a file may hold that HDF5 reads without complaint: the fuzzer's bytes steer changes of a real profile's values,
// lengths and texts. What the checks let pass goes through the analysis and everything that is printed of it.
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/estimate/estimators.hpp"
#include "libprofile/format/contents.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "libprofile/format/schema.hpp"
#include "report/comparison.hpp"
#include "report/composition.hpp"
#include "report/csv.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/openmetrics.hpp"
#include "report/perfetto.hpp"
#include "report/text.hpp"
#include "tests/fuzz/steering.hpp"

namespace {

using namespace halcyon;
using fuzz::promise;
using fuzz::promise_legible;
using fuzz::Steering;

constexpr std::size_t most_segments = 512;
constexpr std::size_t most_ranks = 64;
const std::string file = "run.h5";

Contents contents_of(const Profile& profile) {
  const std::string path = fuzz::scratch() + "/base.h5";
  const Outcome<std::string> written = write_profile(profile, path);
  promise(static_cast<bool>(written), "a profile can be written");
  const fuzz::MemoryFile frames;
  send_contents(path, std::uint64_t{1} << 30, frames.descriptor());
  unlink(path.c_str());
  frames.rewind();
  Outcome<Contents> contents = receive_contents(frames.descriptor(), std::uint64_t{1} << 30, path);
  promise(static_cast<bool>(contents), "a profile that was written can be read");
  return std::move(*contents);
}

struct Base {
  Profile profile = fuzz::eventful_profile();
  Contents contents = contents_of(profile);
};

const Base& base() {
  static const Base one;
  return one;
}

Frame& attribute(Contents& contents, Steering& steering) {
  const auto& known = base().contents.attributes;
  const auto which = std::next(known.begin(), static_cast<std::ptrdiff_t>(steering.below(known.size())));
  return contents.attributes.try_emplace(which->first, which->second).first->second;
}

Frame& column(Contents& contents, Steering& steering) {
  const std::vector<Variable>& variables = schema_variables();
  const Variable& variable = variables[steering.below(variables.size())];
  const Frame none{FrameKind::column, variable.type, variable.column.name, {}};
  return contents.columns.try_emplace(variable.column.name, std::vector<Frame>{none}).first->second.front();
}

// Values repeat from the start when it becomes longer.
void resize(Frame& column, std::size_t length) {
  if (column.element == ElementType::text) {
    std::string text(length, 'h');
    column.payload.clear();
    for (const char c : text) column.payload.insert(column.payload.end(), {c, '\0'});
    return;
  }
  const std::size_t old = column.payload.size();
  column.payload.resize(length * size_of(column.element));
  for (std::size_t i = old; i < column.payload.size() && old > 0; ++i) column.payload[i] = column.payload[i - old];
}

void resize_all(Contents& contents, std::string_view dimension, std::size_t length) {
  for (auto& [column_name, pieces] : contents.columns) {
    const Variable* variable = find_variable(column_name);
    if (variable != nullptr && variable->column.over == dimension) resize(pieces.front(), length);
  }
  const std::string name = dimension == "segment" ? "segments" : "ranks";
  Frame& count = contents.attributes.try_emplace(name, base().contents.attributes.at(name)).first->second;
  const auto value = static_cast<std::int64_t>(length);
  count.kind = FrameKind::integer;
  count.payload.resize(sizeof value);
  std::memcpy(count.payload.data(), &value, sizeof value);
}

void change_values(Frame& column, Steering& steering) {
  const std::size_t width = size_of(column.element);
  const std::size_t count = column.payload.size() / width;
  if (count == 0) return;
  std::size_t at = steering.below(count);
  const std::size_t step = 1 + steering.byte() % 8;
  for (std::size_t left = 1 + steering.byte(); left > 0 && at < count; --left, at += step) {
    steering.element(column.element, column.payload.data() + at * width);
    if (steering.done()) break;
  }
}

// All values alike, in two kinds by turns, or rising.
void fill(Frame& column, Steering& steering) {
  const std::size_t width = size_of(column.element);
  char values[2][8] = {};
  for (auto& value : values) steering.element(column.element, value);
  const std::size_t period = 1 + steering.byte();
  for (std::size_t i = 0; i < column.payload.size() / width; ++i) {
    std::memcpy(column.payload.data() + i * width, values[i % period == 0 ? 0 : 1], width);
  }
}

void edit(Contents& contents, Steering& steering) {
  const auto set = [](Frame& frame, FrameKind kind, const void* data, std::size_t size) {
    frame.kind = kind;
    frame.payload.assign(static_cast<const char*>(data), static_cast<const char*>(data) + size);
  };
  switch (steering.byte() % 12) {
    case 0: {
      const std::int64_t value = steering.integer();
      return set(attribute(contents, steering), FrameKind::integer, &value, sizeof value);
    }
    case 1: {
      const double value = steering.real();
      return set(attribute(contents, steering), FrameKind::real, &value, sizeof value);
    }
    case 2: {
      const std::string value = steering.text();
      return set(attribute(contents, steering), FrameKind::text, value.data(), value.size());
    }
    case 3: contents.attributes.erase(std::string(attribute(contents, steering).name)); return;
    case 4: contents.columns.erase(std::string(column(contents, steering).name)); return;
    case 5: return resize(column(contents, steering), steering.below(most_segments));
    case 6: return resize_all(contents, "segment", steering.below(most_segments));
    case 7: return resize_all(contents, "rank", steering.below(most_ranks));
    case 8: {
      const std::string value = steering.text();
      Frame& frame = column(contents, steering);
      return set(frame, FrameKind::column, value.data(), value.size());
    }
    case 9: {
      column(contents, steering).element = static_cast<ElementType>(steering.byte() % 7);
      return;
    }
    case 10: return fill(column(contents, steering), steering);
    default: return change_values(column(contents, steering), steering);
  }
}

void promise_percent(double value) {
  promise(value >= 0.0 && value <= 100.0, "a share is from 0 to 100 %", std::to_string(value));
}

void promise_json(const nlohmann::ordered_json& json) {
  promise(nlohmann::ordered_json::accept(to_text(json)), "JSON is JSON");
  promise_legible(to_text(json));
}

// What has a line a segment, or a page for it, would take most of the time.
constexpr std::uint64_t most_drawn = 200;

// A trace is a message whose field 1, of bytes, is repeated (Perfetto's trace.proto).
bool is_packets(std::string_view trace) {
  constexpr char field_1_of_bytes = 0x0a;
  while (!trace.empty()) {
    if (trace.front() != field_1_of_bytes) return false;
    trace.remove_prefix(1);
    std::uint64_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (trace.empty() || shift > 63) return false;
      const auto byte = static_cast<unsigned char>(trace.front());
      trace.remove_prefix(1);
      size |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (size > trace.size()) return false;
    trace.remove_prefix(size);
  }
  return true;
}

void draw(const Profile& profile, const Grouping& grouping, const Analysis& analysis) {
  const AnalyzedFile run{file, profile, analysis};
  std::ostringstream trace;
  write_perfetto(trace, run, grouping, [](std::uint64_t) {});
  promise(is_packets(trace.str()), "a trace is a list of packets");
  std::ostringstream table;
  write_segments_csv(table, run, grouping, [](std::uint64_t) {});
  promise(table.str().ends_with("\r\n"), "a table ends its rows");
  promise(openmetrics(run).ends_with("# EOF\n"), "metrics have an end");
  promise_legible(openmetrics(run));
  promise(report_html({on_page(file, profile, grouping, analysis)}).ends_with("</html>\n"), "a page has an end");
}

void show(const Profile& profile, std::span<const Method> candidates) {
  promise_legible(info_text(file, profile));
  promise_json(info_json(file, profile));
  const Grouping grouping = group_segments(profile);
  const Analysis analysis = analyze(profile, grouping, candidates.front().name, candidates);
  for (const MethodResult& method : analysis.methods) {
    promise_percent(method.interference_percent);
    promise_percent(method.interval_percent.low);
    promise_percent(method.interval_percent.high);
    promise_percent(100.0 * method.probability_high);
  }
  promise_percent(analysis.coverage_percent);
  promise_legible(report_text(file, profile, analysis, Colour::never));
  promise_legible(closing_lines(file, profile, analysis, Colour::never));
  promise_legible(summary_text({summary_row(file, analysis), summary_row(file, analysis)}));
  promise_json(report_json(file, profile, analysis));
  if (profile.segments <= most_drawn) draw(profile, grouping, analysis);
}

void match_with_base(const Profile& profile) {
  const Profile& other = base().profile;
  const Grouping groups = group_segments(profile);
  const Grouping groups_of_other = group_segments(other);
  const std::vector<GroupPair> pairs = match_groups({profile, groups}, {other, groups_of_other});
  promise(pairs.size() <= std::min(groups.groups.count, groups_of_other.groups.count), "a group has one partner");
  median_displacement_seconds({profile, groups}, {other, groups_of_other}, pairs);
}

void show_beside_base(const Profile& profile) {
  const Comparison comparison = compare(profile, base().profile);
  const ComparedFile a{file, profile};
  const ComparedFile b{file, base().profile};
  promise_legible(comparison_text(a, b, comparison));
  promise_json(comparison_json(a, b, comparison));
  const std::vector<Profile> runs{profile, base().profile};
  const Outcome<Composition> composition = compose(runs, {file, file});
  if (composition) {
    promise_legible(composition_text(file, runs, *composition));
  } else {
    fuzz::promise_one_line(composition.failure().message);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Steering steering(data, size);
  Contents contents = base().contents;
  while (!steering.done()) edit(contents, steering);
  const Outcome<Profile> profile = check_profile(std::move(contents), file);
  if (!profile) {
    fuzz::promise_one_line(profile.failure().message);
    return 0;
  }
  // The default method takes a thousand times as long as all else. Which inputs go through it, and through what needs
  // it, is not the fuzzer's choice: it would come to like them.
  const bool in_full = std::hash<std::string_view>()({reinterpret_cast<const char*>(data), size}) % 1024 == 0;
  show(*profile, in_full ? std::span<const Method>(methods) : std::span<const Method>(methods).subspan(1));
  match_with_base(*profile);
  if (in_full) show_beside_base(*profile);
  return 0;
}
