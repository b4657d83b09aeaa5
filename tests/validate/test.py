"""`halcyon validate`: runs quietly and disturbed, and what was measured beside what was estimated."""
import json
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, PYTHON

PROGRAM = EXAMPLES / "cg"
LAUNCH = ("mpirun", "--oversubscribe", "-np", "2")
TRUTHS = ["measured", "without_displacement", "with_background", "at_equal_speed", "paired"]
DISTURBER = "cpu:bursts:200ms,200ms"


class Validate(halcyon_test.Behaviour):

    def validate(self, *options, program=(PROGRAM, "1")):
        return self.halcyon("validate", "-o", "out", *options, "--", *LAUNCH, *program)

    def check_refused(self, finished, *names):
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        for name in names:
            self.assertIn(str(name), finished.errors)

    def test_everything_that_it_promises_is_there_and_fits_together(self):
        finished = self.validate("--levels", "3", "--runs", "1", "--disturb", DISTURBER, "--background", "0.1", "--seed", "5",
                                 "--anyway")
        self.assertEqual(finished.status, 0, finished)
        out = self.directory / "out"
        self.assertEqual({path.name for path in out.iterdir()},
                         {f"{run}.{kind}" for run in ("calibration-quiet", "calibration-calls", *(f"run-{i}" for i in range(1, 9)))
                          for kind in ("h5", "log")} |
                         {"series.json", "validation.json", "validation.md", "runs.svg", "probability.svg", "accuracy.svg"})
        series = json.loads((out / "series.json").read_text())
        self.assertEqual({run["state"] for run in series["runs"]}, {"recorded"})
        self.assertEqual([run["profile"] for run in series["runs"][2:]], [f"run-{i}.h5" for i in range(1, 9)])
        for figure in out.glob("*.svg"):
            self.check_figure(figure)
        results = json.loads((out / "validation.json").read_text())
        self.check_results(results)
        self.check_runs(results["runs"])
        self.check_table((out / "validation.md").read_text(), results)
        self.check_text(finished.output, results)
        self.check_nothing_runs_on()

    def check_figure(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        styled = set(re.findall(r"\.([\w-]+)\{", path.read_text()))
        used = {name for element in root.iter() for name in element.get("class", "").split()}
        self.assertLessEqual(used, styled, path)

    def check_results(self, results):
        self.assertEqual(list(results), ["command", "ranks", "hosts", "counter", "levels", "runs_per_level", "hog_runs", "disturbers", "seed",
                                         "calibration", "ended_early", "fastest_run", "background_percent",
                                         "paired_at_equal_speed", "valid", "noise", "methods", "runs"])
        self.assertEqual((results["disturbers"], results["hog_runs"]), ([DISTURBER], 1))
        self.assertEqual(results["noise"]["quiet_runs"], 5)
        self.assertEqual(results["valid"], results["noise"]["objection"] is None)
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
                                                 "interval_coverage_percent", "interval_coverage_as_known_percent"])

    def check_runs(self, runs):
        kinds = [run["kind"] for run in runs]
        self.assertEqual([kind == "quiet" for kind in kinds], [True, True, True, False, False, True, False, True])
        self.assertEqual(sorted(kinds), ["disturbed", "injected", "injected"] + 5 * ["quiet"])
        self.check_pairs(runs)
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
            self.assertEqual(run["disturber"], DISTURBER if run["kind"] == "disturbed" else None)
            self.assertEqual("of CPU time" in str(run["disturbance"]), run["kind"] == "disturbed")

    def check_pairs(self, runs):
        """The truth of the last but one, which lies between two quiet runs, in seconds or in quanta."""
        before, run, after = runs[-3:]
        place = ((run["middle_seconds"] - before["middle_seconds"]) / (after["middle_seconds"] - before["middle_seconds"]))
        self.assertTrue(0 < place < 1)

        def percent(time):
            quiet = time(before) + place * (time(after) - time(before))
            return round(100 * (1 - quiet / time(run)), 6)

        truth = run["truths"]["paired"]
        self.assertIn(round(truth["percent"], 6), (percent(lambda run: run["run_time_seconds"]),
                                                   percent(lambda run: run["run_time_seconds"] / run["quantum_seconds"])))
        self.assertGreater(truth["uncertainty_points"], 0)

    def check_table(self, table, results):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")]
        methods = list(results["methods"])
        self.assertEqual(rows[0][:3], ["method", "against", "judged"])
        self.assertEqual([row[0].strip("`") for row in rows[2:2 + len(TRUTHS) * len(methods)]],
                         [name for name in methods for _ in TRUTHS])
        runs = rows[2 + len(TRUTHS) * len(methods):]
        self.assertEqual(runs[0][0], "run")
        self.assertEqual(sorted(int(row[0]) for row in runs[2:]), list(range(1, 9)))
        self.assertEqual({len(row) for row in runs}, {len(runs[0])})

    def check_text(self, text, results):
        """What is printed has a line for each method and for each run, and fits a terminal."""
        first = [line.split()[0] for line in text.splitlines() if line.strip()]
        for name in [*results["methods"], *map(str, range(1, 9))]:
            self.assertEqual(first.count(name), 1, text)
        self.assertIn(DISTURBER, text)
        # The command has the test's directory in it, in one word.
        self.assertLessEqual(max(len(line) for line in text.splitlines() if str(PROGRAM) not in line), 80, text)

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
        self.check_refused(self.validate("--levels", "0"), "--levels")
        self.check_refused(self.validate("--levels", "1"), "--levels", "--disturb")
        self.check_refused(self.validate("--disturb", "gpu"), "--disturb", "gpu", "memory")
        self.check_refused(self.validate("--disturb", "cpu:never"), "--disturb", "never", "periodic")
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

    def series_that_takes_other_times(self, *options):
        """Of a program that takes from hardly anything to a second, by turns."""
        code = ("from mpi4py import MPI; import time; world = MPI.COMM_WORLD; made = open('made', 'a+');"
                "world.rank == 0 and made.write('x'); made.flush(); run = world.bcast(made.tell());"
                "[(time.sleep(0.02 * (run % 3)), world.Barrier()) for i in range(60)]")
        finished = self.validate("--levels", "2", "--runs", "1", "--background", "0", *options, program=(PYTHON, "-c", code))
        results = json.loads((self.directory / "out" / "validation.json").read_text())
        self.assertFalse(results["valid"])
        self.assertIn("quiet runs differ", results["noise"]["objection"])
        self.assertIn("NOT VALID", finished.output)
        return finished, results

    def test_a_machine_that_is_too_noisy_is_told_so_instead_of_measured(self):
        finished, results = self.series_that_takes_other_times()
        self.assertEqual(finished.status, 5, finished)
        self.assertEqual([run["kind"] for run in results["runs"]], 3 * ["quiet"])
        for words in ("too noisy", results["noise"]["objection"]):
            self.assertIn(words, results["ended_early"])
        self.assertIn("--anyway", finished.errors.splitlines()[-1])

    def test_it_is_measured_anyway_where_that_is_wanted(self):
        finished, results = self.series_that_takes_other_times("--anyway")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual((len(results["runs"]), results["ended_early"]), (5, None))
        self.assertIn("not valid", finished.errors.splitlines()[-1])

    def test_a_series_is_of_disturbers_alone_where_that_is_wanted(self):
        finished = self.validate("--levels", "1", "--runs", "1", "--disturb", "memory:periodic:50ms,50ms", "--disturb",
                                 "disk:part", "--background", "0", "--anyway")
        self.assertEqual(finished.status, 0, finished)
        runs = json.loads((self.directory / "out" / "validation.json").read_text())["runs"]
        self.assertEqual(sorted(run["disturber"] for run in runs if run["kind"] == "disturbed"),
                         ["disk:part:25%..75%", "memory:periodic:50ms,50ms"])

    def test_an_interrupted_series_leaves_no_disturber_behind(self):
        command = [HALCYON, "validate", "-o", self.directory / "out", "--levels", "1", "--runs", "5", "--disturb", "cpu",
                   "--anyway", "--", *LAUNCH, PROGRAM, "1"]
        with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True, cwd=self.directory,
                              stdin=subprocess.DEVNULL, env=halcyon_test.clean_environment()) as running:
            for line in running.stderr:
                if "(cpu:throughout)" in line:
                    break
            running.send_signal(signal.SIGTERM)
            rest = running.stderr.read()
            self.assertEqual(running.wait(halcyon_test.TIME_LIMIT), -signal.SIGTERM, rest)
        self.check_nothing_runs_on()


if __name__ == "__main__":
    halcyon_test.main()
