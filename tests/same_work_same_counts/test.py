"""The halo programs do the same work through five interfaces of MPI, so they must leave the same profile."""
import unittest

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, MPI, PYTHON, TOTALS

RANKS = 2
STEPS = 40
COMPILED = ("halo_c", "halo_mpi", "halo_f08", "halo_mpif") if MPI.has_fortran else ("halo_c",)
# Lines of each program that end a segment: two with Allreduce, one with Iallreduce, one with Barrier.
LINES_WITH_A_BOUNDARY = 4
# What halo.c says
CELLS, STRIP, DOUBLE = 1024, 16, 8  # numbers in the rod of a rank and in what goes round the ring; bytes of a number
HEATS, RINGS, CHECKPOINTS = STEPS // 5, STEPS // 10, STEPS // 20  # so many steps have each of these


def command(name):
    program = [EXAMPLES / name] if name != "halo.py" else [PYTHON, BUILD / "examples" / name]
    return [*program, STEPS, "halo.dat"]


needs_fortran = unittest.skipUnless(MPI.has_fortran, "no Fortran library of this MPI is here")


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
        self.assertEqual(profile.operations(), self.reference.operations())

    def test_c_counts_what_its_source_says(self):
        allreduces, iallreduces, barriers, last_allreduce = STEPS, HEATS, RINGS, 1
        self.assertEqual(self.reference.boundaries, allreduces + iallreduces + barriers + last_allreduce)
        to_both_sides, to_the_right = 2, 1
        for rank in range(RANKS):
            totals = self.reference.totals(rank)
            self.assertEqual(totals["sends_nonblocking"], (to_both_sides + to_the_right) * STEPS)
            self.assertEqual(totals["receives_nonblocking"], totals["sends_nonblocking"])
            self.assertEqual(totals["sends_blocking"], RINGS)
            # Each of two ranks has a neighbour on one side only; what it sends to the other side moves no bytes.
            to_neighbours = to_both_sides - 1
            numbers_sent = (to_neighbours + to_the_right) * STEPS + STRIP * RINGS
            self.assertEqual(totals["bytes_sent"], numbers_sent * DOUBLE)
            self.assertEqual(totals["bytes_received"], totals["bytes_sent"])
            self.assertEqual(totals["bytes_written"], CHECKPOINTS * CELLS * DOUBLE)
            self.assertEqual(totals["bytes_read"], totals["bytes_written"])
            self.assertEqual(totals["file_opens"], CHECKPOINTS)

    @needs_fortran
    def test_fortran_through_use_mpi_counts_as_c_does(self):
        self.check_same_as_c("halo_mpi")

    @needs_fortran
    def test_fortran_through_use_mpi_f08_counts_as_c_does(self):
        self.check_same_as_c("halo_f08")

    @needs_fortran
    def test_fortran_through_mpif_h_counts_as_c_does(self):
        self.check_same_as_c("halo_mpif")

    @unittest.skipUnless(MPI.has_mpi4py, "no mpi4py is built for this MPI")
    def test_python_counts_as_c_does(self):
        self.check_same_as_c("halo.py")

    def test_one_rank_meets_the_same_boundaries_as_two(self):
        alone = self.record(1, command("halo_c"))
        self.assertEqual(alone.boundaries, self.reference.boundaries)
        self.assertEqual(alone.operations(), self.reference.operations())

    def test_call_sites_lie_in_the_program_itself(self):
        for name in COMPILED:
            with self.subTest(program=name):
                sites = self.record(RANKS, command(name)).sites()
                modules = {module for operation, module, _ in sites if operation != "finalize"}
                self.assertEqual(modules, {name})

    def test_call_sites_distinguish_the_lines_of_the_source(self):
        for name in COMPILED:
            with self.subTest(program=name):
                sites = self.record(RANKS, command(name)).sites()
                places = {(operation, offset) for operation, _, offset in sites if operation != "finalize"}
                self.assertEqual(len({offset for _, offset in places}), LINES_WITH_A_BOUNDARY, sorted(places))


if __name__ == "__main__":
    halcyon_test.main()
