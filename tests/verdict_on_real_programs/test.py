"""LAMMPS, left alone and with known delays: the verdict must follow, and the estimate must be near what was injected.

How near the estimate comes to the measured increase of the run time is a figure of `halcyon validate`, not a test: it needs a
machine whose noise is known. What intM added is known exactly, on any machine.
"""
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import SOURCE

SPEC = "class=all,prob=0.0003,mean=50ms,sd=5ms"
PACKAGED = Path("/usr/share/lammps/examples")
# Draws that add well over 15 % to each of the programs: of some ten delays in a short run chance may leave fewer, and
# yellow would be right.
SEED = "6"
QUIET_TRIES = 5  # a neighbour may disturb a run; it does not disturb all of them


class VerdictOnRealPrograms(halcyon_test.Behaviour):

    def lammps(self, directory, script, name, *options, **environment):
        for path in directory.iterdir():
            if path.is_file():
                shutil.copy(path, self.directory)
        finished = self.halcyon("run", "-o", f"{name}.h5", *options, "--", "mpirun", "--oversubscribe", "-np", "2",
                                "lmp", "-in", script, "-log", "none", "-screen", "none", **environment)
        self.assertEqual(finished.status, 0, finished)
        return self.report(f"{name}.h5")

    def check(self, directory, script):
        disturbed = self.lammps(directory, script, "disturbed", "--inject", SPEC, INTM_SEED=SEED)
        self.assertEqual(disturbed["verdict"], "red", disturbed)
        self.assertGreaterEqual(disturbed["coverage_percent"], 90.0, disturbed)
        self.assertGreater(disturbed["interference_percent"], disturbed["injected_percent"] - 5.0, disturbed)
        alone = 0
        for attempt in range(QUIET_TRIES):
            before = halcyon_test.foreign_cpu_seconds()
            quiet = self.lammps(directory, script, f"quiet{attempt}")
            foreign = (halcyon_test.foreign_cpu_seconds() - before) / quiet["run_time_seconds"]
            self.assertGreaterEqual(quiet["coverage_percent"], 90.0, quiet)
            self.assertIsNone(quiet["injected_percent"])
            if quiet["verdict"] in ("green", "yellow"):
                return
            alone += foreign < halcyon_test.MOST_FOREIGN_CPU
        if alone == 0:
            self.skipTest(f"others used the processors during each of {QUIET_TRIES} runs; red was right")
        self.fail(f"all of {QUIET_TRIES} quiet runs are {quiet['verdict']}: {quiet}")

    def test_a_lennard_jones_melt_is_told_disturbed_from_quiet(self):
        self.check(SOURCE / "examples", "lj.in")

    def test_peptide_is_told_disturbed_from_quiet(self):
        self.check(PACKAGED / "peptide", "in.peptide")

    def test_peptide_is_red_where_a_quarter_of_all_calls_is_delayed_and_no_segment_spared(self):
        disturbed = self.lammps(PACKAGED / "peptide", "in.peptide", "disturbed",
                                "--inject", "class=all,prob=0.26,mean=77us,sd=15us", INTM_SEED=SEED)
        self.assertEqual(disturbed["verdict"], "red", disturbed)
        self.assertEqual(disturbed["methods"]["paper"]["verdict"], "green", disturbed)
        self.assertGreater(disturbed["interference_percent"], disturbed["injected_percent"] - 3.0, disturbed)

    def test_crack_is_told_disturbed_from_quiet(self):
        self.check(PACKAGED / "crack", "in.crack")

    def test_shear_is_told_disturbed_from_quiet(self):
        self.check(PACKAGED / "shear", "in.shear")


if __name__ == "__main__":
    if shutil.which("lmp") is None or not PACKAGED.is_dir():
        halcyon_test.skip("no LAMMPS with its examples")
    halcyon_test.main()
