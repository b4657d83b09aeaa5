#include "intm/injector.hpp"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "intm/draws.hpp"
#include "intm/spec.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/interpose/open_files.hpp"
#include "libprofile/system/environment.hpp"
#include "libprofile/system/launcher.hpp"
#include "libprofile/system/legible.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace halcyon {

constinit thread_local OutermostCall outermost_call __attribute__((tls_model("initial-exec")));

namespace {

constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000u;
// Sleeping ends some tens of microseconds late, so the end of a delay is spent in a loop.
constexpr std::uint64_t spun_nanoseconds = 150'000;

struct Injector {
  std::vector<InjectionSpec> specs;  // only those for this rank
  std::vector<DrawKey> keys;
  std::unique_ptr<std::atomic<std::uint64_t>[]> events;  // calls counted, per SPEC
  std::string text;
  std::uint64_t started = 0;
  pid_t process = 0;  // the one that called MPI_Init; its children share or copy this state
  std::atomic<std::uint64_t> requested{0};
  std::atomic<std::uint64_t> actual{0};
};

Injector* injector = nullptr;  // set once and never freed: other threads may be using it
std::atomic<bool> injecting{false};

std::uint64_t now() { return nanoseconds_of(CLOCK_MONOTONIC); }

void wait_until(std::uint64_t deadline) {
  if (const std::uint64_t at = now(); deadline > at + spun_nanoseconds) {
    const std::uint64_t wake = deadline - spun_nanoseconds;
    const timespec time{static_cast<time_t>(wake / nanoseconds_per_second),
                        static_cast<long>(wake % nanoseconds_per_second)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
    }
  }
  while (now() < deadline) {
  }
}

unsigned class_bit(CallClass call_class) {
  switch (call_class) {
    case CallClass::p2p:
    case CallClass::rma: return inject_p2p;
    case CallClass::collective: return inject_collective;
    case CallClass::mpiio: return inject_mpiio;
    case CallClass::posixio: return inject_posixio;
    case CallClass::management:
    case CallClass::device:
    case CallClass::poll:
    case CallClass::local: break;
  }
  return 0;
}

void say(const std::string& message) {
  const std::string line = "intm: " + legible(message) + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void begin_injection() noexcept try {
  const char* text = setting("INTM_SPEC");
  if (injector != nullptr || text == nullptr) return;
  if (const std::string why_not = mpi.load("libintm"); !why_not.empty()) {
    if (!launcher::is_spokesman()) return;
    return say("nothing is injected: " + why_not);
  }
  int rank = 0;
  mpi.Comm_rank(mpi.comm_world, &rank);
  const Outcome<std::vector<InjectionSpec>> specs = parse_specs(text);
  if (!specs) {
    if (rank == 0) say(specs.failure().message + "; nothing is injected");
    return;
  }
  const char* seed_text = setting("INTM_SEED");
  char* end = nullptr;
  const std::uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, &end, 10) : now();
  if (seed_text != nullptr && (*seed_text < '0' || *seed_text > '9' || *end != '\0')) {
    if (rank == 0) say(std::string("INTM_SEED=") + seed_text + " is not a whole number; nothing is injected");
    return;
  }

  auto* made = new Injector;
  made->text = text;
  if (seed_text != nullptr) made->text += std::string(" seed=") + seed_text;
  for (std::size_t i = 0; i < specs->size(); ++i) {
    if (!(*specs)[i].concerns(rank)) continue;
    made->specs.push_back((*specs)[i]);
    made->keys.push_back({seed, static_cast<std::uint64_t>(rank), i});
  }
  made->events = std::make_unique<std::atomic<std::uint64_t>[]>(made->specs.size());
  made->started = now();
  made->process = getpid();
  injector = made;
  open_files.begin();
  injecting.store(true, std::memory_order_release);
} catch (const std::exception& error) {
  say(std::string("nothing is injected: ") + error.what());
}

void end_injection() noexcept { injecting.store(false); }

bool is_injecting() noexcept { return injecting.load(std::memory_order_acquire); }

void inject(CallClass call_class) noexcept {
  if (!is_injecting()) return;
  const unsigned bit = class_bit(call_class);
  if (bit == 0 || (bit == inject_posixio && getpid() != injector->process)) return;
  const int saved_errno = errno;
  double delay = 0.0;
  std::uint64_t began = 0;
  for (std::size_t i = 0; i < injector->specs.size(); ++i) {
    const InjectionSpec& spec = injector->specs[i];
    if ((spec.classes & bit) == 0) continue;
    const std::uint64_t event = injector->events[i].fetch_add(1, std::memory_order_relaxed);
    if (uniform(injector->keys[i], event, 0) >= spec.probability) continue;
    if (began == 0) began = now();
    if (spec.active_at(began - injector->started))
      delay += normal_delay(injector->keys[i], event, spec.mean, spec.deviation);
  }
  if (delay >= 1.0) {
    const auto nanoseconds = static_cast<std::uint64_t>(delay);
    wait_until(began + nanoseconds);
    injector->requested.fetch_add(nanoseconds, std::memory_order_relaxed);
    injector->actual.fetch_add(now() - began, std::memory_order_relaxed);
  }
  errno = saved_errno;
}

}  // namespace halcyon

// The recorder calls these at every boundary.
extern "C" {

HALCYON_EXPORT void intm_injected_totals(std::uint64_t* requested, std::uint64_t* actual) {
  const halcyon::Injector* injector = halcyon::injector;
  *requested = injector != nullptr ? injector->requested.load(std::memory_order_relaxed) : 0;
  *actual = injector != nullptr ? injector->actual.load(std::memory_order_relaxed) : 0;
}

HALCYON_EXPORT const char* intm_spec() { return halcyon::injector != nullptr ? halcyon::injector->text.c_str() : ""; }
}
