// Steps in regions of OpenMP, made into plugins by different compilers, without MPI.
#pragma once

// What the program does for them.
struct work {
  void (*part)(int thread, double share, int is_delayed);  // `share` of the usual work, by that thread of the team
  void (*end_step)(void);                                  // a collective of MPI
};

enum { threads = 2, pieces = 24 };

typedef void run_steps(const struct work* work, int steps, const char* is_delayed);
