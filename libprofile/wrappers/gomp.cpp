// GCC's OpenMP: the functions of libgomp that programs call, in front of which the recorder stands. LLVM's runtime has
// them, too, for programs that GCC has compiled.
//
// A region's body is given to the runtime within a function of ours, so that it is known on each thread of the team
// when that works. Where one of these functions makes a thread wait for others, it does not work.
#include <atomic>
#include <cstddef>

#include "libprofile/interpose/next.hpp"
#include "libprofile/record/team.hpp"
#include "libprofile/wrappers/ompt.hpp"

namespace {

using namespace halcyon;  // NOLINT(google-build-using-namespace): the wrappers' own file

using Body = void (*)(void*);

// The function of libgomp that a caller would have reached without us.
template <class Function>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}
  Function* of(const void* site) { return reinterpret_cast<Function*>(found_.of(name_, site)); }

 private:
  const char* name_;
  NextByCaller found_;
};

constinit Next<int()> thread_number{"omp_get_thread_num"};

// A region and what its threads are to do. In a region within another one, only the thread that has begun it works for
// that one.
struct Work {
  Region* region;  // null for one within another
  Region* around;  // that other one
  Body body;
  void* data;
  int (*thread_number)();

  static void run(void* argument) {
    const Work work = *static_cast<Work*>(argument);  // it is gone when the region ends
    if (work.region == nullptr) {
      if (region_of_this_thread() == nullptr) work.around->make_blind();
      team_wait_ends();
      work.body(work.data);
      team_wait_begins();
      return;
    }
    part_begins(*work.region, work.thread_number != nullptr ? static_cast<std::size_t>(work.thread_number()) : 0);
    work.body(work.data);
    part_ends();
  }
};

struct Waiting {
  Waiting() { team_wait_begins(); }
  ~Waiting() { team_wait_ends(); }
};

// A region whose threads run `body(data)`: `next` begins it. Without a runtime, this thread does it all.
template <class Function, class... Rest>
auto run_region(bool is_shared_out, const void* site, const void* frame, Function* next, Body body, void* data,
                Rest... rest) {
  using Result = decltype(next(body, data, rest...));
  if (next == nullptr) {
    body(data);
    return Result();
  }
  if (is_shared_out) share_out_next_region();
  if (ompt_is_active()) return next(body, data, rest...);
  Region* const region = region_begins(frame);
  Region* const around = region == nullptr ? region_of_this_thread() : nullptr;
  if (around != nullptr) {
    const Waiting for_team;
    Work within{nullptr, around, body, data, nullptr};
    return next(&Work::run, &within, rest...);
  }
  if (region == nullptr) return next(body, data, rest...);
  Work work{region, nullptr, body, data, thread_number.of(site)};
  struct End {
    Region& region;
    const void* site;
    ~End() { region_ends(region, site); }
  } const end{*region, site};
  return next(&Work::run, &work, rest...);
}

template <class Function, class... Arguments>
auto pass_on(Function* next, Arguments... arguments) {
  return next != nullptr ? next(arguments...) : decltype(next(arguments...))();
}

void shares_out() {
  if (Region* const region = region_of_this_thread(); region != nullptr) region->share_out();
}
void makes_blind() {
  if (Region* const region = region_of_this_thread(); region != nullptr) region->make_blind();
}

}  // namespace

// The address of the caller, and one on its stack.
#define HALCYON_SITE __builtin_return_address(0)
#define HALCYON_FRAME __builtin_dwarf_cfa()

// Functions that run a region. `parameters` and `arguments`: all after the body and its data.
#define HALCYON_RUNS_REGION(result, name, is_shared_out, parameters, ...)                                   \
  static constinit Next<result(Body, void*, HALCYON_LIST parameters)> next_##name{#name};                   \
  extern "C" HALCYON_EXPORT result name(Body body, void* data, HALCYON_LIST parameters);                    \
  result name(Body body, void* data, HALCYON_LIST parameters) {                                             \
    return run_region(is_shared_out, HALCYON_SITE, HALCYON_FRAME, next_##name.of(HALCYON_SITE), body, data, \
                      __VA_ARGS__);                                                                         \
  }
#define HALCYON_LIST(...) __VA_ARGS__

HALCYON_RUNS_REGION(void, GOMP_parallel, false, (unsigned threads, unsigned flags), threads, flags)
HALCYON_RUNS_REGION(unsigned, GOMP_parallel_reductions, false, (unsigned threads, unsigned flags), threads, flags)
HALCYON_RUNS_REGION(void, GOMP_parallel_sections, true, (unsigned threads, unsigned count, unsigned flags), threads,
                    count, flags)
#define HALCYON_RUNS_LOOP(name, is_shared_out)                                                                         \
  HALCYON_RUNS_REGION(void, GOMP_parallel_loop_##name, is_shared_out,                                                  \
                      (unsigned threads, long begin, long end, long step, long chunk, unsigned flags), threads, begin, \
                      end, step, chunk, flags)
#define HALCYON_RUNS_LOOP_OF_RUNTIME(name)                                                                            \
  HALCYON_RUNS_REGION(void, GOMP_parallel_loop_##name, true,                                                          \
                      (unsigned threads, long begin, long end, long step, unsigned flags), threads, begin, end, step, \
                      flags)
HALCYON_RUNS_LOOP(static, false)
HALCYON_RUNS_LOOP(dynamic, true)
HALCYON_RUNS_LOOP(guided, true)
HALCYON_RUNS_LOOP(nonmonotonic_dynamic, true)
HALCYON_RUNS_LOOP(nonmonotonic_guided, true)
HALCYON_RUNS_LOOP_OF_RUNTIME(runtime)
HALCYON_RUNS_LOOP_OF_RUNTIME(nonmonotonic_runtime)
HALCYON_RUNS_LOOP_OF_RUNTIME(maybe_nonmonotonic_runtime)

// Functions in which a thread waits for others of its team.
#define HALCYON_WAITS(result, name, parameters, ...)                         \
  static constinit Next<result parameters> next_##name{#name};               \
  extern "C" HALCYON_EXPORT result name parameters;                          \
  result name parameters {                                                   \
    const Waiting waiting;                                                   \
    return pass_on(next_##name.of(HALCYON_SITE) __VA_OPT__(, ) __VA_ARGS__); \
  }
HALCYON_WAITS(void, GOMP_barrier, ())
HALCYON_WAITS(bool, GOMP_barrier_cancel, ())
HALCYON_WAITS(void, GOMP_loop_end, ())
HALCYON_WAITS(bool, GOMP_loop_end_cancel, ())
HALCYON_WAITS(void, GOMP_sections_end, ())
HALCYON_WAITS(bool, GOMP_sections_end_cancel, ())
HALCYON_WAITS(void*, GOMP_single_copy_start, ())
HALCYON_WAITS(void, GOMP_critical_start, ())
HALCYON_WAITS(void, GOMP_critical_name_start, (void** lock), lock)
HALCYON_WAITS(void, GOMP_ordered_start, ())
HALCYON_WAITS(void, omp_set_lock, (void* lock), lock)
HALCYON_WAITS(void, omp_set_nest_lock, (void* lock), lock)
HALCYON_WAITS(void, omp_set_lock_, (void* lock), lock)  // of Fortran
HALCYON_WAITS(void, omp_set_nest_lock_, (void* lock), lock)
HALCYON_WAITS(void, GOMP_taskwait, ())
HALCYON_WAITS(void, GOMP_taskgroup_end, ())

// Functions by which threads take the next piece of a loop, or of a list of sections.
#define HALCYON_SHARES_OUT(result, name, parameters, ...)                    \
  static constinit Next<result parameters> next_##name{#name};               \
  extern "C" HALCYON_EXPORT result name parameters;                          \
  result name parameters {                                                   \
    shares_out();                                                            \
    return pass_on(next_##name.of(HALCYON_SITE) __VA_OPT__(, ) __VA_ARGS__); \
  }
#define HALCYON_TAKES_PIECES(name)                                                                                   \
  HALCYON_SHARES_OUT(bool, GOMP_loop_##name##_next, (long* begin, long* end), begin, end)                            \
  HALCYON_SHARES_OUT(bool, GOMP_loop_ull_##name##_next, (unsigned long long* begin, unsigned long long* end), begin, \
                     end)
HALCYON_TAKES_PIECES(dynamic)
HALCYON_TAKES_PIECES(guided)
HALCYON_TAKES_PIECES(runtime)
HALCYON_TAKES_PIECES(nonmonotonic_dynamic)
HALCYON_TAKES_PIECES(nonmonotonic_guided)
HALCYON_TAKES_PIECES(nonmonotonic_runtime)
HALCYON_TAKES_PIECES(maybe_nonmonotonic_runtime)
HALCYON_SHARES_OUT(unsigned, GOMP_sections_next, ())

// Functions that make tasks. What an older libgomp does not know of the arguments, it does not read.
#define HALCYON_MAKES_TASKS(name, parameters, ...)           \
  static constinit Next<void parameters> next_##name{#name}; \
  extern "C" HALCYON_EXPORT void name parameters;            \
  void name parameters {                                     \
    makes_blind();                                           \
    pass_on(next_##name.of(HALCYON_SITE), __VA_ARGS__);      \
  }
HALCYON_MAKES_TASKS(GOMP_task,
                    (Body body, void* data, void (*copy)(void*, void*), long size, long alignment, bool is_deferred,
                     unsigned flags, void** depends, int priority, void* detach),
                    body, data, copy, size, alignment, is_deferred, flags, depends, priority, detach)
HALCYON_MAKES_TASKS(GOMP_taskloop,
                    (Body body, void* data, void (*copy)(void*, void*), long size, long alignment, unsigned flags,
                     unsigned long tasks, int priority, long begin, long end, long step),
                    body, data, copy, size, alignment, flags, tasks, priority, begin, end, step)
HALCYON_MAKES_TASKS(GOMP_taskloop_ull,
                    (Body body, void* data, void (*copy)(void*, void*), long size, long alignment, unsigned flags,
                     unsigned long tasks, int priority, unsigned long long begin, unsigned long long end,
                     unsigned long long step),
                    body, data, copy, size, alignment, flags, tasks, priority, begin, end, step)
