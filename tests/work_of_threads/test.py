"""The work of a segment is what its threads did, whichever of them was delayed: not the spinning of one that waits.

The program keeps its own account of each step. Work is CPU time, so these tests hold on a busy machine.
"""
import statistics

import halcyon_test
from halcyon_test import MPI, PROGRAMS, Profile

RANKS = 2
# Open MPI binds each of two ranks to a core. Threads of OpenMP that have only one do not spin.
UNBOUND = ("--bind-to", "none") if "--oversubscribe" in MPI.launcher else ()
STEPS = 240
MICROSECONDS = 2000  # of work, in each thread and step
EVERY, DELAY_MS = 6, 24  # of delayed steps
KNOWN_AFTER = 60  # steps: threads are looked for now and then, and are known to be busy after some looks
MOST = 2.5  # of the account; a segment whose spinning counted would have 4 and more where it is delayed
LEAST = 0.4


def medians(steps, is_delayed):
    """The recorded work, and that by the account, of the steps that were delayed, or not."""
    known = [step for step in steps[KNOWN_AFTER:] if step[0] == is_delayed]
    return tuple(statistics.median(step[which] for step in known) for which in (1, 2))


class WorkOfThreads(halcyon_test.Behaviour):

    def run_program(self, mode):
        """The profile, and for each step whether it was delayed, its recorded work and that by the account, ns."""
        account = self.directory / "account"
        program = PROGRAMS / "threads"
        path = self.directory / "run.h5"
        finished = self.mpirun(RANKS, [program, mode, STEPS, MICROSECONDS, EVERY, DELAY_MS, account], options=UNBOUND,
                               HALCYON_OUTPUT=path, OMP_WAIT_POLICY="active")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        profile = Profile(path)
        of_ranks = [[tuple(map(int, line.split())) for line in (self.directory / f"account.{rank}").read_text().split("\n")
                     if line] for rank in range(RANKS)]
        recorded = profile.values("compute")
        self.assertEqual(profile.boundaries, STEPS)
        self.of_ranks = [[step[1] for step in rank] for rank in of_ranks]
        return profile, [(of_ranks[0][step][0], recorded[step], statistics.mean(rank[step][1] for rank in of_ranks))
                         for step in range(STEPS)]

    def check_work(self, steps):
        for is_delayed in 0, 1:
            recorded, own = medians(steps, is_delayed)
            with self.subTest(delayed=is_delayed):
                self.assertGreater(recorded, LEAST * own)
                self.assertLess(recorded, MOST * own)

    def test_a_worker_is_delayed_while_the_thread_that_calls_mpi_spins(self):
        profile, steps = self.run_program("pool")
        self.check_work(steps)
        for threads in profile.columns["rank_busy_threads"]:
            self.assertGreater(threads, 1.5)
            self.assertLess(threads, 2.5)

    def test_a_worker_of_openmp_is_delayed(self):
        _, steps = self.run_program("openmp")
        # Where four threads share two cores, each of them spins for the others in any step, delayed or not.
        undelayed, delayed = (medians(steps, is_delayed)[0] for is_delayed in (0, 1))
        self.assertGreater(delayed, LEAST * undelayed)
        self.assertLess(delayed, MOST * undelayed)

    def test_threads_that_end_segments_in_turn(self):
        _, steps = self.run_program("turns")
        self.check_work(steps)

    def test_the_rank_that_has_most_work_and_the_one_that_came_last(self):
        profile, _ = self.run_program("ranks")
        largest, of_last = (profile.values(f"{which}_compute") for which in ("largest", "last_rank"))
        own = [max(rank[step] for rank in self.of_ranks) for step in range(STEPS)]
        self.assertAlmostEqual(statistics.median(map(lambda said, true: said / true, largest, own)), 1.0, delta=0.1)
        of_whom = [self.of_ranks[rank][step] for step, rank in enumerate(profile.columns["last_rank"][:STEPS])]
        self.assertAlmostEqual(statistics.median(map(lambda said, true: said / true, of_last, of_whom)), 1.0, delta=0.1)
        self.assertGreater(statistics.median(map(lambda said, median: said / median, largest, profile.values("compute"))),
                           1.2)

    def test_a_thread_that_acts_by_the_clock_counts_in_totals_alone(self):
        profile, steps = self.run_program("helper")
        self.check_work(steps)
        self.assertEqual(set(profile.values("writes")[:STEPS]), {0.0})
        for rank in range(RANKS):
            self.assertGreater(profile.totals(rank)["writes"], STEPS // 10)
        for threads in profile.columns["rank_busy_threads"]:
            self.assertLess(threads, 1.5)


if __name__ == "__main__":
    halcyon_test.main()
