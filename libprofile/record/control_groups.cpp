#include "libprofile/record/control_groups.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/number_at.hpp"

namespace halcyon {
namespace {

// The numbers that a file begins with; NaN where there is none, as in place of "max".
std::array<double, 2> numbers_in(const std::string& path) {
  std::array<char, 64> text{};
  const Descriptor file(direct::open(path.c_str(), O_RDONLY));
  if (file) direct::read(file.number(), text.data(), text.size() - 1);
  const char* at = text.data();
  const double first = number_at(at);
  return {first, number_at(at)};
}

std::optional<LimitedGroup> with_limit(double quota, double period, LimitedGroup group) {
  if (!(quota > 0.0) || !(period > 0.0)) return std::nullopt;  // -1: none
  group.cpus = quota / period;
  return group;
}

std::optional<LimitedGroup> limited_by_version_1(const std::string& group) {
  return with_limit(numbers_in(group + "/cpu.cfs_quota_us")[0], numbers_in(group + "/cpu.cfs_period_us")[0],
                    {.counters = group + "/cpu.stat", .key = "throttled_time ", .seconds_of_unit = 1e-9});
}

std::optional<LimitedGroup> limited_by_version_2(const std::string& group) {
  const auto [quota, period] = numbers_in(group + "/cpu.max");
  return with_limit(quota, period,
                    {.counters = group + "/cpu.stat", .key = "throttled_usec ", .seconds_of_unit = 1e-6});
}

bool lists_cpu(std::string_view controllers) {
  const std::string padded = "," + std::string(controllers) + ",";
  return padded.find(",cpu,") != std::string::npos;
}

}  // namespace

// In a container, the path may be that on its host. The container's own group is then the root of what it sees.
std::vector<LimitedGroup> limited_groups(std::string_view groups, const std::string& root) {
  std::vector<LimitedGroup> limited;
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
      const std::string group = mounted + std::string(path);
      const std::optional<LimitedGroup> found =
          is_version_2 ? limited_by_version_2(group) : limited_by_version_1(group);
      if (found) limited.push_back(*found);
      if (path.rfind('/') == std::string_view::npos) break;
    }
  }
  return limited;
}

}  // namespace halcyon
