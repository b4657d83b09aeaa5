"""MPI_Pcontrol(1) marks the end of a step. Marks end segments if nothing else repeats, or if the user asks for it."""
import re

import halcyon_test
from halcyon_test import LIBRARY, PROGRAMS

PROGRAM = PROGRAMS / "marks"
STEPS = 40
FIRST_MARKS = 4  # whether marks repeat is known from the fifth on
FEW_BARRIERS, ENOUGH_BARRIERS = 20, 30  # too few to judge a run by, and enough
MARKS_OF_RANK_0_ALONE = 4  # in the program's case `seldom`


class UserMarks(halcyon_test.Behaviour):

    def operations(self, *words, **environment):
        return self.record(3, [PROGRAM, *words], **environment).operations()

    def test_they_end_segments_from_the_fifth_on_where_nothing_else_repeats(self):
        marks = (STEPS - FIRST_MARKS) * ["pcontrol"]
        self.assertEqual(self.operations("all"), marks + ["finalize"])
        self.assertEqual(self.operations("all", FEW_BARRIERS), FEW_BARRIERS * ["barrier"] + marks + ["finalize"])

    def test_they_end_none_where_a_run_can_be_judged_by_what_synchronises_it(self):
        self.assertEqual(self.operations("all", ENOUGH_BARRIERS), ENOUGH_BARRIERS * ["barrier"] + ["finalize"])

    def test_those_of_some_ranks_alone_do_no_harm_where_others_follow(self):
        self.assertEqual(self.operations("seldom", ENOUGH_BARRIERS), ENOUGH_BARRIERS * ["barrier"] + ["finalize"])

    def test_all_of_them_and_nothing_else_if_they_are_asked_for(self):
        self.assertEqual(self.operations("barrier", ENOUGH_BARRIERS, HALCYON_BOUNDARY="pcontrol"),
                         STEPS * ["pcontrol"] + ["finalize"])

    def test_none_of_them_if_another_is_asked_for(self):
        for setting in ("all-to-all", "rooted"):
            with self.subTest(setting):
                self.assertNotIn("pcontrol", self.operations("all", HALCYON_BOUNDARY=setting))

    def test_levels_below_one_are_no_marks(self):
        marks = STEPS // 2  # levels -1, 0, 1 and 2 by turns
        self.assertEqual(self.operations("levels", HALCYON_BOUNDARY="pcontrol"), marks * ["pcontrol"] + ["finalize"])

    def test_marks_of_some_ranks_are_said_to_be_none(self):
        finished = self.mpirun(3, [PROGRAM, "seldom"], HALCYON_OUTPUT=self.directory / "run.h5",
                               HALCYON_BOUNDARY="pcontrol")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn(f"rank 1 passed 0 boundaries, rank 0 passed {MARKS_OF_RANK_0_ALONE}", finished.errors)

    def test_another_tool_hears_all_that_it_is_told(self):
        finished = self.mpirun(2, [PROGRAM, "all"], preload=[LIBRARY, PROGRAMS / "libtold.so"],
                               HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output, finished.errors), (0, "1 step 3 2.5\n0\n", ""), finished)

    def test_a_program_without_boundaries_is_told_to_mark_its_steps(self):
        # Where messages are delayed, even so short a program would have steps.
        self.record(2, [PROGRAM, "none"], HALCYON_BOUNDARY="all-to-all")
        report = self.halcyon("report", "run.h5")
        self.assertIn("the program has no boundaries", " ".join(report.output.split()))
        code = re.search(r"\[(no-boundaries|little-repeats)\]", report.output)[1]  # by whether it was disturbed for sure
        self.assertIn("MPI_Pcontrol(1)", self.halcyon("help", code).output)


if __name__ == "__main__":
    halcyon_test.main()
