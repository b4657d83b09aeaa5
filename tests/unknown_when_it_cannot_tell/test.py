"""If a profile does not allow a verdict, the answer is `unknown`, with the reason."""
import shutil
from pathlib import Path

import halcyon_test
from halcyon_test import MPI, PYTHON

MELT = Path("/usr/share/lammps/examples/melt/in.melt")
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")

VERDICT_IS_UNKNOWN = 4  # exit status of `report --fail-on`
LEAST_COVERAGE = 50.0  # percent, for a verdict


class UnknownWhenItCannotTell(halcyon_test.Behaviour):

    def check(self, ranks, command, code):
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(ranks), *command)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("halcyon: unknown", finished.errors)
        report = self.report("run.h5")
        self.assertEqual(report["verdict"], "unknown")
        self.assertEqual([warning["code"] for warning in report["warnings"]][:1], [code])
        text = self.halcyon("report", "run.h5", "--fail-on", "red")
        self.assertEqual(text.status, VERDICT_IS_UNKNOWN)
        self.assertTrue(text.output.startswith("UNKNOWN"), text)
        return report

    def test_hpcc_strings_benchmarks_together_that_do_not_repeat(self):
        if shutil.which("hpcc") is None or not HPCC_INPUT.exists():
            self.skipTest("no hpcc")
        shutil.copy(HPCC_INPUT, self.directory / "hpccinf.txt")
        report = self.check(4, ["hpcc"], "low-coverage")
        self.assertLess(report["coverage_percent"], LEAST_COVERAGE)

    def test_the_packaged_melt_is_too_short(self):
        if shutil.which("lmp") is None or not MELT.exists():
            self.skipTest("no LAMMPS with its examples")
        shutil.copy(MELT, self.directory)
        self.check(2, ["lmp", "-in", "in.melt", "-log", "none", "-screen", "none"], "low-coverage")

    def test_a_program_without_boundaries_has_nothing_to_compare(self):
        self.check(2, [PYTHON, "-c", "from mpi4py import MPI; MPI.COMM_WORLD.bcast(0)"], "no-boundaries")


if __name__ == "__main__":
    halcyon_test.main()
