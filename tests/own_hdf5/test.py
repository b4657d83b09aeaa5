"""Programs with an HDF5 of their own, of another build than the recorder's: both write what they should."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import PROGRAMS

PROGRAM = PROGRAMS / "writes_hdf5"
ROWS, EACH, BYTES = 100, 1000, 8
RANKS = 2


class OwnHdf5(halcyon_test.Behaviour):

    def test_a_program_that_writes_and_reads_by_parallel_hdf5(self):
        plain = self.mpirun(RANKS, [PROGRAM, self.directory / "plain"], preload=False)
        expected = sum((row + rank) * EACH for row in range(ROWS) for rank in range(RANKS))
        self.assertEqual((plain.status, plain.output), (0, f"{expected}\n"), plain)
        profile = self.record(RANKS, [PROGRAM, self.directory / "recorded"])
        self.assertEqual((self.directory / "recorded").stat().st_size, (self.directory / "plain").stat().st_size)
        self.assertGreater(profile.boundaries, 2 * ROWS)  # HDF5's collective transfers synchronise
        data = ROWS * EACH * BYTES
        for rank in range(RANKS):
            totals = profile.totals(rank)
            # Rank 0 looks at the file by itself before all open it.
            self.assertIn(totals["file_opens"], (2, 3), totals)
            self.assertEqual(totals["file_opens"], totals["file_closes"], totals)
            self.assertGreaterEqual(totals["bytes_written"], data)  # and HDF5's own account of the file
            self.assertLess(totals["bytes_written"], 1.1 * data)
            self.assertGreaterEqual(totals["bytes_read"], data)
            self.assertLess(totals["bytes_read"], 1.1 * data)

    def test_another_hdf5_of_the_same_name_comes_first_in_the_search_path(self):
        """The recorder's HDF5 is the one that it was built with, whatever a module file has put in front of it."""
        foreign = self.directory / "lib"
        foreign.mkdir()
        for name in ("libhdf5_serial.so.103", "libhdf5_serial_hl.so.100", "libhdf5.so.103", "libhdf5_hl.so.100"):
            os.symlink("/lib/x86_64-linux-gnu/libm.so.6", foreign / name)
        finished = self.mpirun(1, [PROGRAMS / "dies", 5, "finalize"], HALCYON_OUTPUT=self.directory / "run.h5",
                               LD_LIBRARY_PATH=foreign)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(halcyon_test.Profile(self.directory / "run.h5").boundaries, 5)
        info = self.halcyon("info", "run.h5", LD_LIBRARY_PATH=str(foreign))
        self.assertEqual((info.status, info.errors), (0, ""), info)


if __name__ == "__main__":
    if not PROGRAM.exists():
        halcyon_test.skip("no parallel HDF5 for this MPI (libhdf5-openmpi-dev, libhdf5-mpich-dev)")
    halcyon_test.main()
