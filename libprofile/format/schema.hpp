// The columns of format/columns.hpp as a list that can be searched by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/columns.hpp"
#include "libprofile/format/stream.hpp"

namespace halcyon {

/// The type of a column's values in the file.
template <class T>
constexpr ElementType element_type_of_values(const std::vector<T>&) {
  return element_type_of<T>();
}
inline ElementType element_type_of_values(const std::vector<std::string>&) { return ElementType::text; }

struct Variable {
  Column column;
  ElementType type = ElementType::u8;
};

/// Every column that a profile of the newest schema may have.
const std::vector<Variable>& schema_variables();
/// Null if the schema does not have that name.
const Variable* find_variable(std::string_view name);

}  // namespace halcyon
