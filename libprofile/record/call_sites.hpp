// The call sites that end segments, each with a number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/format/boundary.hpp"
#include "libprofile/format/features.hpp"
#include "libprofile/format/module.hpp"
#include "libprofile/record/store/call_site.hpp"

namespace halcyon {

class Python;

class CallSites {
 public:
  /// The number of a call site. A new one is looked up at once, since its module may be unloaded later. If there are
  /// too many call sites, the rest share one number per kind of boundary.
  std::uint8_t number_of(const void* address, Boundary boundary, const Python& python);

  const std::vector<CallSite>& sites() const { return sites_; }
  /// The texts of all sites, by number.
  std::vector<std::string> texts() const;
  /// The modules of the sites.
  const std::vector<Module>& modules() const { return modules_; }

 private:
  std::string text_of(const void* address, Boundary boundary, const Python& python);

  std::vector<CallSite> sites_;
  std::vector<Module> modules_;
};

}  // namespace halcyon
