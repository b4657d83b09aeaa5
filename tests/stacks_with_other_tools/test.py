"""A second PMPI tool in the same process, in front of ours or behind it: both see every call, once."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import EXAMPLES, INJECTOR, LIBRARY, PROGRAMS, exported

TOOL = PROGRAMS / "libtool.so"
PROGRAM = [EXAMPLES / "halo_c", "20"]


class StacksWithOtherTools(halcyon_test.Behaviour):

    def check(self, *libraries):
        alone = self.record(2, PROGRAM)
        tool_alone = self.mpirun(2, PROGRAM, preload=False, options=exported("LD_PRELOAD", TOOL))
        preload = ":".join(str(library) for library in libraries)
        together = self.mpirun(2, PROGRAM, preload=False, options=exported("LD_PRELOAD", preload),
                               HALCYON_OUTPUT=self.directory / "together.h5")
        self.assertIn("tool: ", tool_alone.output)
        self.assertEqual(together, tool_alone)
        profile = halcyon_test.Profile(self.directory / "together.h5")
        self.assertEqual(profile.boundaries, alone.boundaries)
        self.assertEqual([profile.totals(rank) for rank in range(2)], [alone.totals(rank) for rank in range(2)])

    def test_behind_ours(self):
        self.check(LIBRARY, TOOL)

    def test_in_front_of_ours(self):
        self.check(TOOL, LIBRARY)

    def test_between_recorder_and_injector(self):
        self.check(LIBRARY, TOOL, INJECTOR)

    def test_with_the_injector_in_front_of_the_recorder(self):
        self.check(INJECTOR, LIBRARY, TOOL)


if __name__ == "__main__":
    halcyon_test.main()
