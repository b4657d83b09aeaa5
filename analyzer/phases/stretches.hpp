// A series of values, divided where its level changes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace halcyon {

/// The values from `begin` up to, but not including, `end`.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

/// The stretches that change points divide `size` values into. `changes`: ascending.
std::vector<Stretch> stretches_between(std::span<const std::size_t> changes, std::size_t size);

/// Pilot's rule for the stable part: the first of the longest stretches, if it holds more than half of the values.
std::optional<Stretch> dominant_stretch(std::span<const std::size_t> changes, std::size_t size);

}  // namespace halcyon
