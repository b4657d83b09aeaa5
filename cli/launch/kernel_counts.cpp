#include "cli/launch/kernel_counts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

double ticks_per_second() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

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
  sample.cpu_seconds = ticks / ticks_per_second();
  return sample;
}

double waited_by(pid_t process) {
  double seconds = 0.0;
  for (const auto& [thread, times] : times_of_threads("/proc", process)) seconds += times.waited;
  return seconds;
}

}  // namespace

std::vector<pid_t> processes_now() {
  std::vector<pid_t> processes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec == std::errc()) {
      processes.push_back(process);
    }
  }
  return processes;
}

std::vector<Sample> samples_now(const std::function<bool(pid_t process)>& is_watched) {
  std::vector<Sample> samples;
  for (const pid_t process : processes_now()) {
    std::optional<Sample> sample = sample_of(process);
    if (!sample) continue;
    if (is_watched(process)) sample->waited_seconds = waited_by(process);
    samples.push_back(std::move(*sample));
  }
  return samples;
}

std::vector<fs::path> threads_in(const std::string& proc, pid_t process) {
  std::vector<fs::path> threads;
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator(fmt::format("{}/{}/task", proc, process), gone)) {
    threads.push_back(thread.path());
  }
  return threads;
}

std::map<std::string, ThreadTimes> times_of_threads(const std::string& proc, pid_t process) {
  constexpr double per_nanosecond = 1e-9;
  std::map<std::string, ThreadTimes> times;
  for (const fs::path& thread : threads_in(proc, process)) {
    std::ifstream file(thread / "schedstat");
    double ran = 0.0;
    double waited = 0.0;
    if (file >> ran >> waited) times[thread.filename()] = {per_nanosecond * ran, per_nanosecond * waited};
  }
  return times;
}

std::map<int, CpuUse> use_of_cpus(const std::string& proc) {
  std::map<int, CpuUse> use;
  std::ifstream file(proc + "/stat");
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    if (line[3] == ' ') continue;  // all of them together
    std::istringstream words(line.substr(3));
    int cpu = 0;
    double user = 0.0;
    double nice = 0.0;
    double system = 0.0;
    double idle = 0.0;
    double waits_for_io = 0.0;
    double interrupts = 0.0;
    double soft_interrupts = 0.0;
    double stolen = 0.0;  // proc(5); what follows is in these already
    words >> cpu >> user >> nice >> system >> idle >> waits_for_io >> interrupts >> soft_interrupts >> stolen;
    if (!words) continue;
    use[cpu] = {.used = (user + nice + system + interrupts + soft_interrupts) / ticks_per_second(),
                .nice = nice / ticks_per_second(),
                .stolen = stolen / ticks_per_second()};
  }
  return use;
}

}  // namespace halcyon::cli
