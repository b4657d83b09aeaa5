"""The compute feature through PAPI. No hardware counter is needed: the program publishes an exact event of its own."""
import csv

import halcyon_test
from halcyon_test import EXAMPLES, MPI, PROGRAMS, Profile

PROGRAM = PROGRAMS / "publishes_work"
WITH_PAPI = PROGRAMS / "measures_itself"
EVENT = "papi:sde:::Work::units"
BOUNDARIES = 50  # of either program


def work_of(segment):
    """Units of work in this segment of publishes_work."""
    return 1000.0 * (segment % 5 + 1) if segment < BOUNDARIES else 0.0  # none after the last boundary


class PapiEvent(halcyon_test.Behaviour):

    def test_work_between_boundaries_is_counted_exactly_and_work_inside_mpi_is_not(self):
        profile = self.record(2, [PROGRAM], HALCYON_COUNTER=EVENT)
        self.assertEqual(profile.attributes["counter"], EVENT)
        self.assertEqual(profile.attributes["compute_units"], "1")
        self.assertEqual(profile.values("compute"), [work_of(segment) for segment in range(BOUNDARIES + 1)])

    def test_segments_are_grouped_as_the_source_says(self):
        self.record(2, [PROGRAM], HALCYON_COUNTER=EVENT)
        table = self.halcyon("export", "--csv", "-", self.directory / "run.h5").output
        groups = {(work_of(int(row["segment"])), row["group"]) for row in csv.DictReader(table.splitlines())}
        works = {work for work, _ in groups}
        self.assertEqual((len(works), len(groups), len({group for _, group in groups})), (6, 6, 6), groups)
        self.assertEqual(self.report(self.directory / "run.h5")["unit"]["segments"], 1)

    def test_an_event_that_does_not_exist_is_named_and_cpu_time_is_used(self):
        finished = self.mpirun(2, [PROGRAM], HALCYON_OUTPUT=self.directory / "run.h5",
                               HALCYON_COUNTER="papi:NO_SUCH_EVENT")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("papi:NO_SUCH_EVENT", finished.errors)
        self.assertEqual(Profile(self.directory / "run.h5").attributes["counter"], "cpu")

    def test_an_unknown_counter_is_named_and_the_automatic_choice_is_made(self):
        finished = self.mpirun(2, [PROGRAM], HALCYON_OUTPUT=self.directory / "run.h5", HALCYON_COUNTER="flops")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("HALCYON_COUNTER=flops", finished.errors)
        self.assertTrue((self.directory / "run.h5").exists())

    def test_without_a_counter_there_is_no_compute_feature(self):
        profile = self.record(2, [PROGRAM], HALCYON_COUNTER="none")
        self.assertEqual(set(profile.values("compute")), {0.0})

    def test_a_program_that_uses_papi_itself_keeps_it(self):
        plain = self.mpirun(1, [WITH_PAPI], preload=())
        self.assertEqual(plain.output, f"No error, No error: {1000 * BOUNDARIES}\n", plain)
        self.assertEqual(self.record(1, [WITH_PAPI]).attributes["counter"], "cpu")
        asked_for = self.mpirun(1, [WITH_PAPI], HALCYON_OUTPUT=self.directory / "asked.h5",
                                HALCYON_COUNTER=EVENT)
        self.assertEqual((asked_for.status, asked_for.output), (0, plain.output), asked_for)
        self.assertEqual(len(asked_for.errors.splitlines()), 1, asked_for)
        self.assertIn("the program uses PAPI itself", asked_for.errors)
        profile = Profile(self.directory / "asked.h5")
        self.assertEqual((profile.attributes["counter"], profile.boundaries), ("cpu", BOUNDARIES))

    def test_each_thread_counts_its_own_events(self):
        clock = "papi:perf::TASK-CLOCK"  # of the kernel, for each thread: needs no hardware
        profile = self.record(1, [PROGRAMS / "second_thread"], HALCYON_COUNTER=clock, allowed_errors=True)
        if profile.attributes["counter"] != clock:
            self.skipTest(f"{clock} cannot be counted here")
        work = profile.values("compute")
        self.assertEqual(len(work), 21)
        self.assertTrue(all(value > 0.0 for value in work[1:-1]), work)

    def test_the_choice_is_reported_and_stored(self):
        self.halcyon("run", "-o", "run.h5", "--counter", "cpu", "--", *MPI.launch(2), EXAMPLES / "halo_c", "50")
        self.assertIn("CPU time", self.halcyon("report", "run.h5").output)
        self.assertEqual(self.report("run.h5")["counter"], "cpu")


if __name__ == "__main__":
    halcyon_test.main()
