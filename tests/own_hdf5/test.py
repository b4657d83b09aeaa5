"""A program with an HDF5 of its own, of another build than the recorder's: both write what they should."""
import os

import halcyon_test
from halcyon_test import PROGRAMS, Profile

PROGRAM = PROGRAMS / "writes_hdf5"
ROWS, NUMBERS_OF_A_ROW, BYTES_OF_A_NUMBER = 100, 1000, 8  # that each rank writes
RANKS = 2
MOST_ADDED = 1.1  # HDF5's own account of the file, relative to the data
FOREIGN_LIBRARIES = ("libhdf5_serial.so.103", "libhdf5_serial_hl.so.100", "libhdf5.so.103", "libhdf5_hl.so.100")


class OwnHdf5(halcyon_test.Behaviour):

    def test_a_program_that_writes_and_reads_by_parallel_hdf5(self):
        plain = self.mpirun(RANKS, [PROGRAM, self.directory / "plain"], preload=())
        expected = sum((row + rank) * NUMBERS_OF_A_ROW for row in range(ROWS) for rank in range(RANKS))
        self.assertEqual((plain.status, plain.output), (0, f"{expected}\n"), plain)
        profile = self.record(RANKS, [PROGRAM, self.directory / "recorded"])
        self.assertEqual((self.directory / "recorded").stat().st_size, (self.directory / "plain").stat().st_size)
        self.assertGreater(profile.boundaries, 2 * ROWS)  # HDF5's collective transfers synchronise
        data = ROWS * NUMBERS_OF_A_ROW * BYTES_OF_A_NUMBER
        for rank in range(RANKS):
            totals = profile.totals(rank)
            # Rank 0 may look at the file by itself before all ranks open it.
            self.assertIn(totals["file_opens"], (2, 3), totals)
            self.assertEqual(totals["file_opens"], totals["file_closes"], totals)
            self.assertGreaterEqual(totals["bytes_written"], data)
            self.assertLess(totals["bytes_written"], MOST_ADDED * data)
            self.assertGreaterEqual(totals["bytes_read"], data)
            self.assertLess(totals["bytes_read"], MOST_ADDED * data)

    def test_another_hdf5_of_the_same_name_comes_first_in_the_search_path(self):
        # A module file may have put it there. The recorder still loads the HDF5 that it was built with.
        barriers = 5
        foreign = self.directory / "lib"
        foreign.mkdir()
        for name in FOREIGN_LIBRARIES:
            os.symlink("/lib/x86_64-linux-gnu/libm.so.6", foreign / name)
        finished = self.mpirun(1, [PROGRAMS / "dies", barriers, "finalize"], HALCYON_OUTPUT=self.directory / "run.h5",
                               LD_LIBRARY_PATH=foreign)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(Profile(self.directory / "run.h5").boundaries, barriers)
        info = self.halcyon("info", "run.h5", LD_LIBRARY_PATH=str(foreign))
        self.assertEqual((info.status, info.errors), (0, ""), info)


if __name__ == "__main__":
    if not PROGRAM.exists():
        halcyon_test.skip("no parallel HDF5 for this MPI (libhdf5-openmpi-dev, libhdf5-mpich-dev)")
    halcyon_test.main()
