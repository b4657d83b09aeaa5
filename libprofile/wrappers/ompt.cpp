#include "libprofile/wrappers/ompt.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "libprofile/interpose/next.hpp"
#include "libprofile/record/team.hpp"

namespace {

using namespace halcyon;  // NOLINT(google-build-using-namespace): the wrappers' own file

// What is used of OMPT, without its header; tests/teams_of_openmp compares it with LLVM's.
union Data {
  std::uint64_t value;
  void* pointer;
};
using AnyFunction = void (*)();
using Lookup = AnyFunction (*)(const char* name);
struct StartToolResult {
  int (*initialize)(Lookup lookup, int device, Data* tool);
  void (*finalize)(Data* tool);
  Data tool;
};
enum Event {
  parallel_begin = 3,
  parallel_end = 4,
  task_create = 5,
  implicit_task = 7,
  sync_region_wait = 16,
  mutex_acquire = 26,
  mutex_acquired = 27
};
enum Endpoint { begins = 1, ends = 2 };
constexpr int flag_initial_task = 1;

std::atomic<bool> is_active{false};

// For a region within another one, the data of its parallel region tell that one, with the lowest bit set.
constexpr std::uint64_t is_within = 1;
Region* region_of(const Data& data) {
  return (data.value & is_within) == 0 ? static_cast<Region*>(data.pointer) : nullptr;
}
Region* region_around(Data data) {
  if ((data.value & is_within) == 0) return nullptr;
  data.value -= is_within;
  return static_cast<Region*>(data.pointer);
}

void at_parallel_begin(Data*, const void*, Data* region, unsigned, int, const void*) {
  Region* const around = region_of_this_thread();
  region->pointer = region_begins(__builtin_frame_address(0));
  if (region->pointer != nullptr || around == nullptr) return;
  region->pointer = around;
  region->value |= is_within;
  team_wait_begins();
}
void at_parallel_end(Data* region, Data*, int, const void* site) {
  if (Region* const begun = region_of(*region); begun != nullptr) region_ends(*begun, site);
}
void at_implicit_task(int endpoint, Data* region, Data* task, unsigned, unsigned number, int flags) {
  if ((flags & flag_initial_task) != 0) return;
  if (endpoint != begins) {
    if (task->pointer != nullptr) part_ends_after_wait();
    return;
  }
  task->pointer = region != nullptr ? region_of(*region) : nullptr;
  if (task->pointer != nullptr) {
    part_begins(*static_cast<Region*>(task->pointer), number);
  } else if (Region* const around = region != nullptr ? region_around(*region) : nullptr; around != nullptr) {
    if (region_of_this_thread() == nullptr) around->make_blind();
    team_wait_ends();
  }
}
void at_sync_region_wait(int, int endpoint, Data*, Data*, const void*) {
  if (endpoint == begins) {
    team_wait_begins();
  } else if (endpoint == ends) {
    team_wait_ends();
  }
}
void at_mutex_acquire(int, unsigned, unsigned, std::uint64_t, const void*) { team_wait_begins(); }
void at_mutex_acquired(int, std::uint64_t, const void*) { team_wait_ends(); }
void at_task_create(Data*, const void*, Data*, int flags, int, const void*) {
  constexpr int flag_explicit = 4;
  Region* const region = (flags & flag_explicit) != 0 ? region_of_this_thread() : nullptr;
  if (region != nullptr) region->make_blind();
}

template <class Function>
AnyFunction as_any(Function* function) {
  return reinterpret_cast<AnyFunction>(function);
}

int initialize(Lookup lookup, int, Data*) {
  const auto set = reinterpret_cast<int (*)(int, AnyFunction)>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  constexpr int always = 5;  // ompt_set_always
  const bool tells_all = set(parallel_begin, as_any(&at_parallel_begin)) == always &&
                         set(parallel_end, as_any(&at_parallel_end)) == always &&
                         set(implicit_task, as_any(&at_implicit_task)) == always &&
                         set(sync_region_wait, as_any(&at_sync_region_wait)) == always &&
                         set(mutex_acquire, as_any(&at_mutex_acquire)) == always &&
                         set(mutex_acquired, as_any(&at_mutex_acquired)) == always &&
                         set(task_create, as_any(&at_task_create)) == always;
  is_active.store(tells_all, std::memory_order_relaxed);
  return tells_all ? 1 : 0;
}
void finalize(Data*) { is_active.store(false, std::memory_order_relaxed); }

constinit StartToolResult recorder_as_tool{&initialize, &finalize, {}};

}  // namespace

bool halcyon::ompt_is_active() noexcept { return is_active.load(std::memory_order_relaxed); }

// A runtime has but one tool: that of the program or the user comes first.
extern "C" HALCYON_EXPORT void* ompt_start_tool(unsigned version, const char* runtime);
void* ompt_start_tool(unsigned version, const char* runtime) {
  const char* libraries = std::getenv("OMP_TOOL_LIBRARIES");
  if (libraries != nullptr && *libraries != '\0') return nullptr;
  using StartTool = void* (*)(unsigned, const char*);
  const auto next = reinterpret_cast<StartTool>(find_symbol(RTLD_NEXT, "ompt_start_tool"));
  void* const other = next != nullptr ? next(version, runtime) : nullptr;
  return other != nullptr ? other : &recorder_as_tool;
}

// Threads take the next piece of a loop as they go. LLVM's runtime does not tell which loops are such.
#define HALCYON_BEGINS_LOOP(name, number)                                                                           \
  extern "C" HALCYON_EXPORT void name(void* place, int thread, int schedule, number begin, number end, number step, \
                                      number chunk);                                                                \
  void name(void* place, int thread, int schedule, number begin, number end, number step, number chunk) {           \
    static constinit NextByCaller next;                                                                             \
    if (Region* const region = region_of_this_thread(); region != nullptr) region->share_out();                     \
    if (void* const found = next.of(#name, __builtin_return_address(0)); found != nullptr) {                        \
      reinterpret_cast<decltype(&name)>(found)(place, thread, schedule, begin, end, step, chunk);                   \
    }                                                                                                               \
  }
HALCYON_BEGINS_LOOP(__kmpc_dispatch_init_4, std::int32_t)
HALCYON_BEGINS_LOOP(__kmpc_dispatch_init_4u, std::uint32_t)
HALCYON_BEGINS_LOOP(__kmpc_dispatch_init_8, std::int64_t)
HALCYON_BEGINS_LOOP(__kmpc_dispatch_init_8u, std::uint64_t)
