#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "cli/disturbers/kinds.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t least_bytes = std::size_t{48} << 20;  // of a worker
constexpr std::size_t most_bytes = std::size_t{384} << 20;  // of all workers; larger arrays would not evict more
constexpr int cores_for_each_worker = 4;
constexpr int most_memory_workers = 8;
constexpr std::size_t arrays = 3;
constexpr std::size_t piece_elements = std::size_t{1} << 18;

// Three times the largest cache, so that nothing is still in it when it is read again, but at most a quarter of the
// free memory.
std::size_t bytes_of_worker() {
  const long cache = std::max({sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 0L});
  const auto free = static_cast<std::size_t>(std::max(0L, sysconf(_SC_AVPHYS_PAGES))) *
                    static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto workers = static_cast<std::size_t>(memory_workers());
  const std::size_t wanted = std::max(3 * static_cast<std::size_t>(cache), least_bytes);
  return std::min({wanted, most_bytes / workers, free / 4 / workers});
}

struct Arrays {
  explicit Arrays(std::size_t elements) : a(elements, 1.0), b(elements, 2.0), c(elements, 3.0) {}
  std::vector<double> a, b, c;
  std::size_t at = 0;
};

}  // namespace

int memory_workers() {
  cpu_set_t allowed;
  const int cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return std::clamp(cores / cores_for_each_worker, 1, most_memory_workers);
}

// The triad of STREAM (J. D. McCalpin, "Memory bandwidth and machine balance in current high performance computers",
// IEEE TCCA Newsletter, 1995).
Outcome<Piece> memory_work(const WorkerPlace&) {
  const std::size_t elements = bytes_of_worker() / arrays / sizeof(double) / piece_elements * piece_elements;
  if (elements == 0) return Failure{"there is not enough free memory for the arrays of the disturber"};
  const std::shared_ptr<Arrays> all = std::make_shared<Arrays>(elements);
  return Piece([all, elements]() -> Outcome<std::uint64_t> {
    double* const a = &all->a[all->at];
    const double* const b = &all->b[all->at];
    const double* const c = &all->c[all->at];
    for (std::size_t i = 0; i < piece_elements; ++i) a[i] = b[i] + 0.5 * c[i];
    asm volatile("" : : "r"(a) : "memory");  // keeps the compiler from removing the loop
    all->at = (all->at + piece_elements) % elements;
    return piece_elements * sizeof(double) * arrays;
  });
}

}  // namespace halcyon::cli
