"""`halcyon validate`: runs quietly and disturbed, and what was measured beside what was estimated."""
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, PYTHON

PROGRAM = EXAMPLES / "cg"
LAUNCH = ("mpirun", "--oversubscribe", "-np", "2")
TRUTHS = ["measured", "without_displacement", "with_background", "at_equal_speed"]


def processes_that_name(text):
    """Processes, this one aside, with the text in their command line; a forked child keeps its parent's."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if int(directory.name) != os.getpid() and text in (directory / "cmdline").read_text():
                found.append(directory.name)
        except OSError:
            pass  # it has ended
    return found


class Validate(halcyon_test.Behaviour):

    def validate(self, *options, program=(PROGRAM, "1")):
        return self.halcyon("validate", "-o", "out", *options, "--", *LAUNCH, *program)

    def check_refused(self, finished, *names):
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        for name in names:
            self.assertIn(str(name), finished.errors)

    def test_everything_that_it_promises_is_there_and_fits_together(self):
        finished = self.validate("--levels", "3", "--runs", "1", "--hog", "1", "--background", "0.1", "--seed", "5")
        self.assertEqual(finished.status, 0, finished)
        out = self.directory / "out"
        self.assertEqual({path.name for path in out.iterdir()},
                         {f"{run}.{kind}" for run in ("calibration-quiet", "calibration-calls", "run-1", "run-2", "run-3", "run-4")
                          for kind in ("h5", "log")} | {"validation.json", "runs.svg", "probability.svg", "accuracy.svg"})
        for figure in out.glob("*.svg"):
            self.check_figure(figure)
        results = json.loads((out / "validation.json").read_text())
        self.check_results(results)
        self.check_runs(results["runs"])
        self.check_table(finished.output, results)
        self.assertEqual(processes_that_name(str(self.directory)), [])

    def check_figure(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        styled = set(re.findall(r"\.([\w-]+)\{", path.read_text()))
        used = {name for element in root.iter() for name in element.get("class", "").split()}
        self.assertLessEqual(used, styled, path)

    def check_results(self, results):
        self.assertEqual(list(results), ["command", "ranks", "hosts", "counter", "levels", "runs_per_level", "hog_runs", "seed",
                                         "calibration", "ended_early", "fastest_run", "background_percent", "methods", "runs"])
        # Each of three solves makes one Allreduce, then 50 times the five calls of the exchange and two Allreduces, on
        # either rank.
        calibration = results["calibration"]
        self.assertEqual(calibration["segments"], 3 * (1 + 50 * 2) + 1)
        self.assertEqual(round(calibration["calls"]), 2 * 3 * (1 + 50 * (5 + 2)))
        methods = self.report("out/run-1.h5")["methods"]
        self.assertEqual(list(results["methods"]), list(methods))
        for method in results["methods"].values():
            self.assertEqual(list(method), TRUTHS)
            for summary in method.values():
                self.assertEqual(list(summary), ["judged", "judged_percent", "accuracy", "difference_points",
                                                 "interval_coverage_percent"])

    def check_runs(self, runs):
        self.assertEqual(sorted(run["kind"] for run in runs), ["hog", "injected", "injected", "quiet"])
        least = min(run["run_time_seconds"] for run in runs)
        for number, run in enumerate(runs, 1):
            profile = halcyon_test.Profile(self.directory / "out" / f"run-{number}.h5")
            self.assertEqual((run["run"], run["profile"]), (number, f"run-{number}.h5"))
            self.assertAlmostEqual(run["truths"]["measured"]["percent"],
                                   100 * (1 - least / run["run_time_seconds"]), places=6)
            # What each run says of itself is what the report of its profile says.
            report = self.report(f"out/run-{number}.h5")
            self.assertEqual(run["run_time_seconds"], report["run_time_seconds"])
            for name, method in report["methods"].items():
                self.assertEqual(run["methods"][name]["interference_percent"], method["interference_percent"])
            if run["kind"] == "injected":
                self.assertEqual(profile.attributes["inject"], f"{run['spec']} seed={run['seed']}")
                self.assertGreater(run["injected_percent"], 0)
            else:
                self.assertEqual((profile.attributes["inject"], run["spec"], run["injected_percent"]), ("", None, None))

    def check_table(self, table, results):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")]
        methods = list(results["methods"])
        self.assertEqual(rows[0][:3], ["method", "against", "judged"])
        self.assertEqual([row[0].strip("`") for row in rows[2:2 + len(TRUTHS) * len(methods)]],
                         [name for name in methods for _ in TRUTHS])
        runs = rows[2 + len(TRUTHS) * len(methods):]
        self.assertEqual(runs[0][0], "run")
        self.assertEqual(sorted(int(row[0]) for row in runs[2:]), [1, 2, 3, 4])
        self.assertEqual({len(row) for row in runs}, {len(runs[0])})

    def test_a_directory_with_something_in_it_is_left_alone(self):
        (self.directory / "out").mkdir()
        (self.directory / "out" / "notes").write_text("precious")
        self.check_refused(self.validate(), "out", "not empty")
        self.assertEqual([path.name for path in (self.directory / "out").iterdir()], ["notes"])

    def test_a_directory_that_cannot_be_made_is_named(self):
        (self.directory / "out").write_text("a file")
        self.check_refused(self.validate(), "out", "not a directory")
        finished = self.halcyon("validate", "-o", "nowhere/out", "--", *LAUNCH, PROGRAM)
        self.check_refused(finished, "nowhere/out", "No such file")

    def test_bad_usage_is_told_before_anything_runs(self):
        self.check_refused(self.halcyon("validate", "-o", "out"), "no launch command")
        self.check_refused(self.halcyon("validate", "--", *LAUNCH, PROGRAM), "--output")
        self.check_refused(self.halcyon("validate", "-o", "out", "--", "echo", "ran"), "echo")
        self.check_refused(self.validate("--levels", "1"), "--levels")
        self.check_refused(self.validate("--class", "disk"), "--class", "disk")
        self.check_refused(self.validate("--class", "all,sd=1us"), "--class", "sd=1us")
        self.check_refused(self.halcyon("validate", "-o", "", "--", *LAUNCH, PROGRAM), "-o")
        self.check_refused(self.halcyon("validate", "-o", "out{np}", "--", *LAUNCH, PROGRAM), "-o", "{")
        self.assertFalse((self.directory / "out").exists())

    def test_a_program_that_fails_is_named_with_its_log_and_what_it_said(self):
        code = "from mpi4py import MPI; import sys; print('no input file'); MPI.Finalize(); sys.exit(7)"
        finished = self.validate(program=(PYTHON, "-c", code))
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertIn("no input file", finished.errors)
        last = finished.errors.splitlines()[-1]
        for words in ("status 7", "sys.exit(7)", str(self.directory / "out" / "calibration-quiet.log")):
            self.assertIn(words, last)

    def series_whose_fourth_run(self, does):
        """Of a program with 60 boundaries, of which two runs are for calibration."""
        code = ("from mpi4py import MPI; import sys; world = MPI.COMM_WORLD; made = open('made', 'a+');"
                "world.rank == 0 and made.write('x'); made.flush(); run = world.bcast(made.tell());"
                f"{does}; [world.Barrier() for i in range(60)]")
        finished = self.validate("--levels", "3", "--runs", "1", "--background", "0.1", program=(PYTHON, "-c", code))
        self.assertEqual(finished.status, 2, finished)
        results = json.loads((self.directory / "out" / "validation.json").read_text())
        self.assertEqual([run["run"] for run in results["runs"]], [1])
        self.assertIn(results["ended_early"], finished.errors.splitlines()[-1])
        return results["ended_early"]

    def test_a_series_that_fails_in_the_middle_is_evaluated_as_far_as_it_came(self):
        self.assertIn("run-2 ended with status 7", self.series_whose_fourth_run("run == 4 and (MPI.Finalize(), sys.exit(7))"))

    def test_a_run_that_did_other_work_ends_the_series(self):
        reason = self.series_whose_fourth_run("run == 4 and [world.Barrier() for i in range(30)]")
        for words in ("run-2 had 91 segments", "61"):
            self.assertIn(words, reason)

    def test_a_program_without_boundaries_is_told_so(self):
        finished = self.validate(program=(PYTHON, "-c", "from mpi4py import MPI"))
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertIn("no boundaries", finished.errors.splitlines()[-1])

    def test_calls_that_the_program_never_makes_are_told(self):
        finished = self.validate("--class", "mpiio")
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertIn("--class mpiio", finished.errors.splitlines()[-1])

    def test_an_interrupted_series_leaves_no_hog_behind(self):
        command = [HALCYON, "validate", "-o", self.directory / "out", "--levels", "2", "--runs", "1", "--hog", "5",
                   "--", *LAUNCH, PROGRAM, "1"]
        with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True, cwd=self.directory,
                              stdin=subprocess.DEVNULL, env=halcyon_test.clean_environment()) as running:
            for line in running.stderr:
                if "(hog)" in line:
                    break
            running.send_signal(signal.SIGTERM)
            rest = running.stderr.read()
            self.assertEqual(running.wait(halcyon_test.TIME_LIMIT), -signal.SIGTERM, rest)
        end = time.monotonic() + halcyon_test.TIME_LIMIT
        while processes_that_name(str(self.directory)) and time.monotonic() < end:
            pass  # the kernel ends the hog with its parent, but need not have done so yet
        self.assertEqual(processes_that_name(str(self.directory)), [])


if __name__ == "__main__":
    halcyon_test.main()
