"""Where no boundaries end segments, calls that recur on each rank do: the ranks choose them together at the end."""
import halcyon_test
from halcyon_test import PROGRAMS, Profile

PROGRAM = PROGRAMS / "recurs"
STEPS = 200
FIRST = 8  # calls from one place, before which they do not recur; the first of these steps are one
FEW_BARRIERS, ENOUGH_BARRIERS = 20, 30  # too few to judge a run by, and enough
SECONDS_OF_STEP = 3e-4


class StepsWithoutCollectives(halcyon_test.Behaviour):

    def check(self, profile, steps):
        """The run has so many steps, and its time is theirs."""
        self.assertEqual(profile.operations(), steps * ["step"] + ["finalize"])
        self.assertEqual(profile.attributes["disagreement"], "")
        durations = profile.columns["duration"]
        self.assertGreater(min(durations[:-1]), 0.9 * SECONDS_OF_STEP)
        run_time = profile.attributes["run_time_seconds"]  # both are means over ranks
        self.assertLess(abs(sum(durations) - run_time), 0.02 * run_time)

    def test_each_exchange_with_neighbours_is_one_also_where_ranks_have_unequal_numbers_of_these(self):
        profile = self.record(3, [PROGRAM, "halo"])
        self.check(profile, STEPS - FIRST + 1)
        # Sends are counted where they were made: four of three ranks in each step.
        self.assertEqual(profile.values("sends_nonblocking")[1:-1], (STEPS - FIRST) * [4.0])

    def test_each_item_of_a_pipeline_is_one_whose_ranks_receive_send_or_do_both(self):
        self.check(self.record(3, [PROGRAM, "pipeline"]), STEPS - FIRST + 1)

    def test_polls_are_none(self):
        self.check(self.record(2, [PROGRAM, "polling"]), STEPS - FIRST + 1)

    def test_one_has_inner_loops_within(self):
        self.check(self.record(2, [PROGRAM, "nested"]), STEPS - FIRST + 1)

    def test_calls_in_turn_make_one_together(self):
        self.check(self.record(2, [PROGRAM, "alternating"]), STEPS // 2 - FIRST + 1)

    def test_ranks_with_unequal_numbers_of_calls_have_as_many(self):
        profile = self.record(3, [PROGRAM, "master"])
        steps = profile.boundaries
        self.assertGreaterEqual(steps, 30)
        self.assertEqual(profile.operations(), steps * ["step"] + ["finalize"])
        self.assertEqual(len(set(profile.values("receives_blocking")[1:-1])), 1)

    def test_regions_of_openmp_end_them_where_a_rank_makes_no_calls(self):
        self.check(self.record(1, [PROGRAM, "regions"], OMP_NUM_THREADS=2), STEPS - FIRST + 1)

    def test_threads_that_call_nothing_change_nothing(self):
        self.check(self.record(2, [PROGRAM, "threads"]), STEPS - FIRST + 1)

    def test_there_are_none_where_ranks_have_nothing_in_common(self):
        profile = self.record(2, [PROGRAM, "unlike"])
        self.assertEqual((profile.operations(), profile.attributes["disagreement"]), (["finalize"], ""))

    def test_they_take_the_place_of_few_boundaries_and_not_of_enough(self):
        self.check(self.record(2, [PROGRAM, "halo", FEW_BARRIERS]), STEPS - FIRST + 1)
        self.assertEqual(self.record(2, [PROGRAM, "halo", ENOUGH_BARRIERS]).operations(),
                         ENOUGH_BARRIERS * ["barrier"] + ["finalize"])

    def test_there_are_none_if_something_else_is_asked_for(self):
        for setting in ("all-to-all", "rooted", "pcontrol"):
            with self.subTest(setting):
                self.assertEqual(self.record(2, [PROGRAM, "halo"], HALCYON_BOUNDARY=setting).operations(), ["finalize"])

    def test_the_report_says_what_one_is(self):
        self.record(2, [PROGRAM, "halo"])
        report = " ".join(self.halcyon("report", "run.h5").output.split())
        self.assertIn("unit a step of each rank, from one call that recurs to the next", report)

    def test_a_run_that_dies_has_the_segments_of_its_boundaries(self):
        finished = self.mpirun(2, [PROGRAM, "exits", FEW_BARRIERS], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertNotEqual(finished.status, 0)
        recovered = self.halcyon("recover", "-o", "recovered.h5", "run.h5.parts")
        self.assertEqual(recovered.status, 0, recovered)
        self.assertEqual(Profile(self.directory / "recovered.h5").operations(), FEW_BARRIERS * ["barrier"])


if __name__ == "__main__":
    halcyon_test.main()
