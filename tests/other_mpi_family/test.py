"""The libraries for one MPI family, preloaded into a program of the other, say so in one line and leave it alone."""
import unittest

import halcyon_test
from halcyon_test import EXAMPLES, LIBRARY, MPI, MPICH, OPEN_MPI, OTHER_MPI, library_of

RECORDER = library_of(OTHER_MPI, "halcyon")
INJECTOR = library_of(OTHER_MPI, "intm")


@unittest.skipUnless(MPI.runs_every_call, "the library crashes in examples/every_call.c")
class OtherMpiFamily(halcyon_test.Behaviour):

    def check(self, library, **environment):
        # The program calls every function that is wrapped, and fails if an argument does not get through.
        program = [EXAMPLES / "every_call", self.directory]
        plain = self.mpirun(2, program, preload=())
        finished = self.mpirun(2, program, preload=[library], **environment)
        self.assertEqual((finished.status, finished.output), (0, plain.output), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        for name in (MPI.interface, OTHER_MPI.interface, library.name):
            self.assertIn(name, finished.errors)

    def test_the_recorder_stands_aside(self):
        self.check(RECORDER, HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertFalse((self.directory / "run.h5").exists())

    def test_the_injector_stands_aside(self):
        self.check(INJECTOR, INTM_SPEC="class=all,prob=1,mean=1s")


class OlderLibrary(halcyon_test.Behaviour):
    """The library for an older version of the same family records the program, and says what it does not know."""

    def test_the_recorder_names_the_library_that_knows_all_functions(self):
        older = next((library_of(family, "halcyon") for family in (OPEN_MPI, MPICH) if family.interface == MPI.interface),
                     LIBRARY)
        if older == LIBRARY:
            self.skipTest("there is no library for an older version")
        output = self.directory / "run.h5"
        finished = self.mpirun(2, [EXAMPLES / "halo_c", "100"], preload=[older], HALCYON_OUTPUT=output)
        self.assertEqual((finished.status, len(finished.errors.splitlines())), (0, 1), finished)
        self.assertIn(f"{older.name} does not know the newest functions of", finished.errors)
        self.assertIn(f"preload {LIBRARY.name}", finished.errors)
        self.assertTrue(output.exists())


if __name__ == "__main__":
    if not RECORDER.exists():
        halcyon_test.skip("built for one MPI family only")
    halcyon_test.main()
