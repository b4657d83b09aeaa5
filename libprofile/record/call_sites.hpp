// The places in the program that end segments, each with a number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/format/module.hpp"
#include "libprofile/record/store/call_site.hpp"

namespace halcyon {

class Python;

class CallSites {
 public:
  /// The number of a place; a new one is looked up at once, since its module may be gone later. Where there are too
  /// many places, further ones share one number for each kind of boundary.
  std::uint8_t number_of(const void* address, Boundary boundary, const Python& python);

  const std::vector<CallSite>& sites() const { return sites_; }
  /// The texts of all sites, by number.
  std::vector<std::string> texts() const;
  /// That the sites are in.
  const std::vector<Module>& modules() const { return modules_; }

 private:
  std::string text_of(const void* address, Boundary boundary, const Python& python);

  std::vector<CallSite> sites_;
  std::vector<Module> modules_;
};

}  // namespace halcyon
