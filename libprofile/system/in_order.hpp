// Tables whose entries stand at the places of their enumerators.
#pragma once

#include <cstddef>

namespace halcyon {

/// Whether `member` of each entry is the enumerator whose number is the entry's index. For static assertions: code
/// finds the entry of an enumerator by its number.
template <class Table, class Entry, class Enumerator>
constexpr bool in_order(const Table& table, Enumerator Entry::*member) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].*member) != i) return false;
  }
  return true;
}

}  // namespace halcyon
