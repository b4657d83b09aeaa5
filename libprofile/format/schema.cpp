#include "libprofile/format/schema.hpp"

#include <algorithm>

namespace halcyon {

const std::vector<Variable>& schema_variables() {
  // It is never destroyed: the recorder may need it when a destructor of another library ends the run.
  static const std::vector<Variable>* const variables = [] {
    auto* const all = new std::vector<Variable>;
    const Profile empty;
    for_each_column(empty, [all](const Column& column, const auto& values) {
      all->push_back({column, element_type_of_values(values)});
    });
    return all;
  }();
  return *variables;
}

const Variable* find_variable(std::string_view name) {
  const std::vector<Variable>& variables = schema_variables();
  const auto found =
      std::find_if(variables.begin(), variables.end(), [name](const Variable& v) { return v.column.name == name; });
  return found != variables.end() ? &*found : nullptr;
}

}  // namespace halcyon
