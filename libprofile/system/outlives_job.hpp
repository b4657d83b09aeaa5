// What a process of ours that writes for a program does at its start.
#pragma once

#include <sys/stat.h>

#include <csignal>

namespace halcyon {

/// Signals that ask all processes of a job to end do not end this one: it ends with its work, so that it never leaves
/// half a file. Whatever the program has set, its owner may read what is written, and a limit on file sizes is an error
/// like any other.
inline void outlive_the_job() {
  umask(umask(0) & (S_IRWXG | S_IRWXO));
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ}) {
    std::signal(number, SIG_IGN);
  }
}

}  // namespace halcyon
