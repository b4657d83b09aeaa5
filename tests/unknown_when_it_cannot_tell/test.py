"""If a profile does not allow a verdict, the answer is `unknown`, with the reason."""
import shutil
from pathlib import Path

import halcyon_test
from halcyon_test import MPI, PYTHON

HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")

VERDICT_IS_UNKNOWN = 4  # exit status of `report --fail-on`
LEAST_COVERAGE = 50.0  # percent, for a verdict


class UnknownWhenItCannotTell(halcyon_test.Behaviour):

    def check(self, ranks, command, code):
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(ranks), *command)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("halcyon: UNKNOWN ", finished.errors)
        report = self.report("run.h5")
        self.assertEqual(report["verdict"], "unknown")
        self.assertEqual([warning["code"] for warning in report["warnings"]][:1], [code])
        text = self.halcyon("report", "run.h5", "--fail-on", "red")
        self.assertEqual(text.status, VERDICT_IS_UNKNOWN)
        self.assertTrue(text.output.startswith("UNKNOWN"), text)
        return report

    def test_benchmarks_that_do_not_repeat_are_judged_by_what_they_computed(self):
        if shutil.which("hpcc") is None or not HPCC_INPUT.exists():
            self.skipTest("no hpcc")
        shutil.copy(HPCC_INPUT, self.directory / "hpccinf.txt")
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(2), "hpcc")
        self.assertEqual(finished.status, 0, finished)
        self.assertGreater(self.report("run.h5")["coverage_percent"], LEAST_COVERAGE)
        self.assertIn("what the kernel counted", " ".join(self.halcyon("report", "run.h5").output.split()))

    def test_few_steps_in_which_ranks_sleep(self):
        steps = "import time\nfor i in range(5):\n time.sleep(0.1)\n MPI.COMM_WORLD.Barrier()"
        self.check(2, [PYTHON, "-c", f"from mpi4py import MPI\n{steps}"], "too-few-segments")

    def test_a_program_that_sleeps_and_has_no_boundaries(self):
        self.check(2, [PYTHON, "-c", "from mpi4py import MPI; import time; time.sleep(0.5)"], "no-boundaries")

    def test_a_program_without_boundaries_that_computes_is_judged(self):
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(1), PYTHON, "-c",
                                "from mpi4py import MPI; sum(range(10_000_000))")
        self.assertEqual(finished.status, 0, finished)
        report = self.report("run.h5")
        self.assertEqual(report["segments"], 1)
        self.assertGreater(report["coverage_percent"], LEAST_COVERAGE)


if __name__ == "__main__":
    halcyon_test.main()
