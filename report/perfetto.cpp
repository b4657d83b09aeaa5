#include "report/perfetto.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "libprofile/system/legible.hpp"
#include "report/protobuf.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using protobuf::append_bytes;
using protobuf::append_double;
using protobuf::append_number;
using Field = std::uint32_t;

// Numbers of the fields, by message: protos/perfetto/trace/ of Perfetto's sources.
constexpr Field packet_of_trace = 1;
namespace packet {
constexpr Field clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11, interned_data = 12, flags = 13,
                compressed_packets = 50, defaults = 59, track_descriptor = 60;
}
namespace snapshot {
constexpr Field clock = 1, clock_id = 1, clock_timestamp = 2, clock_is_incremental = 3;
}
namespace defaults {
constexpr Field track_event = 11, clock_id = 58, track_event_track = 11;
}
namespace interned {
constexpr Field category = 1, event_name = 2, annotation_name = 3, annotation_text = 29, iid = 1, text = 2;
}
namespace track {
constexpr Field uuid = 1, name = 2, process = 3, parent = 5, ordering_of_children = 11, place_among_siblings = 12,
                process_pid = 1, process_name = 6, in_order_of_place = 3;
}
namespace event {
constexpr Field category_iid = 3, annotation = 4, type = 9, name_iid = 10, track = 11, category = 22, name = 23;
constexpr std::uint64_t begin = 1, end = 2, instant = 3;
}  // namespace event
namespace annotation {
constexpr Field name_iid = 1, boolean = 2, number = 3, real = 5, text = 6, name = 10, text_iid = 17;
}

// Packets of a sequence share interned texts, defaults and a clock.
constexpr std::uint64_t the_sequence = 1;
constexpr std::uint64_t begins_the_sequence = 1;  // flags
constexpr std::uint64_t stands_on_earlier_packets = 2;
// A clock of our own, in ns. Each timestamp is the distance from the one before, which makes it short.
constexpr std::uint64_t clock_of_steps = 64;
constexpr std::uint64_t clock_of_the_trace = 6;  // CLOCK_BOOTTIME

constexpr std::uint64_t run_track = 1;
constexpr std::uint64_t segments_track = 2;
constexpr std::uint64_t groups_track = 3;
constexpr std::uint64_t first_host_track = 4;  // then those of the ranks

constexpr int compression = 5;  // the next level takes 1.6 times as long and saves 4 %

enum class Category : std::uint8_t { unjudged = 1, judged, disturbed };
constexpr std::array<std::string_view, 3> category_names{"unjudged", "judged", "disturbed"};

// Interned texts are numbered from 1 on, event names and texts of annotations each by the segment's call site. Names of
// disturbed segments come after those of the sites.
std::uint64_t number_of_site(std::size_t site) { return site + 1; }

// Arguments, which the viewer can search and query. A reader keeps equal lists of arguments once.
constexpr std::array<std::string_view, 4> of_group{"site", "group", "baseline_seconds", "threshold_seconds"};
constexpr std::array<std::string_view, 2> of_slice{"site", "group"};
constexpr std::array<std::string_view, 3> of_disturbed{"segment", "excess_seconds", "last_rank"};
constexpr std::array<std::string_view, 6> of_rank{"last_rank_point_to_point_seconds", "last_rank_collective_seconds",
                                                  "last_rank_boundary_seconds",       "last_rank_file_io_seconds",
                                                  "last_rank_off_cpu_seconds",        "boundary_wait_seconds"};

/// Packets, written out in compressed pieces.
class Packets {
 public:
  explicit Packets(std::ostream& out) : out_(out) {}

  void add(std::string_view content, std::uint64_t flags = stands_on_earlier_packets) {
    packet_.assign(content);
    append_number(packet_, packet::sequence, the_sequence);
    append_number(packet_, packet::flags, flags);
    append_bytes(piece_, packet_of_trace, packet_);
  }
  bool is_piece() const { return piece_.size() >= piece_bytes; }
  void write_piece() {
    if (piece_.empty()) return;
    uLongf size = compressBound(piece_.size());
    std::string compressed(size, '\0');
    compress2(reinterpret_cast<Bytef*>(compressed.data()), &size, reinterpret_cast<const Bytef*>(piece_.data()),
              piece_.size(), compression);
    compressed.resize(size);
    packet_.clear();
    append_bytes(packet_, packet::compressed_packets, compressed);
    piece_.clear();
    append_bytes(piece_, packet_of_trace, packet_);
    out_.write(piece_.data(), static_cast<std::streamsize>(piece_.size()));
    piece_.clear();
  }

 private:
  std::ostream& out_;
  std::string packet_;
  std::string piece_;
};

void begin_sequence(Packets& packets) {
  std::string clocks;
  for (const std::uint64_t clock : {clock_of_steps, clock_of_the_trace}) {
    std::string one;
    append_number(one, snapshot::clock_id, clock);
    append_number(one, snapshot::clock_timestamp, 0);
    if (clock == clock_of_steps) append_number(one, snapshot::clock_is_incremental, 1);
    append_bytes(clocks, snapshot::clock, one);
  }
  std::string usual_track;
  append_number(usual_track, defaults::track_event_track, segments_track);
  std::string usual;
  append_bytes(usual, defaults::track_event, usual_track);
  append_number(usual, defaults::clock_id, clock_of_steps);
  std::string content;
  append_bytes(content, packet::clock_snapshot, clocks);
  append_bytes(content, packet::defaults, usual);
  packets.add(content, begins_the_sequence);
}

void append_interned(std::string& data, Field kind, std::uint64_t number, const std::string& text) {
  std::string one;
  append_number(one, interned::iid, number);
  append_bytes(one, interned::text, text);
  append_bytes(data, kind, one);
}

struct Track {
  std::uint64_t uuid = 0;
  std::uint64_t parent = 0;  // 0: a process
  std::uint64_t place = 0;   // among its siblings, or of all processes
  std::string name;
};

void add_track(Packets& packets, const Track& one) {
  std::string description;
  append_number(description, track::uuid, one.uuid);
  if (one.parent == 0) {
    std::string process;
    append_number(process, track::process_pid, one.place);
    append_bytes(process, track::process_name, legible(one.name));
    append_bytes(description, track::process, process);
    append_number(description, track::ordering_of_children, track::in_order_of_place);
  } else {
    append_bytes(description, track::name, one.name);
    append_number(description, track::parent, one.parent);
    append_number(description, track::place_among_siblings, one.place);
  }
  std::string content;
  append_bytes(content, packet::track_descriptor, description);
  packets.add(content);
}

/// Adds events in the order of time.
class Events {
 public:
  explicit Events(Packets& packets) : packets_(packets) {}

  void add(std::string_view event, std::uint64_t nanoseconds) {
    content_.clear();
    append_number(content_, packet::timestamp, nanoseconds - last_);
    append_bytes(content_, packet::track_event, event);
    packets_.add(content_);
    last_ = nanoseconds;
  }
  void end(std::uint64_t track_uuid, std::uint64_t nanoseconds) { add(event_on(track_uuid, event::end), nanoseconds); }

  /// An event to append to, until the next one is asked for.
  std::string& event_on(std::uint64_t track_uuid, std::uint64_t type) {
    event_.clear();
    append_number(event_, event::type, type);
    if (track_uuid != segments_track) append_number(event_, event::track, track_uuid);
    return event_;
  }

 private:
  Packets& packets_;
  std::string content_;
  std::string event_;
  std::uint64_t last_ = 0;
};

// A figure of the run. Nothing where it is not known.
void append_figure(std::string& event, std::string_view name, const nlohmann::ordered_json& value) {
  if (value.is_null()) return;
  std::string one;
  append_bytes(one, annotation::name, name);
  if (value.is_string()) {
    append_bytes(one, annotation::text, legible(value.get<std::string>()));
  } else if (value.is_number_float()) {
    append_double(one, annotation::real, value.get<double>());
  } else {
    append_number(one, annotation::number, value.get<std::uint64_t>());
  }
  append_bytes(event, event::annotation, one);
}

// Without the last 40 of 52 binary digits: half of a trace would be digits finer than what clocks tell apart, which is
// two parts in ten thousand of a segment (docs/method.md, "The fit").
double rounded(double seconds) {
  constexpr std::uint64_t half = std::uint64_t{1} << 39;
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(seconds) + half) & ~(2 * half - 1));
}

/// Arguments of segments, whose names are interned.
class Arguments {
 public:
  explicit Arguments(const std::vector<SegmentField>& all) : all_(all) {}

  template <std::size_t count>
  std::vector<std::size_t> named(const std::array<std::string_view, count>& names) const {
    std::vector<std::size_t> result;
    for (const std::string_view name : names) {
      const auto field =
          std::find_if(all_.begin(), all_.end(), [name](const SegmentField& f) { return f.name == name; });
      result.push_back(static_cast<std::size_t>(field - all_.begin()));
    }
    return result;
  }
  void append_names(std::string& interned_data) const {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      append_interned(interned_data, interned::annotation_name, i + 1, all_[i].name);
    }
  }
  void append(std::string& event, std::span<const std::size_t> which, const JudgedSegment& segment,
              std::uint64_t site_number) {
    for (const std::size_t i : which) {
      one_.clear();
      append_number(one_, annotation::name_iid, i + 1);
      const bool is_known = std::visit(
          [&](const auto& value) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::monostate>) return false;
            if constexpr (std::is_same_v<T, std::string_view>) append_number(one_, annotation::text_iid, site_number);
            if constexpr (std::is_same_v<T, bool>) append_number(one_, annotation::boolean, value ? 1 : 0);
            if constexpr (std::is_same_v<T, std::uint64_t>) append_number(one_, annotation::number, value);
            if constexpr (std::is_floating_point_v<T>)
              append_double(one_, annotation::real, rounded(static_cast<double>(value)));
            return true;
          },
          all_[i].value(segment));
      if (is_known) append_bytes(event, event::annotation, one_);
    }
  }

 private:
  const std::vector<SegmentField>& all_;
  std::string one_;
};

// Viewers count nanoseconds in 64 bits, so longer times are cut.
std::uint64_t nanoseconds(double seconds) {
  constexpr double most_seconds = 9e9;
  return static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, most_seconds) * 1e9));
}

}  // namespace

void write_perfetto(std::ostream& out, const AnalyzedFile& run, const Grouping& grouping, const SegmentsDone& done) {
  const Profile& profile = run.profile;
  Packets packets(out);
  begin_sequence(packets);

  const std::vector<SegmentField> fields = segment_fields(profile);
  Arguments arguments(fields);
  const std::vector<std::size_t> group_arguments = arguments.named(of_group);
  const std::vector<std::size_t> segment_arguments = arguments.named(of_slice);
  const std::vector<std::size_t> disturbed_arguments = arguments.named(of_disturbed);
  const std::vector<std::size_t> rank_arguments = arguments.named(of_rank);
  const std::uint64_t disturbed_name = number_of_site(profile.sites.size());
  std::string interned_data;
  for (std::size_t i = 0; i < category_names.size(); ++i) {
    append_interned(interned_data, interned::category, i + 1, std::string(category_names[i]));
  }
  for (std::size_t site = 0; site < profile.sites.size(); ++site) {
    const std::string& text = profile.sites[site];
    append_interned(interned_data, interned::event_name, number_of_site(site), legible(site_words(profile, text)));
    append_interned(interned_data, interned::annotation_text, number_of_site(site), legible(text));
  }
  append_interned(interned_data, interned::event_name, disturbed_name, "disturbed");
  arguments.append_names(interned_data);
  std::string content;
  append_bytes(content, packet::interned_data, interned_data);
  packets.add(content);

  add_track(packets, {.uuid = run_track, .place = run_track, .name = profile.command});
  add_track(packets, {.uuid = segments_track, .parent = run_track, .name = "segments"});
  add_track(packets, {.uuid = groups_track, .parent = run_track, .place = 1, .name = "groups"});
  const std::vector<std::string> hosts = profile.hosts();
  std::unordered_map<std::string_view, std::uint64_t> track_of_host;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const std::uint64_t uuid = first_host_track + host;
    track_of_host[hosts[host]] = uuid;
    add_track(packets, {.uuid = uuid, .place = uuid, .name = hosts[host]});
  }
  const std::uint64_t first_rank_track = first_host_track + hosts.size();
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const auto host = track_of_host.find(profile.rank_host[rank]);  // none of a rank that left nothing
    add_track(packets, {.uuid = first_rank_track + rank,
                        .parent = host != track_of_host.end() ? host->second : run_track,
                        .place = rank,
                        .name = fmt::format("rank {} held the others up", rank)});
    if (packets.is_piece()) packets.write_piece();
  }

  Events events(packets);
  std::string& whole = events.event_on(run_track, event::begin);
  append_bytes(whole, event::category, "run");
  append_bytes(whole, event::name, name_of(run.analysis.result().verdict));
  for (const RunField& field : run_fields()) {
    if (field.shape == RunField::Shape::scalar) append_figure(whole, field.name, field.value(run));
  }
  events.add(whole, 0);

  std::uint64_t end = 0;
  std::vector<bool> told(grouping.groups.count, false);  // groups
  JudgedSegments segments(profile, grouping, run.analysis);
  while (const std::optional<JudgedSegment> segment = segments.next()) {
    const std::uint64_t begin = nanoseconds(segment->start_seconds);
    end = nanoseconds(segment->start_seconds + segment->duration_seconds);
    const std::uint64_t site = number_of_site(site_of(profile, segment->number));
    const Category category = segment->disturbed           ? Category::disturbed
                              : segment->judged != nullptr ? Category::judged
                                                           : Category::unjudged;
    const std::uint64_t rank_track = first_rank_track + profile.last_rank[segment->number];
    if (!told[segment->group]) {
      std::string& one = events.event_on(groups_track, event::instant);
      append_number(one, event::category_iid,
                    static_cast<std::uint64_t>(segment->judged != nullptr ? Category::judged : Category::unjudged));
      append_number(one, event::name_iid, site);
      arguments.append(one, group_arguments, *segment, site);
      events.add(one, begin);
      told[segment->group] = true;
    }
    for (const std::uint64_t track_uuid : {segments_track, rank_track}) {
      std::string& one = events.event_on(track_uuid, event::begin);
      append_number(one, event::category_iid, static_cast<std::uint64_t>(category));
      append_number(one, event::name_iid, segment->disturbed ? disturbed_name : site);  // colours go by the name
      if (track_uuid == segments_track) {
        arguments.append(one, segment_arguments, *segment, site);
        if (segment->disturbed) arguments.append(one, disturbed_arguments, *segment, site);
      } else if (segment->disturbed) {
        arguments.append(one, rank_arguments, *segment, site);
      }
      events.add(one, begin);
    }
    events.end(rank_track, end);
    events.end(segments_track, end);
    if (!packets.is_piece()) continue;
    packets.write_piece();
    if (!out) return;
    done(segment->number + 1);
  }
  events.end(run_track, std::max(end, nanoseconds(profile.run_time_seconds)));
  packets.write_piece();
}

}  // namespace halcyon
