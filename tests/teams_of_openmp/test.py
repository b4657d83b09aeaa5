"""The work of a region of OpenMP is that of its threads, without their waiting for each other: with GCC's runtime and
with LLVM's, whichever of them a program or a plugin brings.

The program keeps its own account of each step. Work is CPU time, so that most of these tests hold on a busy machine.
"""
import re
import statistics
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, MPI, PROGRAMS, Profile

RANKS = 1  # two threads of it take both cores
# Open MPI binds a rank to a core. Threads of OpenMP that have only one do not spin.
UNBOUND = ("--bind-to", "none") if "--oversubscribe" in MPI.launcher else ()
STEPS = 80
MICROSECONDS = 1500
EVERY, DELAY_MS = 4, 15
# The account begins and ends within a part. A thread that loses its CPU finds cold caches.
TOLERANCE = 0.15
OF_GCC, OF_LLVM = BUILD / "tests/libomp_steps.so", BUILD / "tests/libomp_steps_of_llvm.so"
HEADERS = "/usr/lib/llvm-*/lib/clang/*/include/omp-tools.h"


def most(of_threads):
    return max(of_threads)


class OfGcc(halcyon_test.Behaviour):
    PLUGIN = OF_GCC
    ENVIRONMENT = {}

    def setUp(self):
        super().setUp()
        if not self.PLUGIN.exists():
            self.skipTest(f"no {self.PLUGIN.name}: clang or libomp-dev was not there when it was to be built")

    def run_steps(self, function, **environment):
        """The profile, and for each step whether it was delayed, its recorded work and what the threads did, ns."""
        path = self.directory / "run.h5"
        account = self.directory / "account"
        finished = self.mpirun(RANKS, [PROGRAMS / "teams", self.PLUGIN, STEPS, MICROSECONDS, EVERY, DELAY_MS, function,
                                       account], options=UNBOUND, HALCYON_OUTPUT=path, OMP_WAIT_POLICY="active",
                               **self.ENVIRONMENT, **environment)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        profile = Profile(path)
        self.assertEqual(profile.boundaries, STEPS + 1)
        of_ranks = [[tuple(map(int, line.split())) for line in (self.directory / f"account.{rank}").read_text().splitlines()]
                    for rank in range(RANKS)]
        recorded = profile.values("compute")[1:]
        return profile, [(of_ranks[0][step][0], recorded[step], [rank[step][1:] for rank in of_ranks])
                         for step in range(STEPS)]

    def check_work(self, steps, of_threads):
        """`of_threads`: the work of a rank by that of its threads."""
        for is_delayed in 0, 1:
            ratios = [recorded / statistics.median(map(of_threads, of_ranks))
                      for delayed, recorded, of_ranks in steps if delayed == is_delayed]
            with self.subTest(delayed=is_delayed):
                self.assertAlmostEqual(statistics.median(ratios), 1.0, delta=TOLERANCE)

    def test_the_thread_that_has_most_work_counts(self):
        self.check_work(self.run_steps("fixed")[1], most)

    def test_sums_over_regions_are_those_of_all_threads(self):
        profile, steps = self.run_steps("fixed")
        for rank in range(RANKS):
            of_threads = [of_ranks[rank] for _, _, of_ranks in steps]
            for column, known in (("rank_region_work", sum(map(sum, of_threads))),
                                  ("rank_region_longest_work", sum(len(step) * max(step) for step in of_threads))):
                with self.subTest(column=column, rank=rank):
                    self.assertAlmostEqual(1e9 * profile.columns[column][rank] / known, 1.0, delta=TOLERANCE)

    def test_where_threads_share_out_the_work_the_mean_counts(self):
        self.check_work(self.run_steps("shared")[1], statistics.mean)

    def test_one_of_the_pieces_that_they_share_out_may_be_the_longest(self):
        self.check_work(self.run_steps("uneven_pieces")[1], most)

    def test_waiting_within_a_region_is_no_work(self):
        self.check_work(self.run_steps("waiting")[1], most)

    def test_in_a_region_with_tasks_it_is_that_of_the_thread_that_calls_mpi_and_the_interval_says_so(self):
        profile, steps = self.run_steps("tasks")
        self.assertGreater(min(profile.columns["rank_side_by_side"]), 0.5 * sum(profile.columns["duration"]))
        ratios = [recorded / statistics.median(map(statistics.mean, of_ranks)) for _, recorded, of_ranks in steps]
        self.assertGreater(statistics.median(ratios), 0.4)

    def test_regions_within_regions(self):
        self.check_work(self.run_steps("nested")[1], most)

    def test_segments_that_end_within_a_region(self):
        self.check_work(self.run_steps("around")[1], most)

    def test_a_thread_that_spins_by_its_own_means_does_not_work(self):
        profile, steps = self.run_steps("spinning")
        self.check_work(steps, min)
        self.assertGreater(min(profile.columns["rank_work_beyond_least"]), 0.0)


class OfLlvm(OfGcc):
    PLUGIN = OF_LLVM

    def test_another_tool_goes_first(self):
        _, steps = self.run_steps("fixed", OMP_TOOL_LIBRARIES="libnone.so")
        self.assertEqual(len(steps), STEPS)

    def test_what_is_used_of_ompt_is_what_its_header_declares(self):
        headers = sorted(Path("/").glob(HEADERS[1:]))
        if not headers:
            self.skipTest("no omp-tools.h")
        numbers = dict(re.findall(r"macro ?\((?:ompt_callback_)(\w+), *\w+, *(\d+)\)", headers[-1].read_text()))
        source = (halcyon_test.SOURCE / "libprofile/wrappers/ompt.cpp").read_text()
        used = dict(re.findall(r"(\w+) = (\d+)", re.search(r"enum Event \{(.*?)\}", source, re.DOTALL).group(1)))
        self.assertEqual(used, {name: numbers[name] for name in used})
        self.assertEqual(len(used), 7)


class OfGccWithTheRuntimeOfLlvm(OfGcc):
    """As in packages of conda-forge: LLVM's runtime has GCC's functions, too, and tells all itself."""

    def setUp(self):
        super().setUp()
        runtimes = sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so.5"))
        if not runtimes:
            self.skipTest("no libomp.so.5")
        self.ENVIRONMENT = {"LD_PRELOAD": runtimes[-1]}


if __name__ == "__main__":
    halcyon_test.main()
