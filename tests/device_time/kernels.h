// Steps on a device, by the library that the plugin was built for.
#pragma once

struct steps_on_device {
  unsigned long long items, bytes;  // of each step
};
/// One step: data go there, a kernel runs, and it is waited for. Returns 0 if every call succeeded.
typedef int run_step(struct steps_on_device what);
