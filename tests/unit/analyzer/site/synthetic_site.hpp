// Small sites whose truth is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "analyzer/site/site_run.hpp"

namespace halcyon {

struct SyntheticSite {
  unsigned seed = 1;
  std::uint32_t works = 8;
  std::uint32_t hosts = 16;
  std::size_t hosts_a_run = 4;
  double days = 100.0;
  double runs_a_day = 1.0;  // of a work
  double jitter = 0.01;
  std::function<double(std::uint32_t host, double day)> slowness = [](std::uint32_t, double) { return 0.0; };
  std::function<double(std::uint32_t work, double day)> need = [](std::uint32_t, double) { return 0.0; };
  /// Hosts from which a work's are drawn: the first one and how many.
  std::function<std::pair<std::uint32_t, std::uint32_t>(std::uint32_t work)> pool;
};

/// By work, each along the calendar.
inline std::vector<SiteRun> runs_of(const SyntheticSite& site) {
  std::mt19937_64 random(site.seed);
  std::normal_distribution<> jitter(0.0, site.jitter);
  std::exponential_distribution<> pause(site.runs_a_day);
  std::vector<SiteRun> runs;
  for (std::uint32_t work = 0; work < site.works; ++work) {
    const auto [first, count] = site.pool ? site.pool(work) : std::pair<std::uint32_t, std::uint32_t>(0, site.hosts);
    std::vector<std::uint32_t> hosts;
    for (std::uint32_t host = 0; host < count; ++host) hosts.push_back(first + host);
    for (double day = pause(random); day < site.days; day += pause(random)) {
      std::ranges::shuffle(hosts, random);
      SiteRun& run = runs.emplace_back();
      run.work = work;
      run.day = day;
      run.log_error = 0.002;
      run.hosts.assign(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(site.hosts_a_run));
      double slowest = site.slowness(run.hosts.front(), day);
      for (const std::uint32_t host : run.hosts) slowest = std::max(slowest, site.slowness(host, day));
      run.log_seconds = 3.0 + 0.5 * work + site.need(work, day) + slowest + jitter(random);
    }
  }
  return runs;
}

}  // namespace halcyon
