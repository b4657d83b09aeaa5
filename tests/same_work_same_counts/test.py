"""The halo programs do the same work through five interfaces of MPI, so they must leave the same profile."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import EXAMPLES, PYTHON, TOTALS, only_open_mpi

RANKS = 2
STEPS = 40
FORTRAN = ("halo_mpi", "halo_f08", "halo_mpif")
# Lines of each program that end a segment: two with Allreduce, one with Iallreduce, one with Barrier.
LINES_WITH_A_BOUNDARY = 4


def command(name):
    program = [EXAMPLES / name] if name != "halo.py" else [PYTHON, EXAMPLES / name]
    return [*program, STEPS, "halo.dat"]


class SameWorkSameCounts(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.reference = self.record(RANKS, command("halo_c"))

    def check_same_as_c(self, name, ranks=RANKS):
        profile = self.record(ranks, command(name))
        for rank in range(ranks):
            with self.subTest("totals", rank=rank):
                self.assertEqual(profile.totals(rank), self.reference.totals(rank))
        for feature in TOTALS:
            with self.subTest("of each segment", feature=feature):
                self.assertEqual(profile.values(feature), self.reference.values(feature))
        operations = [operation for operation, _, _ in profile.sites()]
        self.assertEqual(operations, [operation for operation, _, _ in self.reference.sites()])

    def test_c_counts_what_its_source_says(self):
        # Every step: an Allreduce; every 5th: an Iallreduce; every 10th: a Barrier; and one Allreduce at the end.
        self.assertEqual(self.reference.boundaries, STEPS + STEPS // 5 + STEPS // 10 + 1)
        for rank in range(RANKS):
            totals = self.reference.totals(rank)
            self.assertEqual(totals["sends_nonblocking"], 3 * STEPS)
            self.assertEqual(totals["receives_nonblocking"], 3 * STEPS)
            self.assertEqual(totals["sends_blocking"], STEPS // 10)
            # On two ranks each has one neighbour in the halo exchange, and another in the ring.
            self.assertEqual(totals["bytes_sent"], 2 * STEPS * 8 + STEPS // 10 * 16 * 8)
            self.assertEqual(totals["bytes_received"], totals["bytes_sent"])
            self.assertEqual(totals["bytes_written"], STEPS // 20 * 1024 * 8)
            self.assertEqual(totals["bytes_read"], totals["bytes_written"])
            self.assertEqual(totals["file_opens"], STEPS // 20)

    def test_fortran_through_use_mpi_counts_as_c_does(self):
        self.check_same_as_c("halo_mpi")

    def test_fortran_through_use_mpi_f08_counts_as_c_does(self):
        self.check_same_as_c("halo_f08")

    def test_fortran_through_mpif_h_counts_as_c_does(self):
        self.check_same_as_c("halo_mpif")

    @only_open_mpi("Debian's mpi4py is built for Open MPI")
    def test_python_counts_as_c_does(self):
        self.check_same_as_c("halo.py")

    def test_one_rank_meets_the_same_boundaries_as_two(self):
        alone = self.record(1, command("halo_c"))
        self.assertEqual(alone.boundaries, self.reference.boundaries)
        self.assertEqual([site[0] for site in alone.sites()], [site[0] for site in self.reference.sites()])

    def test_call_sites_lie_in_the_program_itself(self):
        for name in ("halo_c", *FORTRAN):
            with self.subTest(program=name):
                sites = self.record(RANKS, command(name)).sites()
                modules = {module for operation, module, _ in sites if operation != "finalize"}
                self.assertEqual(modules, {name})

    def test_call_sites_distinguish_the_lines_of_the_source(self):
        for name in ("halo_c", *FORTRAN):
            with self.subTest(program=name):
                sites = self.record(RANKS, command(name)).sites()
                places = {(operation, offset) for operation, _, offset in sites if operation != "finalize"}
                self.assertEqual(len({offset for _, offset in places}), LINES_WITH_A_BOUNDARY, sorted(places))


if __name__ == "__main__":
    halcyon_test.main()
