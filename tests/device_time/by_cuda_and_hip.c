// A plugin that does steps by each API of the stand-in.
#include "kernels.h"
#include "stand_in.h"

static char data[1];

static int launched_by_runtime(struct steps_on_device what, int error) {
  stand_in_occupies(1000.0, 1);
  const struct dimensions grid = {(unsigned)what.items / 4, 1, 1}, block = {2, 2, 1};
  error |= cudaMemcpyAsync(data, data, what.bytes, 1, NULL);
  return error | cudaLaunchKernel(data, grid, block, NULL, 0, NULL);
}

int by_runtime(struct steps_on_device what) { return launched_by_runtime(what, 0) | cudaDeviceSynchronize(); }

int by_polls(struct steps_on_device what) {
  const int error = launched_by_runtime(what, 0);
  while (cudaStreamQuery(NULL) != 0) {
  }
  return error;
}

int by_driver(struct steps_on_device what) {
  stand_in_occupies(1000.0, 0);
  int error = cuMemcpyHtoD_v2(0, data, what.bytes);
  error |= cuLaunchKernel(data, (unsigned)what.items / 4, 1, 1, 2, 2, 1, 0, NULL, NULL, NULL);
  return error | cuCtxSynchronize();
}

int by_hip(struct steps_on_device what) {
  stand_in_occupies(1000.0, 0);
  const struct dimensions grid = {(unsigned)what.items / 4, 1, 1}, block = {2, 2, 1};
  int error = hipMemcpy(data, data, what.bytes, 1);
  error |= hipLaunchKernel(data, grid, block, NULL, 0, NULL);
  return error | hipStreamSynchronize(NULL);
}
