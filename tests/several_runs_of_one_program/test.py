"""Several runs of LAMMPS: `compare` sees delays of all segments, which no single run shows, and `compose` leaves out
delays of some segments.

The runs have one rank, whose medians hardly change when others use the machine. Those of ranks that wait for each other
do. The results are compared with the delays that intM recorded.
"""
import json
import shutil

import halcyon_test
from halcyon_test import EXAMPLES, MPI, SOURCE, TOTALS, Profile

STEPS = 600
EVERY_SEGMENT = "class=collective,prob=1,mean=5ms"
SOME_SEGMENTS = "class=collective,prob=0.02,mean=50ms"
LAMMPS = ("lmp", "-in", "short.in", "-log", "none", "-screen", "none")


class SeveralRuns(halcyon_test.Behaviour):

    def run_of(self, name, *options, program=LAMMPS, **environment):
        melt = (SOURCE / "examples" / "lj.in").read_text()
        (self.directory / "short.in").write_text(melt.replace("run             3000", f"run {STEPS}"))
        finished = self.halcyon("run", "-o", name, *options, "--", *MPI.launch(1), *program,
                                **environment)
        self.assertEqual(finished.status, 0, finished)

    def compare(self, a, b):
        finished = self.halcyon("compare", a, b, "--json", "-")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return json.loads(finished.output)


class WorkOfRuns(SeveralRuns):
    """The times of the runs do not count."""

    quiet = {}  # profiles by name. Each is recorded once, and every test has a copy of its own

    def quiet_runs(self, *names):
        for name in names:
            if name not in self.quiet:
                self.run_of(name)
                self.quiet[name] = (self.directory / name).read_bytes()
            (self.directory / name).write_bytes(self.quiet[name])

    def test_two_runs_of_a_program_are_the_same_work(self):
        self.quiet_runs("a.h5", "b.h5")
        compared = self.compare("a.h5", "b.h5")
        self.assertTrue(compared["same_work"], compared)
        self.assertEqual(compared["a"]["shared_percent"], 100.0)
        self.assertGreater(len(compared["groups"]), 3)
        self.assertTrue(self.halcyon("compare", "a.h5", "b.h5").output.startswith("SAME WORK  "))

    def test_different_programs_are_not_the_same_work(self):
        self.quiet_runs("a.h5")
        self.run_of("halo.h5", program=(EXAMPLES / "halo_c", "2000"))
        compared = self.compare("a.h5", "halo.h5")
        self.assertFalse(compared["same_work"])
        self.assertEqual(compared["difference"]["code"], "other-calls")
        self.assertIn("halo_c", compared["difference"]["b"])
        self.assertIsNone(compared["displacement_seconds"])
        self.assertTrue(self.halcyon("compare", "a.h5", "halo.h5").output.startswith("OTHER WORK  "))
        refused = self.halcyon("compose", "-o", "composed.h5", "a.h5", "halo.h5")
        self.assertEqual((refused.status, refused.output), (2, ""), refused)
        self.assertEqual(len(refused.errors.splitlines()), 1, refused)
        self.assertIn("a.h5 and halo.h5 did not do the same work", refused.errors)
        self.assertFalse((self.directory / "composed.h5").exists())

    def test_a_composed_profile_replaces_no_file_and_is_not_composed_again(self):
        self.quiet_runs("a.h5", "b.h5")
        self.assertEqual(self.halcyon("compose", "-o", "composed.h5", "a.h5", "b.h5").status, 0)
        before = (self.directory / "composed.h5").read_bytes()
        for output, files, reason in (("composed.h5", ["a.h5", "b.h5"], "composed.h5 exists"),
                                      ("again.h5", ["a.h5", "composed.h5"], "composed.h5 is not a complete run"),
                                      ("again.h5", ["a.h5"], "two profiles or more"),
                                      ("again.h5", ["a.h5", "missing.h5"], "missing.h5")):
            with self.subTest(reason):
                refused = self.halcyon("compose", "-o", output, *files)
                self.check_refused(refused)
                self.assertIn(reason, refused.errors)
        self.assertEqual((self.directory / "composed.h5").read_bytes(), before)
        self.assertFalse((self.directory / "again.h5").exists())


class TimesOfRuns(SeveralRuns):
    """Delays are found in the times of the runs, so nothing else should run."""

    def injected_seconds(self, name):
        """The delays that were asked for. On a busy machine some of them become longer."""
        return float(Profile(self.directory / name).columns["injected_requested"].sum())

    def test_delays_of_every_segment_are_seen_against_a_quiet_run(self):
        self.check_left_alone(self.check_against_a_quiet_run)

    def check_against_a_quiet_run(self, attempt):
        quiet, slow, again = f"quiet{attempt}.h5", f"slow{attempt}.h5", f"again{attempt}.h5"
        self.run_of(quiet)
        self.run_of(slow, "--inject", EVERY_SEGMENT)
        self.run_of(again)
        injected = self.injected_seconds(slow)
        alone = self.report(slow)
        self.assertGreater(alone["injected_percent"], 30.0, "the test needs delays that are a large part of the run")
        self.assertLess(alone["methods"]["paper"]["interference_percent"], alone["injected_percent"] / 3, alone)
        # Neighbours of a virtual machine slow it down, too: by as much as two quiet runs differ.
        tolerance = 0.25 * injected + abs(self.compare(again, quiet)["displacement_seconds"])
        compared = self.compare(slow, quiet)
        self.assertTrue(compared["same_work"], compared)
        self.assertEqual(compared["more_disturbed"], "a", compared)
        self.assertAlmostEqual(compared["displacement_seconds"], injected, delta=tolerance, msg=compared)
        turned = self.compare(quiet, slow)
        self.assertEqual(turned["more_disturbed"], "b", turned)
        self.assertLess(turned["displacement_seconds"], tolerance - injected, turned)

    def test_disturbed_runs_are_composed_into_an_undisturbed_one(self):
        # Where all three runs were delayed in the few segments that are alike, the delays stay: in one try of five.
        self.check_left_alone(self.check_composed_of_disturbed_runs, tries=6)

    def check_composed_of_disturbed_runs(self, attempt):
        composed_file = f"composed{attempt}.h5"
        names = [f"{number}{attempt}.h5" for number in ("one", "two", "three")]
        for seed, name in enumerate(names, start=1):
            self.run_of(name, "--inject", SOME_SEGMENTS, INTM_SEED=str(seed))
        finished = self.halcyon("compose", "-o", composed_file, *names)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)

        runs = [Profile(self.directory / name) for name in names]
        composed = Profile(self.directory / composed_file)
        self.assertEqual(composed.attributes["exit_state"], "composed")
        self.assertEqual([name.decode() for name in composed.columns["composed_of"]], names)
        given = [int((composed.columns["source"] == run).sum()) for run in range(len(names))]
        skeleton = runs[given.index(max(given))]
        self.assertEqual(composed.segments, skeleton.segments)
        self.assertEqual(composed.sites(), skeleton.sites())
        self.assertEqual(composed.totals(0), skeleton.totals(0))
        for feature in TOTALS:
            self.assertEqual(composed.values(feature), skeleton.values(feature), feature)
        for count, name in zip(given, names):
            self.assertRegex(finished.output, rf"\b{count} of {name},")

        # Neither intM nor, perhaps, others disturb it: it is no longer than the best run without its injected delays.
        undisturbed = min(run.attributes["run_time_seconds"] - self.injected_seconds(name)
                          for run, name in zip(runs, names))
        self.assertLess(composed.attributes["run_time_seconds"], 1.1 * undisturbed)
        self.assertGreater(composed.attributes["run_time_seconds"], 0.5 * undisturbed)
        report = self.report(composed_file)
        self.assertEqual(report["verdict"], "unknown", report)  # as for every composed profile
        self.assertLess(report["interference_percent"], 2.0, report)
        # A delay stays if too few segments are like the one that it is in.
        self.assertLess(self.injected_seconds(composed_file), 0.5 * min(map(self.injected_seconds, names)))
        warnings = [warning["code"] for warning in report["warnings"]]
        self.assertIn("composed", warnings)
        self.assertNotIn("incomplete-run", warnings)


if __name__ == "__main__":
    if shutil.which("lmp") is None:
        halcyon_test.skip("no LAMMPS")
    halcyon_test.main()
