// halcyon-write: the process that turns rank 0's frames into an HDF5 file. It is a separate process, so that HDF5 never
// enters the application: two versions of HDF5 in one process often crash.
//
// usage: halcyon-write PATH <frames   Prints "ok: PATH" or "error: reason" on standard output.
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "libprofile/format/profile_writer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::puts("error: usage: halcyon-write PATH <frames");
    return 2;
  }
  umask(umask(0) & (S_IRWXG | S_IRWXO));  // the program's umask may deny its owner the profile
  std::signal(SIGXFSZ, SIG_IGN);          // a limit on file sizes is reported as an error, and must not end the process
  // These signals ask all processes of a job to end. This one ends at the end of its input instead, so that it never
  // leaves half a file.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE}) std::signal(number, SIG_IGN);
  const halcyon::Outcome<std::string> path = halcyon::write_profile_from_frames(0, argv[1]);
  std::printf("%s\n", (path ? "ok: " + *path : "error: " + path.failure().message).c_str());
  return path ? 0 : 1;
}
