#include "report/perfetto.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "report/words.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

// Tracks are threads. Thread numbers must be unique in a trace; 0 would be the kernel's idle thread.
constexpr std::size_t run_process = 1;
constexpr std::size_t run_thread = 1;
constexpr std::size_t first_host_process = 2;
constexpr std::size_t first_rank_thread = 2;

// The arguments of a segment, which the viewers can search and query.
constexpr std::array<std::string_view, 7> arguments_of_the_run{
    "segment", "group", "duration_seconds", "baseline_seconds", "threshold_seconds", "excess_seconds", "last_rank"};
constexpr std::array<std::string_view, 8> arguments_of_the_rank{"segment",
                                                                "excess_seconds",
                                                                "last_rank_point_to_point_seconds",
                                                                "last_rank_collective_seconds",
                                                                "last_rank_boundary_seconds",
                                                                "last_rank_file_io_seconds",
                                                                "last_rank_off_cpu_seconds",
                                                                "boundary_wait_seconds"};

std::vector<SegmentField> chosen(const std::vector<SegmentField>& fields, std::span<const std::string_view> names) {
  std::vector<SegmentField> result;
  for (const std::string_view name : names) {
    result.push_back(
        *std::find_if(fields.begin(), fields.end(), [name](const SegmentField& f) { return f.name == name; }));
  }
  return result;
}

std::string quoted(const std::string& text) {
  return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Writes events, one per line.
class Events {
 public:
  explicit Events(fmt::memory_buffer& out) : out_(out) {}

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    out_.append(std::string_view(is_first_ ? "\n" : ",\n"));
    is_first_ = false;
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }
  void name(std::string_view what, std::size_t process, std::size_t thread, const std::string& text) {
    add(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread, quoted(text));
    add(R"({{"ph":"M","name":"{}_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", what, process, thread,
        what == "process" ? process : thread);
  }

 private:
  fmt::memory_buffer& out_;
  bool is_first_ = true;
};

void append_arguments(fmt::memory_buffer& out, const std::vector<SegmentField>& fields, const JudgedSegment& segment) {
  bool is_first = true;
  fmt::memory_buffer value;
  for (const SegmentField& field : fields) {
    value.clear();
    field.append(value, segment);
    if (value.size() == 0) continue;  // not known
    fmt::format_to(std::back_inserter(out), R"({}"{}":{})", is_first ? "" : ",", field.name,
                   std::string_view(value.data(), value.size()));
    is_first = false;
  }
  out.append(std::string_view("}}"));
}

// Viewers count nanoseconds in 64 bits, so longer times are cut.
std::uint64_t nanoseconds(double seconds) {
  constexpr double most_seconds = 9e9;
  return static_cast<std::uint64_t>(std::llround(std::min(seconds, most_seconds) * 1e9));
}

// The format has microseconds; three decimals make them nanoseconds.
std::string microseconds(std::uint64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

}  // namespace

void write_perfetto(std::ostream& out, const AnalyzedFile& run, const Grouping& grouping, const SegmentsDone& done) {
  const Profile& profile = run.profile;
  fmt::memory_buffer text;
  const auto write_piece = [&] {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };

  ordered_json circumstances;
  for (const RunField& field : run_fields()) {
    if (field.shape == RunField::Shape::scalar) circumstances[std::string(field.name)] = field.value(run);
  }
  text.append(R"({"otherData":)" + circumstances.dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
              R"(,"traceEvents":[)");

  Events events(text);
  events.name("process", run_process, run_thread, profile.command);
  events.name("thread", run_process, run_thread, "segments");
  const std::vector<std::string> hosts = profile.hosts();
  std::vector<std::size_t> process_of_rank;
  for (const std::string& host : profile.rank_host) {
    process_of_rank.push_back(first_host_process +
                              static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), host) - hosts.begin()));
  }
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    // A process gets its name through one of its threads, here that of the host's first rank.
    const auto rank =
        std::find(profile.rank_host.begin(), profile.rank_host.end(), hosts[host]) - profile.rank_host.begin();
    events.name("process", first_host_process + host, first_rank_thread + static_cast<std::size_t>(rank), hosts[host]);
  }
  for (std::size_t rank = 0; rank < process_of_rank.size(); ++rank) {
    events.name("thread", process_of_rank[rank], first_rank_thread + rank,
                fmt::format("rank {} held the others up", rank));
  }

  std::vector<std::string> quoted_sites;
  std::vector<std::string> quoted_names;
  for (const std::string& site : profile.sites) {
    quoted_sites.push_back(quoted(site));
    quoted_names.push_back(quoted(site_words(profile, site)));
  }
  const std::vector<SegmentField> fields = segment_fields(profile);
  const std::vector<SegmentField> of_run = chosen(fields, arguments_of_the_run);
  const std::vector<SegmentField> of_rank = chosen(fields, arguments_of_the_rank);
  JudgedSegments segments(profile, grouping, run.analysis);
  while (const std::optional<JudgedSegment> segment = segments.next()) {
    const std::uint64_t begin = nanoseconds(segment->start_seconds);
    const std::uint64_t end = nanoseconds(segment->start_seconds + segment->duration_seconds);
    const std::size_t place = profile.site.empty() ? 0 : profile.site[segment->number];
    const std::string& site = quoted_sites[place];
    const std::uint32_t rank = profile.last_rank[segment->number];
    // Perfetto colours by the name, Chrome by `cname`.
    const auto add = [&](std::size_t process, std::size_t thread) {
      const std::string_view name = segment->disturbed ? R"("disturbed")" : std::string_view(quoted_names[place]);
      events.add(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}",{}"args":{{"site":{},)", process,
                 thread, microseconds(begin), microseconds(end - begin), name,
                 segment->disturbed           ? "disturbed"
                 : segment->judged != nullptr ? "judged"
                                              : "unjudged",
                 segment->disturbed ? R"("cname":"terrible",)" : "", site);
    };
    add(run_process, run_thread);
    append_arguments(text, of_run, *segment);
    add(process_of_rank[rank], first_rank_thread + rank);
    append_arguments(text, of_rank, *segment);
    if (text.size() < piece_bytes) continue;
    write_piece();
    if (!out) return;
    done(segment->number + 1);
  }
  text.append(std::string_view("\n]}\n"));
  write_piece();
}

}  // namespace halcyon
