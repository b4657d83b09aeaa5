"""A second PMPI tool in the same process, preloaded before Halcyon or after it: both see every call once."""
import halcyon_test
from halcyon_test import EXAMPLES, INJECTOR, LIBRARY, PROGRAMS, Profile

TOOL = PROGRAMS / "libtool.so"
PROGRAM = [EXAMPLES / "halo_c", "40"]  # enough boundaries: of fewer, steps may end segments, if they take long
# controls.c
ALLREDUCES, WHILE_HALTED = 30, 10


class StacksWithOtherTools(halcyon_test.Behaviour):

    def check(self, *libraries):
        alone = self.record(2, PROGRAM)
        tool_alone = self.mpirun(2, PROGRAM, preload=[TOOL])
        together = self.mpirun(2, PROGRAM, preload=libraries, HALCYON_OUTPUT=self.directory / "together.h5")
        self.assertIn("tool: ", tool_alone.output)
        self.assertEqual(together, tool_alone)
        profile = Profile(self.directory / "together.h5")
        self.assertEqual(profile.boundaries, alone.boundaries)
        self.assertEqual([profile.totals(rank) for rank in range(2)], [alone.totals(rank) for rank in range(2)])

    def test_a_tool_that_the_program_halts_by_pcontrol_is_halted_and_ours_is_not(self):
        program = [PROGRAMS / "controls"]
        for libraries in ((LIBRARY, TOOL), (TOOL, LIBRARY)):
            with self.subTest(first=libraries[0].name):
                path = self.directory / f"{libraries[0].name}.h5"
                finished = self.mpirun(2, program, preload=libraries, HALCYON_OUTPUT=path)
                counted = f"tool: {ALLREDUCES - WHILE_HALTED}\n"
                self.assertEqual((finished.status, finished.output, finished.errors), (0, counted, ""), finished)
                self.assertEqual(Profile(path).boundaries, ALLREDUCES)

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
