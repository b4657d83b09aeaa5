// halcyon-write: the process that turns rank 0's frames into an HDF5 file. It is a separate process, so that HDF5 never
// enters the application: two versions of HDF5 in one process often crash.
//
// usage: halcyon-write PATH [SPOOL] <frames   Prints "ok: PATH" or "error: reason" on standard output.
//
// With SPOOL, the ledger of the site gets a row of the run by way of it, for which the command judges the profile.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "libprofile/format/profile_writer.hpp"
#include "libprofile/system/into_ledger.hpp"
#include "libprofile/system/let_go.hpp"
#include "libprofile/system/outlives_job.hpp"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::puts("error: usage: halcyon-write PATH [SPOOL] <frames");
    return 2;
  }
  halcyon::outlive_the_job();
  // The launcher may wait for the end of all that the program has left to this process, and to those that it starts.
  if (argc > 2) halcyon::close_all_but_streams();
  const halcyon::Outcome<std::string> path = halcyon::write_profile_from_frames(STDIN_FILENO, argv[1]);
  if (path && argc > 2) halcyon::put_into_ledger(*path, argv[2], true);
  std::printf("%s\n", (path ? "ok: " + *path : "error: " + path.failure().message).c_str());
  return path ? 0 : 1;
}
