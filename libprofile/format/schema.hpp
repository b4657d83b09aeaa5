// The names in a profile file, in one place: what is an attribute of the run and what is a column over which dimension.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/evidence.hpp"
#include "libprofile/format/stream.hpp"

namespace halcyon {

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

std::string bins_name(std::string_view feature);
std::string totals_name(std::string_view feature);
std::string last_rank_time_name(std::string_view kind);
std::string evidence_name(const EvidenceInfo& info);

}  // namespace halcyon
