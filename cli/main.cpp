// halcyon: tells, from one run of an MPI program, how much of the run time came from outside the program.
#include <malloc.h>

#include <limits>

#include "cli/run_command_line.hpp"

int main(int argc, char** argv) {
  // Columns of large profiles are allocated and freed in turn. Memory that malloc keeps need not be cleared by the
  // kernel again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  return halcyon::cli::run_command_line(argc, argv);
}
