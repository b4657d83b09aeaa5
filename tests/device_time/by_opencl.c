// A plugin that does steps by OpenCL, on the first device of any platform.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "kernels.h"

static const char* const source =
    "kernel void turns(global float* x, int times) {"
    "  float y = x[0]; for (int i = 0; i < times; ++i) y = y * 0.99f + 0.1f; x[get_global_id(0) % 8] = y; }";
static cl_command_queue queue;
static cl_kernel kernel;
static cl_mem buffer;
static char data[1 << 16];
int times_round_loop = 20000;

static cl_int prepare(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int error = clGetPlatformIDs(1, &platform, NULL);
  if (error == 0) error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  if (error != 0) return error;
  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  queue = clCreateCommandQueue(context, device, 0, &error);
  buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, &error);
  const cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &error);
  if (error == 0) error = clBuildProgram(program, 1, &device, "", NULL, NULL);
  if (error == 0) kernel = clCreateKernel(program, "turns", &error);
  return error != 0 ? error : clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
}

static cl_int start(struct steps_on_device what, cl_event* done) {
  if (kernel == NULL && prepare() != 0) return 1;
  const size_t items = what.items;
  cl_int error = clSetKernelArg(kernel, 1, sizeof times_round_loop, &times_round_loop);
  error |= clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, what.bytes, data, 0, NULL, NULL);
  error |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, done);
  return error;
}

int by_finish(struct steps_on_device what) {
  const cl_int error = start(what, NULL);
  return error | clFinish(queue);
}

int by_event(struct steps_on_device what) {
  cl_event done;
  cl_int error = start(what, &done);
  cl_int status = CL_QUEUED;
  clFlush(queue);
  while (error == 0 && status > CL_COMPLETE) {
    error = clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
  }
  return error | clReleaseEvent(done);
}
