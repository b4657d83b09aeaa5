// A stand-in for the libraries of CUDA (runtime and driver) and HIP: the same symbols, and a device that is a clock. A
// work item or a byte keeps it busy for as long as `occupies` says. Waiting for it sleeps or spins.
#include "stand_in.h"

#include <stdint.h>
#include <time.h>

static long long busy_until;  // ns
static double ns_per_unit;
static int spins;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static int give(uint64_t units) {
  const long long begin = now() > busy_until ? now() : busy_until;
  busy_until = begin + (long long)(ns_per_unit * (double)units);
  return 0;
}
static int wait_for_it(void) {
  while (now() < busy_until) {
    const struct timespec until = {busy_until / 1000000000LL, busy_until % 1000000000LL};
    if (!spins) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  }
  return 0;
}
// As long as with a real device, which is asked by way of a driver.
static int ask(void) {
  const long long begin = now();
  while (now() < begin + 2000) {
  }
  return now() < busy_until ? 600 : 0;  // "not ready"
}

void stand_in_occupies(double ns_of_unit, int waits_spin) {
  ns_per_unit = ns_of_unit;
  spins = waits_spin;
}

int cudaLaunchKernel(const void* function, struct dimensions grid, struct dimensions block, void** arguments,
                     size_t shared, void* stream) {
  (void)function, (void)arguments, (void)shared, (void)stream;
  return give((uint64_t)grid.x * grid.y * grid.z * block.x * block.y * block.z);
}
int cudaMemcpy(void* to, const void* from, size_t size, int direction) {
  (void)to, (void)from, (void)direction;
  give(size);
  return wait_for_it();
}
int cudaMemcpyAsync(void* to, const void* from, size_t size, int direction, void* stream) {
  (void)to, (void)from, (void)direction, (void)stream;
  return give(size);
}
int cudaDeviceSynchronize(void) { return wait_for_it(); }
int cudaStreamQuery(void* stream) {
  (void)stream;
  return ask();
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments, void** extra) {
  (void)function, (void)shared, (void)stream, (void)arguments, (void)extra;
  return give((uint64_t)grid_x * grid_y * grid_z * block_x * block_y * block_z);
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t size) {
  (void)to, (void)from;
  give(size);
  return wait_for_it();
}
int cuCtxSynchronize(void) { return wait_for_it(); }
int hipLaunchKernel(const void* function, struct dimensions grid, struct dimensions block, void** arguments,
                    size_t shared, void* stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}
int hipMemcpy(void* to, const void* from, size_t size, int direction) { return cudaMemcpy(to, from, size, direction); }
int hipStreamSynchronize(void* stream) {
  (void)stream;
  return wait_for_it();
}
