#include "libprofile/record/call_sites.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "libprofile/record/module_of.hpp"
#include "libprofile/record/python.hpp"

namespace halcyon {

std::uint8_t CallSites::number_of(const void* address, Boundary boundary, const Python& python) {
  const auto place_of = [this, boundary](const void* site) {
    const auto known = std::find_if(sites_.begin(), sites_.end(), [=](const CallSite& place) {
      return place.address == site && place.boundary == boundary;
    });
    return static_cast<std::size_t>(known - sites_.begin());
  };
  constexpr std::size_t kinds = boundary_names.size() - 1;  // in one list: steps have one of their own
  std::size_t place = place_of(address);
  if (place == sites_.size() && sites_.size() + kinds >= most_sites) {
    address = nullptr;
    place = place_of(address);
  }
  if (place == sites_.size()) sites_.push_back({address, boundary, text_of(address, boundary, python)});
  return static_cast<std::uint8_t>(place);
}

// For Python a file and line; else a module, and the offset of the return address in it.
std::string CallSites::text_of(const void* address, Boundary boundary, const Python& python) {
  std::string text(name_of(boundary));
  if (address == nullptr) return text;
  if (const PythonPlace* place = python.place_at(address); place != nullptr) {
    return text + "@" + place->file.data() + ":" + std::to_string(place->line);
  }
  std::optional<PlaceInModule> place = module_of(address);
  if (!place) return text + "@+0x0";
  Module& module = place->module;
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%zx", place->offset);
  text += "@" + module.name + offset;
  const bool is_known = std::any_of(modules_.begin(), modules_.end(), [&module](const Module& other) {
    return other.name == module.name && other.path == module.path && other.build_id == module.build_id;
  });
  const bool fits = modules_.size() < most_modules && module.name.size() <= most_module_text &&
                    module.path.size() <= most_module_text && module.build_id.size() <= most_module_text;
  if (!is_known && fits) modules_.push_back(std::move(module));
  return text;
}

std::vector<std::string> CallSites::texts() const {
  std::vector<std::string> texts;
  for (const CallSite& site : sites_) texts.push_back(site.text);
  return texts;
}

}  // namespace halcyon
