"""Ranks that passed different numbers of boundaries: a message says so, and the profile has no segments and no verdict."""
import halcyon_test
from halcyon_test import PROGRAMS, Profile

PROGRAM = PROGRAMS / "disagrees"
COMMON_BARRIERS = 10
BARRIERS_OF_RANK_1_ALONE = 2  # on a communicator of its own


class BoundaryDisagreement(halcyon_test.Behaviour):

    def run_in_disagreement(self):
        """Three ranks, for which a communicator of one rank makes boundaries, too."""
        return self.mpirun(3, [PROGRAM], HALCYON_OUTPUT=self.directory / "run.h5", HALCYON_BOUNDARY_RANKS="1")

    def test_sub_communicators_are_no_boundaries_by_default(self):
        self.assertEqual(self.record(2, [PROGRAM]).boundaries, COMMON_BARRIERS)

    def test_a_disagreement_is_said_in_one_line_and_the_profile_keeps_the_totals(self):
        finished = self.run_in_disagreement()
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        of_rank_1 = COMMON_BARRIERS + BARRIERS_OF_RANK_1_ALONE
        self.assertIn(f"rank 1 passed {of_rank_1} boundaries, rank 0 passed {COMMON_BARRIERS}", finished.errors)
        profile = Profile(self.directory / "run.h5")
        self.assertEqual(profile.segments, 0)
        self.assertEqual([profile.totals(rank)["collectives_all_to_all"] for rank in range(3)],
                         [COMMON_BARRIERS, of_rank_1, COMMON_BARRIERS])

    def test_the_verdict_is_unknown(self):
        self.run_in_disagreement()
        report = self.report("run.h5")
        self.assertEqual(report["verdict"], "unknown")
        self.assertEqual(report["warnings"][0]["code"], "boundary-disagreement")


if __name__ == "__main__":
    halcyon_test.main()
