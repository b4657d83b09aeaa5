#include "libprofile/format/schema.hpp"

#include <algorithm>

#include "libprofile/format/features.hpp"

namespace halcyon {
namespace {

std::vector<Variable> make_variables() {
  std::vector<Variable> variables{
      {"duration", "segment", ElementType::f32, "s", "duration of the segment, mean over ranks"},
      {"site", "segment", ElementType::u16, "1", "call site of the boundary that ended the segment: index into sites"},
      {"sites", "site_bin", ElementType::text, "",
       "call sites: boundary@module+offset or, of Python, boundary@file:line; the first rank's where ranks differ"},
      {"modules", "module", ElementType::text, "", "programs and libraries of the call sites, on the first rank"},
      {"module_paths", "module", ElementType::text, "", "where they were"},
      {"module_build_ids", "module", ElementType::text, "", "their GNU build-ids, in hexadecimal digits"},
      {"last_rank", "segment", ElementType::u32, "1", "rank that held the others up"},
      {"last_rank_off_cpu", "segment", ElementType::f32, "s",
       "time in which the rank that held the others up was not on a CPU, as far as it shows in stretches above 200 us"},
      {"boundary_wait", "segment", ElementType::f32, "s", "time in the boundary operation, mean over ranks"},
      {"calls_beyond_usual", "segment", ElementType::f32, "s",
       "time that calls took beyond what is usual at their place in the program, least of any rank"},
      {"injected_requested", "segment", ElementType::f32, "s", "delay that intM was asked for, sum over ranks"},
      {"injected_actual", "segment", ElementType::f32, "s", "delay that intM caused, sum over ranks"},
      {"injected_critical", "segment", ElementType::f32, "s", "delay that intM caused, largest of any rank"},
      {"source", "segment", ElementType::u16, "1", "run whose times the segment has: index into composed_of"},
      {"composed_of", "run", ElementType::text, "", "profiles of the runs that this one is composed of"},
      {"rank_host", "rank", ElementType::text, "", "host of the rank"},
      {"rank_cpu", "rank", ElementType::text, "", "model of the rank's processor"},
      {"rank_run_time", "rank", ElementType::f64, "s", "time from MPI_Init to MPI_Finalize"},
  };
  const auto add_background = [&variables](std::size_t which, const char* description) {
    variables.push_back({std::string(background_names[which]), "rank", ElementType::f64, "s", description});
  };
  add_background(0, "fixed work just before the run, 1 % quantile of its time");
  add_background(1, "fixed work just before the run, mean of its time");
  add_background(2, "fixed work just after the run, 1 % quantile of its time");
  add_background(3, "fixed work just after the run, mean of its time");
  for (const ProbeInfo& info : probe_infos) {
    constexpr std::array<const char*, probe_column_names.size()> when{
        ", best just before the run", ", mean just before the run", ", best just after the run",
        ", mean just after the run", ", best that was known of the host when the run was judged"};
    for (std::size_t i = 0; i < when.size(); ++i) {
      variables.push_back({probe_name(info, static_cast<ProbeColumn>(i)), "rank", ElementType::f64, "s",
                           std::string(info.description) + when[i]});
    }
  }
  for (const std::string_view kind : time_kind_names) {
    variables.push_back({last_rank_time_name(kind), "segment", ElementType::f32, "s",
                         "time in " + std::string(kind) + " calls of the rank that held the others up"});
  }
  for (const EvidenceInfo& info : evidence_infos) {
    variables.push_back(
        {evidence_name(info), "rank", ElementType::f64, std::string(info.units), std::string(info.description)});
  }
  for (const FeatureInfo& feature : features) {
    const std::string name(feature.name);
    const std::string over_ranks = feature.kind == FeatureKind::work ? "median over ranks" : "sum over ranks";
    variables.push_back(
        {name, "segment", ElementType::u16, "1", std::string(feature.description) + ": index into " + bins_name(name)});
    variables.push_back({bins_name(name), name + "_bin", ElementType::f64, std::string(feature.units),
                         std::string(feature.description) + ", " + over_ranks});
    if (feature.kind != FeatureKind::work) {
      variables.push_back({totals_name(name), "rank", ElementType::u64, std::string(feature.units),
                           std::string(feature.description) + ", exact sum over the run"});
    }
  }
  return variables;
}

}  // namespace

std::string probe_name(const ProbeInfo& info, ProbeColumn column) {
  return "probe_" + std::string(info.name) + "_" + std::string(probe_column_names[static_cast<std::size_t>(column)]);
}
std::string bins_name(std::string_view feature) { return std::string(feature) + "_bins"; }
std::string totals_name(std::string_view feature) { return "total_" + std::string(feature); }
std::string last_rank_time_name(std::string_view kind) { return "last_rank_" + std::string(kind); }
std::string evidence_name(const EvidenceInfo& info) {
  return (info.of_host ? "host_" : "rank_") + std::string(info.name);
}

const std::vector<Variable>& schema_variables() {
  static const std::vector<Variable> variables = make_variables();
  return variables;
}

const Variable* find_variable(std::string_view name) {
  const std::vector<Variable>& variables = schema_variables();
  const auto found =
      std::find_if(variables.begin(), variables.end(), [name](const Variable& v) { return v.name == name; });
  return found != variables.end() ? &*found : nullptr;
}

}  // namespace halcyon
