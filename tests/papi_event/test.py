"""The compute feature through PAPI, without a PMU: a program publishes an exact software-defined event."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import BUILD, EXAMPLES

PROGRAM = BUILD / "tests" / "publishes_work"
WITH_PAPI = BUILD / "tests" / "measures_itself"


class PapiEvent(halcyon_test.Behaviour):

    def test_work_between_boundaries_is_counted_exactly_and_work_inside_mpi_is_not(self):
        profile = self.record(2, [PROGRAM], HALCYON_COUNTER="papi:sde:::Work::units")
        self.assertEqual(profile.attributes["counter"], "papi:sde:::Work::units")
        self.assertEqual(profile.attributes["compute_units"], "1")
        expected = [1000.0 * (i % 5 + 1) for i in range(50)] + [0.0]  # nothing after the last boundary
        self.assertEqual(profile.values("compute"), expected)

    def test_an_event_that_does_not_exist_is_named_and_cpu_time_is_used(self):
        finished = self.mpirun(2, [PROGRAM], HALCYON_OUTPUT=self.directory / "run.h5", HALCYON_COUNTER="papi:NO_SUCH_EVENT")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("papi:NO_SUCH_EVENT", finished.errors)
        self.assertEqual(halcyon_test.Profile(self.directory / "run.h5").attributes["counter"], "cpu")

    def test_an_unknown_counter_is_named_and_the_automatic_choice_is_made(self):
        finished = self.mpirun(2, [PROGRAM], HALCYON_OUTPUT=self.directory / "run.h5", HALCYON_COUNTER="flops")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("HALCYON_COUNTER=flops", finished.errors)
        self.assertTrue((self.directory / "run.h5").exists())

    def test_without_a_counter_there_is_no_compute_feature(self):
        profile = self.record(2, [PROGRAM], HALCYON_COUNTER="none")
        self.assertEqual(set(profile.values("compute")), {0.0})

    def test_a_program_that_uses_papi_itself_keeps_it(self):
        plain = self.mpirun(1, [WITH_PAPI], preload=False)
        self.assertEqual(plain.output, "No error, No error: 50000\n", plain)
        self.assertEqual(self.record(1, [WITH_PAPI]).attributes["counter"], "cpu")
        asked_for = self.mpirun(1, [WITH_PAPI], HALCYON_OUTPUT=self.directory / "asked.h5",
                                HALCYON_COUNTER="papi:sde:::Work::units")
        self.assertEqual((asked_for.status, asked_for.output), (0, plain.output), asked_for)
        self.assertEqual(len(asked_for.errors.splitlines()), 1, asked_for)
        self.assertIn("the program uses PAPI itself", asked_for.errors)
        profile = halcyon_test.Profile(self.directory / "asked.h5")
        self.assertEqual((profile.attributes["counter"], profile.boundaries), ("cpu", 50))

    def test_the_choice_is_reported_and_stored(self):
        self.halcyon("run", "-o", "run.h5", "--counter", "cpu", "--", "mpirun", "-np", "2", EXAMPLES / "halo_c", "50")
        self.assertIn("CPU time", self.halcyon("report", "run.h5").output)
        self.assertEqual(self.report("run.h5")["counter"], "cpu")


if __name__ == "__main__":
    halcyon_test.main()
