#include "libprofile/record/control_groups.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "libprofile/system/descriptor.hpp"

namespace halcyon {
namespace {

ControlGroup of_version_1(const std::string& group) {
  return {.quota = group + "/cpu.cfs_quota_us",
          .period = group + "/cpu.cfs_period_us",
          .counters = group + "/cpu.stat",
          .key = "throttled_time ",
          .seconds_of_unit = 1e-9};
}

ControlGroup of_version_2(const std::string& group) {
  return {.quota = group + "/cpu.max",
          .period = {},
          .counters = group + "/cpu.stat",
          .key = "throttled_usec ",
          .seconds_of_unit = 1e-6};
}

bool lists_cpu(std::string_view controllers) {
  const std::string padded = "," + std::string(controllers) + ",";
  return padded.find(",cpu,") != std::string::npos;
}

}  // namespace

// In a container, the path may be that on its host. The container's own group is then the root of what it sees.
std::vector<ControlGroup> control_groups(std::string_view groups, const std::string& root) {
  std::vector<ControlGroup> all;
  while (!groups.empty()) {
    std::string_view line = groups.substr(0, groups.find('\n'));  // ID:CONTROLLERS:PATH
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find(':') + 1));
    const std::string_view controllers = line.substr(0, line.find(':'));
    if (controllers.size() == line.size()) continue;
    const bool is_version_2 = controllers.empty();
    if (!is_version_2 && !lists_cpu(controllers)) continue;
    const std::string mounted = is_version_2 ? root : root + "/" + std::string(controllers);
    for (std::string_view path = line.substr(controllers.size() + 1);; path = path.substr(0, path.rfind('/'))) {
      while (path.ends_with('/')) path.remove_suffix(1);
      const std::string directory = mounted + std::string(path);
      ControlGroup group = is_version_2 ? of_version_2(directory) : of_version_1(directory);
      if (Descriptor(direct::open(group.quota.c_str(), O_RDONLY))) all.push_back(std::move(group));
      if (path.rfind('/') == std::string_view::npos) break;
    }
  }
  return all;
}

}  // namespace halcyon
