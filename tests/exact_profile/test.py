"""The profile of a run says exactly what its ranks did: every_call's own account against what was recorded."""
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import EXAMPLES, IS_MPICH, TOTALS, needed_by, only_open_mpi, wrapped_functions
from halcyon_test import PROGRAMS as PROGRAMS_OF_TESTS

# Wrapped, but not called by every_call.
NOT_CALLED = {
    "MPI_Init_thread": "a program calls this or MPI_Init",
    "MPI_Comm_spawn": "starts another world, which has a profile of its own",
    "MPI_Comm_spawn_multiple": "starts another world, which has a profile of its own",
    "MPI_Comm_accept": "needs a second job",
    "MPI_Comm_connect": "needs a second job",
    "MPI_Comm_join": "needs a second job",
    "MPI_Session_init": "notes only that there is one: see mpi_sessions",
    "MPI_Comm_create_from_group": "needs a session, and a program of sessions alone is not recorded",
    "MPI_Intercomm_create_from_groups": "needs a session, and a program of sessions alone is not recorded",
}
# The second is the same source by the functions of large counts, which Open MPI 4 has not.
PROGRAMS = ["every_call", *(["every_call_large"] if IS_MPICH else [])]


class ExactProfile(halcyon_test.Behaviour):

    def check(self, ranks, program="every_call"):
        profile = self.record(ranks, [EXAMPLES / program, self.directory])
        accounts = [json.loads((self.directory / f"expected.{rank}.json").read_text()) for rank in range(ranks)]
        by_segment = [account.pop("segments") for account in accounts]
        for rank, account in enumerate(accounts):
            with self.subTest(rank=rank):
                self.assertEqual(set(account), {*TOTALS, "boundaries"})
                self.assertEqual({**profile.totals(rank), "boundaries": profile.boundaries}, account)
        for name in TOTALS:
            with self.subTest("of each segment", feature=name):
                over_ranks = [sum(values) for values in zip(*(account[name] for account in by_segment))]
                self.assertEqual(profile.values(name), over_ranks)

    def test_two_ranks_did_what_their_own_account_says(self):
        self.check(2)

    def test_three_ranks_did_what_their_own_account_says(self):
        self.check(3)

    @only_open_mpi("MPICH 4.0.2 often hangs in every_call's MPI_Neighbor_alltoallw on four ranks, with or without Halcyon")
    def test_four_ranks_did_what_their_own_account_says(self):
        self.check(4)

    @unittest.skipUnless(IS_MPICH, "Open MPI 4 has no functions of large counts")
    def test_functions_of_large_counts_did_what_their_own_account_says(self):
        self.check(3, "every_call_large")

    def test_more_call_sites_than_there_are_places_keep_their_kind(self):
        sites = self.record(2, [PROGRAMS_OF_TESTS / "many_sites"]).sites()
        self.assertEqual([site[0] for site in sites], 2 * (300 * ["barrier"] + ["allreduce"]) + ["finalize"])
        self.assertEqual(sites[:301], sites[301:602])
        known = {site for site in sites if site[2]}
        self.assertGreater(len(known), 240)
        self.assertEqual(set(sites) - known, {("barrier", "", ""), ("allreduce", "", ""), ("finalize", "", "")})

    def test_every_call_calls_every_function_that_is_wrapped(self):
        wrapped = wrapped_functions()
        called = set().union(*(needed_by(EXAMPLES / program) for program in PROGRAMS))
        self.assertEqual(wrapped - called, wrapped & set(NOT_CALLED))


if __name__ == "__main__":
    halcyon_test.main()
