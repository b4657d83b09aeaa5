#include "report/segment_fields.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

namespace halcyon {
namespace {

template <class T>
SegmentValue known(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? SegmentValue(value) : SegmentValue();
  } else if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return std::uint64_t{value};
  } else {
    return std::string_view(value);
  }
}

// A field that is a column of the profile, which may be missing.
template <class T>
SegmentField of_column(std::string name, const std::vector<T>& column) {
  return {std::move(name), [&column](const JudgedSegment& segment) {
            return column.empty() ? SegmentValue() : known(column[segment.number]);
          }};
}

SegmentField of_segment(std::string name, auto value) {
  return {std::move(name), [value](const JudgedSegment& segment) { return known(value(segment)); }};
}

SegmentField of_judged_group(std::string name, double JudgedGroup::*value) {
  return {std::move(name), [value](const JudgedSegment& segment) {
            return segment.judged == nullptr ? SegmentValue() : known(segment.judged->*value);
          }};
}

SegmentField of_feature(const FeatureInfo& info, const FeatureColumn& column) {
  return {std::string(info.name), [&column](const JudgedSegment& segment) {
            return column.bins.empty() ? SegmentValue() : known(column.bins[column.bin_of(segment.number)]);
          }};
}

}  // namespace

std::vector<SegmentField> segment_fields(const Profile& profile) {
  using Segment = const JudgedSegment&;
  std::vector<SegmentField> fields{
      of_segment("segment", [](Segment s) { return s.number; }),
      of_segment("start_seconds", [](Segment s) { return s.start_seconds; }),
      of_column("duration_seconds", profile.duration),
      of_segment("cluster", [](Segment s) { return s.cluster; }),
      of_segment("group", [](Segment s) { return s.group; }),
      of_segment("judged", [](Segment s) { return s.judged != nullptr; }),
      of_segment("disturbed", [](Segment s) { return s.disturbed; }),
      of_judged_group("baseline_seconds", &JudgedGroup::baseline_seconds),
      of_judged_group("threshold_seconds", &JudgedGroup::threshold_seconds),
      {"excess_seconds", [](Segment s) { return s.judged == nullptr ? SegmentValue() : known(s.excess_seconds); }},
      {"site", [&profile](Segment s) { return known(profile.sites[site_of(profile, s.number)]); }},
      of_column("last_rank", profile.last_rank),
      {"last_rank_host", [&profile](Segment s) { return known(profile.rank_host[profile.last_rank[s.number]]); }},
  };
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    fields.push_back(
        of_column("last_rank_" + std::string(time_kind_names[kind]) + "_seconds", profile.last_rank_times[kind]));
  }
  fields.push_back(of_column("last_rank_off_cpu_seconds", profile.last_rank_off_cpu));
  fields.push_back(of_column("lost_to_cpu_wait_seconds", profile.lost_to_cpu_wait));
  fields.push_back(of_column("lost_to_slower_ranks_seconds", profile.lost_to_slower_ranks));
  fields.push_back(of_column("lost_to_more_work_seconds", profile.lost_to_more_work));
  fields.push_back(of_column("boundary_wait_seconds", profile.boundary_wait));
  fields.push_back(of_column("least_mpi_time_seconds", profile.least_mpi_time));
  fields.push_back(of_column("calls_beyond_usual_seconds", profile.calls_beyond_usual));
  fields.push_back(of_column("injected_requested_seconds", profile.injected.requested));
  fields.push_back(of_column("injected_actual_seconds", profile.injected.actual));
  fields.push_back(of_column("injected_critical_seconds", profile.injected.critical));
  fields.push_back({"source", [&profile](Segment s) {
                      return profile.source.empty() ? SegmentValue()
                                                    : known(profile.composed_of[profile.source[s.number]]);
                    }});
  for (const FeatureInfo& info : features) {
    fields.push_back(of_feature(info, profile.features[index_of(info.feature)]));
  }
  return fields;
}

}  // namespace halcyon
