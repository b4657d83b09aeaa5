#include "cli/launch/samples.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

std::optional<Sample> sample_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t begin = text.find('(');
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(end + 1));
  constexpr int user_time = 14;  // proc(5); the state after the name is field 3
  constexpr int system_time = 15;
  constexpr int last_cpu = 39;
  Sample sample{.process = process, .name = text.substr(begin + 1, end - begin - 1)};
  double ticks = 0.0;
  std::string word;
  for (int field = 3; field <= last_cpu && rest >> word; ++field) {
    if (field == user_time || field == system_time) ticks += std::strtod(word.c_str(), nullptr);
    if (field == last_cpu) sample.cpu = std::atoi(word.c_str());
  }
  sample.cpu_seconds = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  return sample;
}

double waited_by(pid_t process) {
  double nanoseconds = 0.0;
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", process), ignored)) {
    std::ifstream file(task.path() / "schedstat");
    double ran = 0.0;
    double waited = 0.0;
    if (file >> ran >> waited) nanoseconds += waited;
  }
  return 1e-9 * nanoseconds;
}

}  // namespace

std::vector<Sample> samples_now(const std::function<bool(pid_t process)>& is_watched) {
  std::vector<Sample> samples;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc()) continue;
    std::optional<Sample> sample = sample_of(process);
    if (!sample) continue;
    if (is_watched(process)) sample->waited_seconds = waited_by(process);
    samples.push_back(std::move(*sample));
  }
  return samples;
}

}  // namespace halcyon::cli
