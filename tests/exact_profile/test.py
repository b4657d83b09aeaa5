"""The profile of a run says exactly what its ranks did: every_call's own account against what was recorded."""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import BUILD, EXAMPLES, PYTHON, SOURCE, TOTALS

# Wrapped, but not called by every_call.
NOT_CALLED = {
    "MPI_Init_thread": "a program calls this or MPI_Init",
    "MPI_Comm_spawn": "starts another world, which has a profile of its own",
    "MPI_Comm_spawn_multiple": "starts another world, which has a profile of its own",
    "MPI_Comm_accept": "needs a second job",
    "MPI_Comm_connect": "needs a second job",
    "MPI_Comm_join": "needs a second job",
}


def names_in(words):
    return set(subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout.split())


class ExactProfile(halcyon_test.Behaviour):

    def check(self, ranks):
        profile = self.record(ranks, [EXAMPLES / "every_call", self.directory])
        accounts = [json.loads((self.directory / f"expected.{rank}.json").read_text()) for rank in range(ranks)]
        for rank, account in enumerate(accounts):
            with self.subTest(rank=rank):
                self.assertEqual(set(account), {*TOTALS, "boundaries"})
                self.assertEqual({**profile.totals(rank), "boundaries": profile.boundaries}, account)
        for name in TOTALS:
            with self.subTest("over segments", feature=name):
                self.assertEqual(sum(profile.values(name)), sum(account[name] for account in accounts))

    def test_two_ranks_did_what_their_own_account_says(self):
        self.check(2)

    def test_three_ranks_did_what_their_own_account_says(self):
        self.check(3)

    def test_four_ranks_did_what_their_own_account_says(self):
        self.check(4)

    def test_every_call_calls_every_function_that_is_wrapped(self):
        interpose = SOURCE / "libprofile" / "interpose"
        wrapped = names_in([PYTHON, interpose / "generate.py", "list", BUILD / "mpi_declarations.i",
                            interpose / "mpi.table", interpose / "posix.table"])
        symbols = names_in(["nm", "-D", "-u", "--format=just-symbols", EXAMPLES / "every_call"])
        called = {symbol.split("@")[0] for symbol in symbols}
        self.assertEqual(wrapped - called, set(NOT_CALLED))


if __name__ == "__main__":
    halcyon_test.main()
