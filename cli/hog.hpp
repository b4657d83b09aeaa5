// A neighbour that burns CPU time in bursts on one core of this node: a disturbance that no injector makes.
#pragma once

#include <sys/types.h>

namespace halcyon::cli {

/// Burns as long as it lives; never outlives this process, however that ends.
class CpuHog {
 public:
  CpuHog();
  ~CpuHog();
  CpuHog(const CpuHog&) = delete;
  CpuHog& operator=(const CpuHog&) = delete;

  bool started() const { return child_ > 0; }

 private:
  pid_t child_;
};

}  // namespace halcyon::cli
