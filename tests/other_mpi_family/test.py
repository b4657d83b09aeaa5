"""The libraries for one MPI family in a program of the other: said in one line, and the program is none the wiser."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import BUILD, EXAMPLES, IS_MPICH

OTHER = "" if IS_MPICH else "-mpich"
RECORDER = BUILD / "lib" / f"libhalcyon{OTHER}.so"
INJECTOR = BUILD / "lib" / f"libintm{OTHER}.so"


class OtherMpiFamily(halcyon_test.Behaviour):

    def check(self, library, **environment):
        # It calls every function that is wrapped, and fails where an argument did not get through.
        program = [EXAMPLES / "every_call", self.directory]
        plain = self.mpirun(2, program, preload=False)
        finished = self.mpirun(2, program, LD_PRELOAD=library, preload=False, **environment)
        self.assertEqual((finished.status, finished.output), (0, plain.output), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        for name in ("Open MPI", "MPICH", library.name):
            self.assertIn(name, finished.errors)

    def test_the_recorder_stands_aside(self):
        self.check(RECORDER, HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertFalse((self.directory / "run.h5").exists())

    def test_the_injector_stands_aside(self):
        self.check(INJECTOR, INTM_SPEC="class=all,prob=1,mean=1s")


if __name__ == "__main__":
    if not RECORDER.exists():
        halcyon_test.skip("built for one MPI family only")
    halcyon_test.main()
