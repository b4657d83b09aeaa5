"""The profile of a run says exactly what its ranks did. every_call keeps an account of its own to compare with."""
import json
import unittest

import halcyon_test
from halcyon_test import EXAMPLES, MPI, PROGRAMS, TOTALS, needed_by, only_open_mpi, wrapped_functions

# Wrapped, but not called by every_call.
NOT_CALLED = {
    "MPI_Init_thread": "a program calls this or MPI_Init",
    "MPI_Comm_spawn": "starts another world, which has a profile of its own",
    "MPI_Comm_spawn_multiple": "starts another world, which has a profile of its own",
    "MPI_Comm_accept": "needs a second job",
    "MPI_Comm_connect": "needs a second job",
    "MPI_Comm_join": "needs a second job",
    "MPI_Session_init": "see mpi_sessions",
    "MPI_Session_finalize": "see mpi_sessions",
    "MPI_Session_detach_buffer": "needs a session",
    "MPI_Session_detach_buffer_c": "needs a session",
    "MPI_Session_flush_buffer": "needs a session",
    "MPI_Comm_create_from_group": "needs a session",
    "MPI_Intercomm_create_from_groups": "needs a session",
    **{f"__isoc23_{name}": "new in glibc 2.38" for name in ("scanf", "fscanf", "vscanf", "vfscanf")},
}
# every_call_large is the same source with the functions of large counts.
EVERY_CALL = ["every_call", "every_call_large"] if MPI.has_large_counts else ["every_call"]
# many_sites.c: barriers from as many places and an allreduce, all of them twice
BARRIER_SITES, ROUNDS = 300, 2
LEAST_KNOWN_SITES = 240  # that the recorder has places for; the others keep the kind of their call


ON_DEVICES = [name for name in TOTALS if name.startswith("device")]  # these programs use none


class ExactProfile(halcyon_test.Behaviour):

    def check(self, ranks, program="every_call"):
        if not MPI.runs_every_call:
            self.skipTest(f"{MPI.name} fails in every_call, with or without Halcyon")
        profile = self.record(ranks, [EXAMPLES / program, self.directory])
        accounts = [json.loads((self.directory / f"expected.{rank}.json").read_text()) for rank in range(ranks)]
        by_segment = [account.pop("segments") for account in accounts]
        for rank, account in enumerate(accounts):
            with self.subTest(rank=rank):
                self.assertEqual({*account, *ON_DEVICES}, {*TOTALS, "boundaries"})
                account |= dict.fromkeys(ON_DEVICES, 0)
                self.assertEqual({**profile.totals(rank), "boundaries": profile.boundaries}, account)
        self.assertGreater(sum(profile.columns["boundary_wait"]), 0.0)  # how long ranks wait is not theirs to know
        for name in [name for name in TOTALS if name not in ON_DEVICES]:
            with self.subTest("of each segment", feature=name):
                over_ranks = [sum(values) for values in zip(*(account[name] for account in by_segment))]
                self.assertEqual(profile.values(name), over_ranks)

    def test_two_ranks_did_what_their_own_account_says(self):
        self.check(2)

    def test_three_ranks_did_what_their_own_account_says(self):
        self.check(3)

    @only_open_mpi(
        "MPICH 4.0.2 often hangs in every_call's MPI_Neighbor_alltoallw on four ranks, with or without Halcyon")
    def test_four_ranks_did_what_their_own_account_says(self):
        self.check(4)

    @unittest.skipUnless(MPI.has_large_counts, "Open MPI has no functions of large counts")
    def test_functions_of_large_counts_did_what_their_own_account_says(self):
        self.check(3, "every_call_large")

    def test_more_call_sites_than_there_are_places_keep_their_kind(self):
        profile = self.record(2, [PROGRAMS / "many_sites"])
        sites, one_round = profile.sites(), BARRIER_SITES * ["barrier"] + ["allreduce"]
        self.assertEqual(profile.operations(), ROUNDS * one_round + ["finalize"])
        self.assertEqual(sites[:len(one_round)], sites[len(one_round):-1])
        known = {(operation, module, offset) for operation, module, offset in sites if offset}
        self.assertGreater(len(known), LEAST_KNOWN_SITES)
        self.assertEqual(set(sites) - known, {("barrier", "", ""), ("allreduce", "", ""), ("finalize", "", "")})

    @unittest.skipIf(MPI.runs_older_programs, "every_call is built for an older version of this library")
    def test_every_call_calls_every_function_that_is_wrapped(self):
        wrapped = wrapped_functions()
        called = set().union(*(needed_by(EXAMPLES / program) for program in EVERY_CALL))
        self.assertEqual(wrapped - called, wrapped & set(NOT_CALLED))


if __name__ == "__main__":
    halcyon_test.main()
