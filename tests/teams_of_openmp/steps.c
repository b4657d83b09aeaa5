#include "steps.h"

#include <omp.h>

// The second thread works twice as long. In every third step the first thread does.
void fixed(const struct work* work, int steps, const char* is_delayed) {
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num();
      work->part(thread, thread == (step % 3 != 0) ? 2.0 : 1.0, is_delayed[step] && thread == 1);
    }
    work->end_step();
  }
}

// Threads take pieces as they go, by three ways to say so.
static void piece(const struct work* work, int number, int is_delayed) {
  work->part(omp_get_thread_num(), 2.0 / pieces, is_delayed && number == pieces / 2);
}
void shared(const struct work* work, int steps, const char* is_delayed) {
  for (int step = 0; step < steps; ++step) {
    if (step % 3 == 0) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
      for (int i = 0; i < pieces; ++i) piece(work, i, is_delayed[step]);
    } else if (step % 3 == 1) {
#pragma omp parallel num_threads(threads)
      {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < pieces; ++i) piece(work, i, is_delayed[step]);
      }
    } else {
#pragma omp parallel for num_threads(threads) schedule(guided)
      for (unsigned long long i = 0; i < pieces; ++i) piece(work, (int)i, is_delayed[step]);
    }
    work->end_step();
  }
}

// Two sections, one of which is longer.
void uneven_pieces(const struct work* work, int steps, const char* is_delayed) {
  (void)is_delayed;
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel sections num_threads(threads)
    {
#pragma omp section
      work->part(omp_get_thread_num(), 1.0 + step % 3, 0);
#pragma omp section
      work->part(omp_get_thread_num(), 1.0, 0);
    }
    work->end_step();
  }
}

// The first thread spins until the second has done its part.
void spinning(const struct work* work, int steps, const char* is_delayed) {
  static volatile int done;
  for (int step = 0; step < steps; ++step) {
    done = 0;
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num();
      work->part(thread, 1.0, is_delayed[step] && thread == 1);
      if (thread == 1) done = 1;
      while (!done) {
      }
    }
    work->end_step();
  }
}

// Threads wait for each other within the region, in all ways there are.
void waiting(const struct work* work, int steps, const char* is_delayed) {
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num();
      work->part(thread, 0.5, is_delayed[step] && thread == 1);
#pragma omp barrier
      work->part(thread, 0.5, 0);
#pragma omp critical
      work->part(thread, 0.25, is_delayed[step] && thread == 0);
#pragma omp for schedule(static)
      for (int i = 0; i < threads; ++i) work->part(thread, 0.5, 0);
#pragma omp sections
      {
#pragma omp section
        work->part(omp_get_thread_num(), 0.25, 0);
#pragma omp section
        work->part(omp_get_thread_num(), 0.25, 0);
      }
    }
    work->end_step();
  }
}

// Threads run tasks while they wait.
void tasks(const struct work* work, int steps, const char* is_delayed) {
  (void)is_delayed;
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < pieces; ++i) {
#pragma omp task
      work->part(omp_get_thread_num(), 2.0 / pieces, 0);
    }
    work->end_step();
  }
}

// Regions of one thread in regions.
void nested(const struct work* work, int steps, const char* is_delayed) {
  omp_set_max_active_levels(2);
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num();
      work->part(thread, 1.0, is_delayed[step] && thread == 1);
#pragma omp parallel num_threads(1)
      work->part(thread, 0.25, 0);
    }
    work->end_step();
  }
}

// One region around all steps; its first thread calls MPI.
void around(const struct work* work, int steps, const char* is_delayed) {
#pragma omp parallel num_threads(threads)
  for (int step = 0; step < steps; ++step) {
    const int thread = omp_get_thread_num();
    work->part(thread, thread == 1 ? 1.0 + step % 3 : 1.0, is_delayed[step] && thread == 1);
#pragma omp barrier
#pragma omp master
    work->end_step();
#pragma omp barrier
  }
}
