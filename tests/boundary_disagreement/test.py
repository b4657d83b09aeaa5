"""Ranks that disagree on their boundaries: said, stored, and never guessed over."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import PROGRAMS

PROGRAM = PROGRAMS / "disagrees"


class BoundaryDisagreement(halcyon_test.Behaviour):

    def test_sub_communicators_are_no_boundaries_by_default(self):
        self.assertEqual(self.record(2, [PROGRAM]).boundaries, 10)

    def test_a_disagreement_is_said_in_one_line_and_the_profile_keeps_the_totals(self):
        finished = self.mpirun(3, [PROGRAM], HALCYON_OUTPUT=self.directory / "run.h5", HALCYON_BOUNDARY_RANKS="1")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("rank 1 met 12 boundaries, rank 0 met 10", finished.errors)
        profile = halcyon_test.Profile(self.directory / "run.h5")
        self.assertEqual(profile.segments, 0)
        self.assertEqual([profile.totals(rank)["collectives_all_to_all"] for rank in range(3)], [10, 12, 10])

    def test_the_verdict_is_unknown(self):
        self.mpirun(3, [PROGRAM], HALCYON_OUTPUT=self.directory / "run.h5", HALCYON_BOUNDARY_RANKS="1")
        report = self.report("run.h5")
        self.assertEqual(report["verdict"], "unknown")
        self.assertEqual([warning["code"] for warning in report["warnings"]], ["boundary-disagreement"])


if __name__ == "__main__":
    halcyon_test.main()
