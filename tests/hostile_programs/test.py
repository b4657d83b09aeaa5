"""Programs that do what they may, and tools seldom expect: their results stay, and the profile stays right."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import PROGRAMS, PYTHON

PROGRAM = PROGRAMS / "hostile"
PLUGIN = PROGRAMS / "libplugin.so"
BARRIERS = 10
ROUNDS, THREADS = 300, 8
EARLY_WRITES = 1000


class HostilePrograms(halcyon_test.Behaviour):

    def check(self, case, ranks=2):
        plain = self.mpirun(ranks, [PROGRAM, case], preload=False)
        profile = self.record(ranks, [PROGRAM, case])
        again = self.mpirun(ranks, [PROGRAM, case], HALCYON_OUTPUT=self.directory / "again.h5")
        self.assertEqual(again, plain)
        return profile

    def test_a_cancelled_thread_is_unwound_through_the_wrappers(self):
        self.assertEqual(self.check("cancelled", ranks=1).boundaries, BARRIERS)

    def test_callbacks_on_the_world_are_not_called(self):
        self.assertEqual(self.check("attribute").boundaries, BARRIERS)

    def test_closed_standard_files_cost_nothing(self):
        self.assertEqual(self.check("closed").boundaries, BARRIERS)

    def test_threads_that_share_mpi_lose_no_boundary_and_no_byte(self):
        profile = self.check("threads")
        half = THREADS // 2
        self.assertEqual(profile.boundaries, BARRIERS + half * ROUNDS)
        for rank in range(2):
            totals = profile.totals(rank)
            self.assertEqual(totals["bytes_received"], half * ROUNDS * 8)
            self.assertEqual(totals["sends_nonblocking"], half * ROUNDS)

    def test_a_thread_that_was_there_before_mpi_init_counts_from_then_on(self):
        profile = self.check("early", ranks=1)
        self.assertEqual(profile.boundaries, BARRIERS)
        self.assertGreaterEqual(profile.totals(0)["writes"], EARLY_WRITES)

    def test_an_abort_amid_the_boundaries_of_other_threads_loses_nothing(self):
        path = self.directory / "run.h5"
        finished = self.mpirun(1, [PROGRAM, "aborts"], HALCYON_OUTPUT=path)
        self.assertEqual(finished.status, 9, finished)
        recovered = self.halcyon("recover", f"{path}.parts")
        self.assertEqual(recovered.status, 0, recovered)
        self.assertGreaterEqual(halcyon_test.Profile(path).segments, BARRIERS + ROUNDS)

    def test_threads_that_have_ended_are_remembered(self):
        self.assertEqual(self.check("shortlived", ranks=1).totals(0)["sends_blocking"], 1000)

    def test_failed_calls_fail_the_same_way_and_count_for_nothing(self):
        totals = self.check("failing").totals(0)
        self.assertEqual({name: value for name, value in totals.items() if value}, {"collectives_all_to_all": BARRIERS})

    def test_no_stranger_is_among_the_programs_children(self):
        self.check("children")

    def test_a_fortran_plugin_in_a_scope_of_its_own_still_reaches_mpi(self):
        code = ("import ctypes; from mpi4py import MPI; plugin = ctypes.CDLL('%s', mode=ctypes.RTLD_LOCAL);"
                "total = ctypes.c_int(); plugin.sum_over_ranks(ctypes.byref(total)); assert total.value == 2, total" % PLUGIN)
        finished = self.mpirun(2, [PYTHON, "-c", code], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output, finished.errors), (0, "", ""), finished)
        self.assertEqual(halcyon_test.Profile(self.directory / "run.h5").boundaries, 1)


if __name__ == "__main__":
    halcyon_test.main()
