// halcyon: tells, from one run of an MPI program, how much of the run time came from outside the program.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <limits>

#include "cli/run_command_line.hpp"

namespace {

// A standard stream that is closed must not become a file or a pipe of ours. Reading and writing what takes its place
// fails as before, and programs that we start have it closed again.
void keep_closed_streams_apart() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/", O_PATH | O_CLOEXEC);
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_closed_streams_apart();
  // Columns of large profiles are allocated and freed in turn. Memory that malloc keeps need not be cleared by the
  // kernel again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  return halcyon::cli::run_command_line(argc, argv);
}
