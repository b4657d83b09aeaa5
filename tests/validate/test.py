"""`halcyon validate` runs a program quietly and disturbed, and compares what it measured with what is estimated."""
import json
import re
import signal
import subprocess
import xml.etree.ElementTree
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, MPI, PYTHON, TIME_LIMIT, Profile, check_schema

PROGRAM = EXAMPLES / "cg"
RANKS = 2
LAUNCH = MPI.launch(RANKS)
TRUTHS = ["measured", "without_displacement", "with_background", "at_equal_speed", "paired"]
DISTURBER = "cpu:bursts:200ms,200ms"
# What cg does
SOLVES, ITERATIONS = 3, 50
EXCHANGE_CALLS = 5  # of a rank in each iteration
ALLREDUCES = SOLVES * (1 + 2 * ITERATIONS)  # one before the iterations, and two in each
CALLS_OF_A_RANK = ALLREDUCES + SOLVES * ITERATIONS * EXCHANGE_CALLS
# A series of three levels with one run each and one disturber
KINDS_IN_ORDER = ["quiet", "quiet", "quiet", "slowed", "slowed", "quiet", "slowed", "quiet"]
RUNS = [f"run-{number}" for number in range(1, 1 + len(KINDS_IN_ORDER))]
CALIBRATION = ["calibration-quiet", "calibration-calls"]
FIGURES = ["runs.svg", "probability.svg", "accuracy.svg"]
TERMINAL = 80  # columns
TOO_NOISY = 4  # exit status
# A program whose runs differ, and the barriers that it meets in all runs and in a longer one
SERIES = (PYTHON, Path(__file__).parent / "series.py")
BARRIERS, MORE_BARRIERS = 60, 30


class Validating(halcyon_test.Behaviour):

    def validate(self, *options, program=(PROGRAM, "1")):
        return self.halcyon("validate", "-o", "out", *options, "--", *LAUNCH, *program)


class DisturbedSeries(Validating):
    """Its runs are beside disturbers, so nothing else should run."""

    def test_everything_that_it_promises_is_there_and_fits_together(self):
        finished = self.validate("--levels", "3", "--runs", "1", "--disturb", DISTURBER, "--background", "0.1",
                                 "--seed", "5", "--anyway")
        self.assertEqual(finished.status, 0, finished)
        out = self.directory / "out"
        self.assertEqual({path.name for path in out.iterdir()},
                         {f"{run}.{kind}" for run in CALIBRATION + RUNS for kind in ("h5", "log")} |
                         {"series.json", "validation.json", "validation.md", *FIGURES})
        series = json.loads((out / "series.json").read_text())
        self.assertEqual({run["state"] for run in series["runs"]}, {"recorded"})
        self.assertEqual([run["profile"] for run in series["runs"]], [f"{run}.h5" for run in CALIBRATION + RUNS])
        for figure in out.glob("*.svg"):
            self.check_figure(figure)
        results = json.loads((out / "validation.json").read_text())
        check_schema(results, "validate")
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
        self.assertEqual(list(results), ["command", "ranks", "hosts", "counter", "levels", "runs_per_level", "hog_runs",
                                         "disturbers", "seed", "calibration", "ended_early", "fastest_run",
                                         "background_percent", "paired_at_equal_speed", "valid", "noise", "methods",
                                         "runs"])
        self.assertEqual((results["disturbers"], results["hog_runs"]), ([DISTURBER], 1))
        self.assertEqual(results["noise"]["quiet_runs"], KINDS_IN_ORDER.count("quiet"))
        self.assertEqual(results["valid"], results["noise"]["objection"] is None)
        calibration = results["calibration"]
        self.assertEqual(calibration["segments"], ALLREDUCES + 1)  # MPI_Finalize ends one
        self.assertEqual(round(calibration["calls"]), RANKS * CALLS_OF_A_RANK)
        methods = self.report("out/run-1.h5")["methods"]
        self.assertEqual(list(results["methods"]), list(methods))
        for method in results["methods"].values():
            self.assertEqual(list(method), TRUTHS)
            for summary in method.values():
                self.assertEqual(list(summary), ["judged", "judged_percent", "accuracy", "difference_points",
                                                 "interval_coverage_percent", "interval_coverage_as_known_percent"])

    def check_runs(self, runs):
        kinds = [run["kind"] for run in runs]
        self.assertEqual(["quiet" if kind == "quiet" else "slowed" for kind in kinds], KINDS_IN_ORDER)
        self.assertEqual(sorted(kind for kind in kinds if kind != "quiet"), ["disturbed", "injected", "injected"])
        self.check_pairs(runs)
        least = min(run["run_time_seconds"] for run in runs)
        for number, run in enumerate(runs, 1):
            profile = Profile(self.directory / "out" / f"run-{number}.h5")
            self.assertEqual((run["run"], run["profile"]), (number, f"run-{number}.h5"))
            self.assertAlmostEqual(run["truths"]["measured"]["percent"],
                                   100 * (1 - least / run["run_time_seconds"]), places=6)
            # The results have the same figures as the report of the run's profile.
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
        """The last run but one lies between two quiet runs. Its paired truth is in seconds or in quanta."""
        before, run, after = runs[-3:]
        begin, middle, end = (each["middle_seconds"] for each in (before, run, after))
        place = (middle - begin) / (end - begin)
        self.assertTrue(0 < place < 1)

        def percent(time):
            quiet = time(before) + place * (time(after) - time(before))
            return round(100 * (1 - quiet / time(run)), 6)

        truth = run["truths"]["paired"]
        in_seconds = percent(lambda run: run["run_time_seconds"])
        in_quanta = percent(lambda run: run["run_time_seconds"] / run["quantum_seconds"])
        self.assertIn(round(truth["percent"], 6), (in_seconds, in_quanta))
        self.assertGreater(truth["uncertainty_points"], 0)

    def check_table(self, table, results):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        methods = list(results["methods"])
        self.assertEqual(rows[0][:3], ["method", "against", "judged"])
        self.assertEqual([row[0].strip("`") for row in rows[2:2 + len(TRUTHS) * len(methods)]],
                         [name for name in methods for _ in TRUTHS])
        runs = rows[2 + len(TRUTHS) * len(methods):]
        self.assertEqual(runs[0][0], "run")
        self.assertEqual(sorted(int(row[0]) for row in runs[2:]), list(range(1, 1 + len(RUNS))))
        self.assertEqual({len(row) for row in runs}, {len(runs[0])})

    def check_text(self, text, results):
        """The printed text has a line for each method and for each run, and fits a terminal."""
        first = [line.split()[0] for line in text.splitlines() if line.strip()]
        for name in [*results["methods"], *map(str, range(1, 1 + len(RUNS)))]:
            self.assertEqual(first.count(name), 1, text)
        self.assertIn(DISTURBER, text)
        # The line with the program's path may be longer, as a word is not broken.
        self.assertLessEqual(max(len(line) for line in text.splitlines() if str(PROGRAM) not in line), TERMINAL, text)

    def test_a_series_is_of_disturbers_alone_where_that_is_wanted(self):
        finished = self.validate("--levels", "1", "--runs", "1", "--disturb", "memory:periodic:50ms,50ms", "--disturb",
                                 "disk:part", "--background", "0", "--anyway")
        self.assertEqual(finished.status, 0, finished)
        runs = json.loads((self.directory / "out" / "validation.json").read_text())["runs"]
        self.assertEqual(sorted(run["disturber"] for run in runs if run["kind"] == "disturbed"),
                         ["disk:part:25%..75%", "memory:periodic:50ms,50ms"])

    def test_an_interrupted_series_leaves_no_disturber_behind(self):
        command = [HALCYON, "validate", "-o", self.directory / "out", "--levels", "1", "--runs", "5",
                   "--disturb", "cpu", "--anyway", "--", *LAUNCH, PROGRAM, "1"]
        with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True, cwd=self.directory,
                              stdin=subprocess.DEVNULL, env=self.own_environment()) as running:
            for line in running.stderr:
                if "(cpu:throughout)" in line:
                    break
            running.send_signal(signal.SIGTERM)
            rest = running.stderr.read()
            self.assertEqual(running.wait(TIME_LIMIT), -signal.SIGTERM, rest)
        self.check_nothing_runs_on()


class SeriesThatEndEarly(Validating):
    """Or never begin, or are not valid. The times of their programs hardly count."""

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

    def reason_to_end_the_series(self, how):
        """The fourth run differs in this way. It is run-2, as the first two runs are for calibration."""
        finished = self.validate("--levels", "3", "--runs", "1", "--background", "0.1", program=(*SERIES, how))
        self.assertEqual(finished.status, 2, finished)
        results = json.loads((self.directory / "out" / "validation.json").read_text())
        self.assertEqual([run["run"] for run in results["runs"]], [1])
        self.assertIn(results["ended_early"], finished.errors.splitlines()[-1])
        return results["ended_early"]

    def test_a_series_that_fails_in_the_middle_is_evaluated_as_far_as_it_came(self):
        self.assertIn("run-2 ended with status 7", self.reason_to_end_the_series("fails"))

    def test_a_run_that_did_other_work_ends_the_series(self):
        reason = self.reason_to_end_the_series("longer")
        for words in (f"run-2 had {BARRIERS + MORE_BARRIERS + 1} segments", f"{BARRIERS + 1}"):
            self.assertIn(words, reason)

    def test_a_program_without_boundaries_is_told_so(self):
        finished = self.validate(program=(PYTHON, "-c", "from mpi4py import MPI; import time; time.sleep(0.3)"))
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertIn("no boundaries", finished.errors.splitlines()[-1])

    def test_calls_that_the_program_never_makes_are_told(self):
        finished = self.validate("--class", "mpiio")
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertIn("--class mpiio", finished.errors.splitlines()[-1])

    def series_that_takes_other_times(self, *options):
        finished = self.validate("--levels", "2", "--runs", "1", "--background", "0", *options,
                                 program=(*SERIES, "turns"))
        results = json.loads((self.directory / "out" / "validation.json").read_text())
        self.assertFalse(results["valid"])
        self.assertIn("quiet runs differ", results["noise"]["objection"])
        self.assertIn("NOT VALID", finished.output)
        return finished, results

    def test_a_machine_that_is_too_noisy_is_told_so_instead_of_measured(self):
        finished, results = self.series_that_takes_other_times()
        self.assertEqual(finished.status, TOO_NOISY, finished)
        self.assertEqual([run["kind"] for run in results["runs"]], 3 * ["quiet"])
        for words in ("too noisy", results["noise"]["objection"]):
            self.assertIn(words, results["ended_early"])
        self.assertIn("--anyway", finished.errors.splitlines()[-1])

    def test_it_is_measured_anyway_where_that_is_wanted(self):
        finished, results = self.series_that_takes_other_times("--anyway")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual((len(results["runs"]), results["ended_early"]), (5, None))
        self.assertIn("not valid", finished.errors.splitlines()[-1])


if __name__ == "__main__":
    halcyon_test.main()
