// The names in a profile file, in one place: what is an attribute of the run and what is a column over which dimension.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/evidence.hpp"
#include "libprofile/format/probes.hpp"
#include "libprofile/format/stream.hpp"

namespace halcyon {

// What announces itself must not take more memory or disk than any real profile needs.
inline constexpr std::uint64_t most_segments = std::uint64_t{1} << 32;
inline constexpr std::uint64_t most_ranks = std::uint64_t{1} << 24;

struct Variable {
  std::string name;
  std::string dimension;
  ElementType type = ElementType::u8;
  std::string units;  // empty for texts
  std::string description;
};

/// Every column a profile of the newest schema may have.
const std::vector<Variable>& schema_variables();
/// Null for a name that the schema does not have.
const Variable* find_variable(std::string_view name);

/// Over ranks: the 1 % quantile of the time of fixed work and its mean, before and after the run.
inline constexpr std::array<std::string_view, 4> background_names{"background_quantum_before", "background_mean_before",
                                                                  "background_quantum_after", "background_mean_after"};

/// How a run compares with earlier ones of the same work: attributes that are there together or not at all.
inline constexpr const char* known_runs_name = "known_runs";
inline constexpr std::array<const char*, 4> known_runs_seconds_names{
    "known_runs_displacement_seconds", "known_runs_low_seconds", "known_runs_high_seconds",
    "known_runs_matched_seconds"};
inline constexpr const char* known_parts_name = "known_runs_of_parts";  // attributes of the same kind
inline constexpr std::array<const char*, 3> known_parts_seconds_names{
    "known_runs_beyond_seconds", "known_runs_beyond_low_seconds", "known_runs_beyond_high_seconds"};

/// Over ranks: what a probe took just before and just after the run, and the best that was known of the rank's host.
enum class ProbeColumn : std::uint8_t { best_before, mean_before, best_after, mean_after, known };
inline constexpr std::array<std::string_view, 5> probe_column_names{"best_before", "mean_before", "best_after",
                                                                    "mean_after", "known"};
std::string probe_name(const ProbeInfo& info, ProbeColumn column);
/// Each column of one probe, with its name, in the order of ProbeColumn.
template <class Columns, class Each>
void for_each_column(const ProbeInfo& info, Columns& columns, Each each) {
  each(probe_name(info, ProbeColumn::best_before), columns.best_before);
  each(probe_name(info, ProbeColumn::mean_before), columns.mean_before);
  each(probe_name(info, ProbeColumn::best_after), columns.best_after);
  each(probe_name(info, ProbeColumn::mean_after), columns.mean_after);
  each(probe_name(info, ProbeColumn::known), columns.known);
}

std::string bins_name(std::string_view feature);
std::string totals_name(std::string_view feature);
std::string last_rank_time_name(std::string_view kind);
std::string evidence_name(const EvidenceInfo& info);

}  // namespace halcyon
