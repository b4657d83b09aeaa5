"""MPI_Pcontrol(1) is the user's own mark of a step: it ends segments where nothing else repeats, or where it is asked for."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import LIBRARY, PROGRAMS, exported

PROGRAM = PROGRAMS / "marks"
STEPS = 40


class UserMarks(halcyon_test.Behaviour):

    def operations(self, *words, **environment):
        sites = self.record(3, [PROGRAM, *words], **environment).sites()
        return [operation for operation, _, _ in sites]

    def test_they_end_segments_from_the_fifth_on_where_nothing_else_repeats(self):
        self.assertEqual(self.operations("all"), (STEPS - 4) * ["pcontrol"] + ["finalize"])
        self.assertEqual(self.operations("all", "20"), 20 * ["barrier"] + (STEPS - 4) * ["pcontrol"] + ["finalize"])

    def test_they_end_none_where_a_run_can_be_judged_by_what_synchronises_it(self):
        self.assertEqual(self.operations("all", "30"), 30 * ["barrier"] + ["finalize"])

    def test_those_of_some_ranks_alone_do_no_harm_where_others_follow(self):
        self.assertEqual(self.operations("seldom", "30"), 30 * ["barrier"] + ["finalize"])

    def test_all_of_them_and_nothing_else_if_they_are_asked_for(self):
        self.assertEqual(self.operations("barrier", "30", HALCYON_BOUNDARY="pcontrol"), STEPS * ["pcontrol"] + ["finalize"])

    def test_none_of_them_if_another_is_asked_for(self):
        for setting in ("all-to-all", "rooted"):
            with self.subTest(setting):
                self.assertNotIn("pcontrol", self.operations("all", HALCYON_BOUNDARY=setting))

    def test_levels_below_one_are_no_marks(self):
        self.assertEqual(self.operations("levels", HALCYON_BOUNDARY="pcontrol"), STEPS // 2 * ["pcontrol"] + ["finalize"])

    def test_marks_of_some_ranks_are_said_to_be_none(self):
        finished = self.mpirun(3, [PROGRAM, "seldom"], HALCYON_OUTPUT=self.directory / "run.h5",
                               HALCYON_BOUNDARY="pcontrol")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("rank 1 met 0 boundaries, rank 0 met 4", finished.errors)

    def test_another_tool_hears_all_that_it_is_told(self):
        preload = f"{LIBRARY}:{PROGRAMS / 'libtold.so'}"
        finished = self.mpirun(2, [PROGRAM, "all"], preload=False, options=exported("LD_PRELOAD", preload),
                               HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output, finished.errors), (0, "1 step 3 2.5\n0\n", ""), finished)

    def test_a_program_without_boundaries_is_told_to_mark_its_steps(self):
        self.record(2, [PROGRAM, "none"])
        report = self.halcyon("report", "run.h5")
        self.assertIn("[no-boundaries]", report.output)
        self.assertIn("MPI_Pcontrol(1) on all ranks", " ".join(report.output.split()))


if __name__ == "__main__":
    halcyon_test.main()
