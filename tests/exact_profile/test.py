"""The profile of a run says exactly what its ranks did: every_call's own account against what was recorded."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import BUILD, EXAMPLES, PYTHON, SOURCE, TOTALS, needed_by, output_of

# Wrapped, but not called by every_call.
NOT_CALLED = {
    "MPI_Init_thread": "a program calls this or MPI_Init",
    "MPI_Comm_spawn": "starts another world, which has a profile of its own",
    "MPI_Comm_spawn_multiple": "starts another world, which has a profile of its own",
    "MPI_Comm_accept": "needs a second job",
    "MPI_Comm_connect": "needs a second job",
    "MPI_Comm_join": "needs a second job",
}


class ExactProfile(halcyon_test.Behaviour):

    def check(self, ranks):
        profile = self.record(ranks, [EXAMPLES / "every_call", self.directory])
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

    def test_four_ranks_did_what_their_own_account_says(self):
        self.check(4)

    def test_every_call_calls_every_function_that_is_wrapped(self):
        interpose = SOURCE / "libprofile" / "interpose"
        wrapped = set(output_of([PYTHON, interpose / "generate.py", "list", BUILD / "mpi_declarations.i",
                                 interpose / "mpi.table", interpose / "posix.table"]).split())
        self.assertEqual(wrapped - needed_by(EXAMPLES / "every_call"), set(NOT_CALLED))


if __name__ == "__main__":
    halcyon_test.main()
