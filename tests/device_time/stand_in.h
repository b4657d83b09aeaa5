// The functions of stand_in.c: those of CUDA and HIP that the tests' programs call, as their headers declare them.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dimensions {  // dim3
  unsigned x, y, z;
};

/// Each work item and each byte keep the device busy for so long. `waits_spin`: waits use the CPU.
void stand_in_occupies(double ns_of_unit, int waits_spin);

int cudaLaunchKernel(const void* function, struct dimensions grid, struct dimensions block, void** arguments,
                     size_t shared, void* stream);
int cudaMemcpy(void* to, const void* from, size_t size, int direction);
int cudaMemcpyAsync(void* to, const void* from, size_t size, int direction, void* stream);
int cudaDeviceSynchronize(void);
int cudaStreamQuery(void* stream);
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments, void** extra);
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t size);
int cuCtxSynchronize(void);
int hipLaunchKernel(const void* function, struct dimensions grid, struct dimensions block, void** arguments,
                    size_t shared, void* stream);
int hipMemcpy(void* to, const void* from, size_t size, int direction);
int hipStreamSynchronize(void* stream);

#ifdef __cplusplus
}
#endif
