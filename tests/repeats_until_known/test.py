"""`halcyon repeat` runs a program until its time is known well enough, keeps what there is whatever happens, and
compares programs in pairs.

The program sleeps: its time is nearly the same on a busy machine. Its CPU time is not, so no counter divides its
segments.
"""
import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import halcyon_test
from halcyon_test import HALCYON, MPI, PYTHON, TIME_LIMIT

STEPS_PROGRAM = Path(__file__).resolve().parent / "steps.py"
STEPS, MILLISECONDS = 60, 5.0
SECONDS = 1e-3 * STEPS * MILLISECONDS
MEANS = ("measured", "quiet", "undisturbed")
RUN_KEYS = {"name", "file", "run_time_seconds", "undisturbed_time_seconds", "undisturbed_interval_seconds",
            "interference_percent", "verdict", "used", "reason"}
WORSE, UNCLEAR = 3, 4  # exit statuses of --fail-on


class Repeating(halcyon_test.Behaviour):

    def program(self, milliseconds=MILLISECONDS, steps=STEPS):
        return [*MPI.launch(1), PYTHON, STEPS_PROGRAM, steps, milliseconds]

    def script(self, text):
        """A launch command of a shell script. It may run `$program STEPS MILLISECONDS`; $n is the number of its run."""
        path = self.directory / "script.sh"
        path.write_text(f"program='{PYTHON} {STEPS_PROGRAM}'\necho >> count\nn=$(wc -l < count)\n{text}\n")
        return [*MPI.launch(1), "/bin/sh", path]

    def repeat(self, *options, program=None):
        """The command, and what it says as JSON."""
        words = [] if program == [] else ["--", *(program or self.program())]
        finished = self.halcyon("repeat", "--counter", "none", "--json", "result.json", *options, *words)
        result = self.directory / "result.json"
        return finished, json.loads(result.read_text()) if result.exists() else None


class RepeatsUntilKnown(Repeating):

    def test_three_means_stand_side_by_side_with_every_run(self):
        finished, result = self.repeat("-r", 5, "-o", "series", "--csv", "runs.csv", "--html", "page.html")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual([set(run) for run in result["runs"]], 5 * [RUN_KEYS])
        times = [run["run_time_seconds"] for run in result["runs"]]
        self.assertAlmostEqual(result["measured"]["mean_seconds"], sum(times) / 5)
        self.assertEqual(result["measured"]["runs"], 5)
        self.assertGreater(result["undisturbed"]["runs"], 0)
        self.assertGreater(result["undisturbed"]["mean_seconds"], 0.95 * SECONDS)
        self.assertLess(result["undisturbed"]["mean_seconds"], max(times))
        self.assertEqual((result["confidence_percent"], result["hosts"], result["warmup_runs"]), (95.0, 1, 0))
        for mean in MEANS:
            self.assertIn(mean, result)
        for run in result["runs"]:
            self.assertTrue((self.directory / "series" / run["file"]).exists())
        self.assertEqual(json.loads((self.directory / "series" / "repeat.json").read_text()), result)
        self.assertIn("undisturbed times", finished.output)
        self.assertIn("run 5", finished.errors)
        rows = list(csv.DictReader((self.directory / "runs.csv").read_text().splitlines()))
        self.assertEqual([float(row["run_time_seconds"]) for row in rows],
                         [float(f"{seconds:.9g}") for seconds in times])
        page = (self.directory / "page.html").read_text()
        self.assertEqual(page.count("<figure"), 2)
        self.assertNotIn("http:", page.replace("http://www.w3.org/2000/svg", ""))

    def test_it_stops_when_the_interval_is_narrow_enough(self):
        finished, result = self.repeat("--within", "40%", "-m", 3, "-M", 20)
        self.assertEqual((finished.status, result["stopped_because"]), (0, "width"), finished)
        self.assertLessEqual(result["undisturbed"]["half_width_percent"], 40.0)
        self.assertTrue(finished.output.startswith("KNOWN  "), finished)
        [directory] = self.directory.glob("halcyon-repeat.*")
        self.assertTrue((directory / "repeat.json").exists())

    def test_it_stops_when_the_time_is_up(self):
        finished, result = self.repeat("--within", "0.01%", "--for", f"{3 * SECONDS}s")
        self.assertEqual((finished.status, result["stopped_because"]), (0, "time"), finished)

    def test_the_time_limit_includes_what_was_done_between_the_runs_of_earlier_sessions(self):
        finished, _ = self.repeat("-r", 2, "--prepare", "sleep 1", "-o", "series")
        self.assertEqual(finished.status, 0, finished)
        manifest = self.directory / "series" / "series.json"
        series = json.loads(manifest.read_text())
        self.assertGreater(series["elapsed_seconds"], sum(run["seconds"] for run in series["runs"]) + 2.0)
        manifest.write_text(json.dumps(series | {"elapsed_seconds": 3600.0}))
        finished, result = self.repeat("--within", "0.01%", "-r", 3, "--for", "1h", "--resume", "series", program=[])
        self.assertEqual((finished.status, result["stopped_because"], len(result["runs"])), (0, "time", 2), finished)

    def test_a_run_that_fails_is_told_and_does_not_count(self):
        program = self.script(f"[ $n = 2 ] && exit 9; exec $program {STEPS} {MILLISECONDS}")
        finished, result = self.repeat("-r", 3, program=program)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("run-002 does not count", finished.errors)
        self.assertEqual([run["reason"] for run in result["runs"]][:3], [None, "failed", None])
        self.assertEqual(result["measured"]["runs"], 3)

    def test_a_program_that_always_fails_is_not_repeated(self):
        finished, result = self.repeat(program=self.script("echo why >&2; exit 9"))
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("\nwhy\n", finished.errors)
        self.assertIn("the first run failed", finished.errors)
        self.assertIn("run-001.log", finished.errors)

    def test_a_run_that_does_other_work_is_told_and_does_not_count(self):
        program = self.script(f"steps={STEPS}; [ $n = 3 ] && steps=20; exec $program $steps {MILLISECONDS}")
        finished, result = self.repeat("-r", 4, program=program)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("run-003 did other work", finished.errors)
        self.assertEqual(result["runs"][2]["reason"], "other-work")
        self.assertEqual(result["measured"]["runs"], 4)

    def test_a_run_on_other_ranks_does_other_work(self):
        """As in a later allocation, where the launcher starts as many ranks as there are processors."""
        launcher = self.directory / "mpirun"
        launcher.write_text(f"#!/bin/sh\nexec {' '.join(MPI.launcher)} -np $(cat ranks || echo 1) \"$@\"\n")
        launcher.chmod(0o755)
        program = [launcher, PYTHON, STEPS_PROGRAM, STEPS, MILLISECONDS]
        finished, _ = self.repeat("-r", 2, "-o", "series", program=program)
        self.assertEqual(finished.status, 0, finished)
        (self.directory / "ranks").write_text("2")
        finished, result = self.repeat("-r", 3, "--resume", "series", program=[])
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("run-003 did other work than the first run: it had 2 ranks instead of 1.", finished.errors)
        self.assertEqual([run["reason"] for run in result["runs"]], 2 * [None] + 3 * ["other-work"])
        self.assertEqual(result["measured"]["runs"], 2)
        # A series of an older Halcyon knows no ranks; its profiles do.
        manifest = self.directory / "series" / "series.json"
        series = json.loads(manifest.read_text())
        for run in series["runs"]:
            run["state"] = "recorded"
            del run["ranks"]
        manifest.write_text(json.dumps(series))
        finished, result = self.repeat("-r", 2, "--resume", "series", program=[])
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual([run["reason"] for run in result["runs"]], 2 * [None] + 3 * ["other-work"])

    def test_a_run_whose_profile_vanishes_loses_its_estimate(self):
        vanishing = "[ ! -e series/run-004.h5 ] || rm -f series/run-002.h5"
        finished, result = self.repeat("-r", 5, "-o", "series", "--prepare", vanishing)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("run-002 does not count", finished.errors)
        vanished = result["runs"][1]
        self.assertEqual((vanished["reason"], vanished["verdict"]), ("failed", "unknown"))
        for key in ("run_time_seconds", "undisturbed_time_seconds", "undisturbed_interval_seconds",
                    "interference_percent"):
            self.assertIsNone(vanished[key], key)
        self.assertEqual((len(result["runs"]), result["measured"]["runs"]), (6, 5))

    def test_a_series_ends_if_all_runs_but_the_first_do_other_work(self):
        program = self.script(f"steps={STEPS}; [ $n = 1 ] && steps={2 * STEPS}; exec $program $steps {MILLISECONDS}")
        finished, result = self.repeat("-r", 5, program=program)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("3 runs one after the other do not count", finished.errors)
        self.assertIn("--prepare", finished.errors)
        self.assertEqual(len(result["runs"]), 4)

    def test_a_series_ends_if_no_run_counts_any_more(self):
        program = self.script(f"[ $n = 1 ] && exec $program {STEPS} {MILLISECONDS}; "
                              f"[ $((n % 2)) = 0 ] && exit 9; exec $program 20 {MILLISECONDS}")
        finished, result = self.repeat("-r", 5, program=program)
        self.assertEqual(finished.status, 2, finished)
        self.assertEqual([run["reason"] for run in result["runs"]][1:], ["failed", "other-work", "failed"])

    def test_a_comparison_ends_if_the_other_program_always_fails(self):
        other = " ".join(map(str, [*MPI.launch(1), "/bin/false"]))
        finished, result = self.repeat("-r", 2, "--versus", other)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("the first run of B failed", finished.errors)
        self.assertIn("/bin/false", finished.errors.split("b-001 does not count")[1])
        self.assertEqual(len(result["runs"]), 2)

    def test_warm_up_runs_are_in_no_pair(self):
        finished, result = self.repeat("--aa", "-r", 2, "-w", 1)
        self.assertEqual(finished.status, 0, finished)
        reasons = [run["reason"] for run in result["runs"]]
        self.assertEqual(reasons[:2], 2 * ["warm-up"])
        self.assertNotIn("warm-up", reasons[2:])
        self.assertEqual(len(reasons), 2 + 2 * 2)
        self.assertGreaterEqual(result["versus"]["pairs_left_out"], 1)
        self.assertIn("halcyon: pair 1 of 3 (a-001), after", finished.errors)
        self.assertIn("halcyon: pair 2 of 3 (", finished.errors)
        self.assertIn("2 pairs were asked for (--runs)", finished.output)

    def test_work_that_makes_no_difference_is_told(self):
        program = self.script(f"[ -n \"$1\" ] && exec $program {STEPS} {MILLISECONDS}")
        finished, _ = self.repeat("--work", "N=10..40", "-m", 3, program=[*program, "{N}"])
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("the time may not depend on N", finished.errors)

    def test_results_are_shown_though_one_of_them_cannot_be_written(self):
        finished = self.halcyon("repeat", "--counter", "none", "-r", 2, "--json", "/dev/full", "--csv",
                                "runs.csv", "--", *self.program())
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("/dev/full", finished.errors)
        self.assertIn("undisturbed times", finished.output)
        self.assertTrue((self.directory / "runs.csv").exists())
        [directory] = self.directory.glob("halcyon-repeat.*")
        self.assertTrue((directory / "repeat.json").exists())

    def test_a_full_disk_leaves_no_half_written_file_and_the_series_goes_on_with_more_room(self):
        full = self.directory / "full"
        full.mkdir()
        size = "size={}k".format
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size(124), "none", full], capture_output=True, text=True,
                                 check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        finished, _ = self.repeat("-r", 2, "-o", "full/series")  # one profile fits, and no copy of it
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("full/series/run-002.h5: No space left on device", finished.errors)
        self.assertIn("make room there", finished.errors)
        self.assertIn(f"continue with --resume {full}/series", finished.errors)
        self.assertNotIn("Input/output error", finished.errors)
        unfinished = [file.name for file in (full / "series").iterdir()
                      if file.name.startswith(".") or file.suffix not in (".h5", ".json", ".log")]
        self.assertEqual(unfinished, [])
        subprocess.run(["mount", "-o", "remount," + size(4000), full], check=True)
        finished, result = self.repeat("-r", 2, "--resume", "full/series", program=[])
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(result["measured"]["runs"], 2)

    def test_a_series_is_resumed_as_it_was_asked_for(self):
        finished, _ = self.repeat("-r", 2, "-w", 1, "--confidence", "90%", "-o", "series/")
        self.assertEqual(finished.status, 0, finished)
        finished, result = self.repeat("-M", 3, "--resume", "series/", program=[])
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual((result["confidence_percent"], result["warmup_runs"]), (90.0, 1))
        self.assertEqual(result["measured"]["runs"], 3)
        finished, result = self.repeat("-m", 4, "--resume", "series", "--within", "90%", program=[])
        self.assertEqual(finished.status, 0, finished)
        self.assertGreaterEqual(result["measured"]["runs"], 4)
        changed = self.halcyon("repeat", "--counter", "cpu", "--resume", "series")
        self.check_refused(changed, "series", "HALCYON_COUNTER=none")
        manifest = self.directory / "series" / "series.json"
        manifest.write_text(manifest.read_text().replace('"run-002"', '"b-001"'))
        self.check_refused(self.halcyon("repeat", "--counter", "none", "--resume", "series"), "series.json", "b-001")

    def test_no_result_replaces_what_the_series_keeps(self):
        finished, _ = self.repeat("-r", 2, "-o", "series")
        self.assertEqual(finished.status, 0, finished)
        (self.directory / "link").symlink_to("series")
        files = sorted(file.name for file in (self.directory / "series").iterdir())
        for option, file in (("--json", "series/series.json"), ("--csv", "link/run-001.log"),
                             ("--html", "series/./run-001.h5"), ("--html", "link/../series/repeat.json"),
                             ("--html", "series")):
            with self.subTest(file):
                refused = self.halcyon("repeat", "--counter", "none", "-r", 3, "--resume", "series", option, file)
                self.check_refused(refused, option, file)
        self.assertEqual(sorted(file.name for file in (self.directory / "series").iterdir()), files)
        finished, _ = self.repeat("-r", 2, "--resume", "series", "--html", "series/run.html", program=[])
        self.assertEqual(finished.status, 0, finished)

    def test_a_command_prepares_each_run(self):
        finished, _ = self.repeat("-r", 2, "--prepare", "echo prepared >> prepared")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual((self.directory / "prepared").read_text(), 2 * "prepared\n")
        finished, _ = self.repeat("-r", 2, "--prepare", "echo no >&2; exit 3", "-o", "other/")
        self.assertNotIn("interrupted", finished.errors)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("--prepare ended with status 3", finished.errors)

    def test_an_interrupted_series_is_evaluated_and_goes_on_later(self):
        words = [HALCYON, "repeat", "--counter", "none", "-r", 4, "-o", "series", "--", *self.program()]
        process = subprocess.Popen([str(word) for word in words],
                                   cwd=self.directory, env=self.own_environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        end = time.monotonic() + TIME_LIMIT
        while not (self.directory / "series" / "run-003.log").exists() and time.monotonic() < end:
            pass
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=TIME_LIMIT)
        self.assertEqual(process.returncode, -signal.SIGINT, errors)
        self.assertIn("interrupted; continue with --resume", " ".join(output.split()))
        before = json.loads((self.directory / "series" / "repeat.json").read_text())
        self.assertEqual((before["stopped_because"], len(before["runs"])), ("interrupted", 2))
        finished, result = self.repeat("-r", 4, "--resume", "series", program=[])
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(result["runs"]), 4)
        self.assertEqual(result["runs"][0]["run_time_seconds"], before["runs"][0]["run_time_seconds"])
        other = self.halcyon("repeat", "--counter", "none", "--resume", "series", "--", *self.program(steps=10))
        self.check_refused(other, "series", "command")

    def test_a_series_is_not_resumed_beside_a_job_of_a_session_that_was_killed(self):
        program = self.script(f"[ $n = 1 ] && touch begun && exec $program 20000 {MILLISECONDS}; "
                              f"exec $program {STEPS} {MILLISECONDS}")
        words = [HALCYON, "repeat", "--counter", "none", "-r", 2, "-o", "series", "--", *program]
        process = subprocess.Popen([str(word) for word in words], cwd=self.directory, env=self.own_environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + TIME_LIMIT
        while not (self.directory / "begun").exists() and time.monotonic() < end:
            pass
        process.kill()
        process.wait()

        def resumed():
            return self.repeat("-r", 2, "--resume", "series", program=[])

        finished, _ = resumed()
        self.check_refused(finished, f"is making runs in {self.directory}/series")
        while finished.status != 0 and time.monotonic() < end:
            # One that is just ending has no name any more.
            for named in re.finditer(r"process (\d+) \(\w+\) is making runs in", finished.errors):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(named[1]), signal.SIGTERM)
            finished, _ = resumed()
        self.assertEqual(finished.status, 0, finished)

    def test_a_program_against_itself_says_how_often_it_would_be_wrong(self):
        finished, result = self.repeat("--aa", "-r", 5)
        self.assertEqual(finished.status, 0, finished)
        self.assertIsInstance(result["versus"]["false_alarm_percent"], float)
        self.assertIn("A against itself", " ".join(finished.output.split()))

    def test_a_series_of_several_programs_is_resumed_only_with_the_same_ones(self):
        slow = " ".join(map(str, self.program(2 * MILLISECONDS)))
        self.assertEqual(self.repeat("--versus", slow, "--versus", slow, "-r", 2, "-o", "series")[0].status, 0)
        finished, _ = self.repeat("--resume", "series", "--versus", slow, "-r", 3)
        self.check_refused(finished, "is a series of other runs")

    def test_bad_usage_is_told_before_anything_runs(self):
        for words, part in ((["--within", "none"], "--within"), (["--for", "soon"], "--for"),
                            (["-w", "some"], "--warmup"), (["--work", "N=9..3"], "--work"),
                            (["--work", "N=1..3"], "{N}"), (["--fail-on", "slower"], "--versus"),
                            (["--versus", "mpirun 'a"], "--versus"), (26 * ["--versus", "mpirun b"], "at most 25"), (["--versus", "mpirun a; b"], "--versus"), (["-m", 5, "-M", 3], "--max-runs"),
                            (["-r", 5, "-M", 3], "--runs"), (["--confidence", "0.95"], "--confidence"),
                            (["--within", "0"], "--within"), (["--versus", ""], "--versus"),
                            (["--work", "N=1..2000000000000000"], "--work"),
                            (["--json", "-", "--csv", "-"], "--csv"),
                            (["--json", "file", "--html", "file"], "--html"),
                            (["--json", "file", "--html", f"../{self.directory.name}/./file"], "--html"),
                            (["--resume", "nowhere"], "nowhere"), (["--aa", "--versus", "mpirun b"], "--aa"),
                            (["--json", "nowhere/file"], "nowhere")):
            with self.subTest(words):
                self.check_refused(self.halcyon("repeat", *words, "--", *self.program()), part)
        self.assertEqual(list(self.directory.iterdir()), [])


class TimesOfPrograms(Repeating):
    """Nothing runs beside it: on a busy machine, a step sleeps longer than it should."""

    def test_two_programs_alternate_and_the_slower_one_is_told(self):
        slow = " ".join(map(str, self.program(1.5 * MILLISECONDS)))
        finished, result = self.repeat("--versus", slow, "-r", 4, "--fail-on", "slower", "-o", "series")
        self.assertEqual(finished.status, WORSE, finished)
        self.assertTrue(finished.output.startswith("SLOWER  "), finished)
        self.assertEqual([run["program"] for run in result["runs"]], ["a", "b", "b", "a", "a", "b", "b", "a"])
        versus = result["versus"]
        self.assertEqual((versus["verdict"], versus["pairs"]), ("slower", 4))
        self.assertGreater(versus["interval"][0], 1.2)
        self.assertLess(versus["interval"][1], 1.8)
        self.assertEqual(versus["b"]["measured"]["runs"], 4)

    def test_several_programs_take_turns_and_are_ranked_together_also_when_resumed(self):
        others = [" ".join(map(str, self.program(milliseconds))) for milliseconds in (1.5 * MILLISECONDS, MILLISECONDS)]
        options = [word for other in others for word in ("--versus", other)]
        finished, _ = self.repeat(*options, "-r", 2, "-o", "series")
        self.assertEqual(finished.status, 0, finished)
        finished, result = self.repeat("--resume", "series", "-r", 4, "--html", "page.html", program=[])
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual("".join(run["program"] for run in result["runs"]), "abc" "cba" "bca" "acb")
        self.assertEqual([run["name"] for run in result["runs"]][:4], ["a-001", "b-001", "c-001", "c-002"])
        self.assertEqual([each["times"]["command"] for each in result["comparisons"]], others)
        self.assertAlmostEqual(result["comparisons_confidence_percent"], 97.5)
        self.assertEqual({each["program"] for each in result["ranking"]}, {"a", "b", "c"})
        self.assertEqual(result["ranking"][-1], {"program": "b", "first_place": 3, "last_place": 3})
        page = (self.directory / "page.html").read_text()
        for command in others:
            self.assertIn(command, page)

    def test_the_cost_of_a_unit_of_work_is_found_where_work_varies(self):
        program = [*MPI.launch(1), PYTHON, STEPS_PROGRAM, "{N}", MILLISECONDS]
        finished, result = self.repeat("--work", "N=100..400", "-r", 6, program=program)
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual([run["work"] for run in result["runs"]][:2], [100.0, 400.0])
        unit = result["work"]["unit"]
        self.assertAlmostEqual(unit["seconds"], 1e-3 * MILLISECONDS, delta=0.2e-3 * MILLISECONDS)
        low, high = unit["interval_seconds"]
        self.assertAlmostEqual(result["work"]["half_width_percent"], 50 * (high - low) / unit["seconds"])
        self.assertLessEqual(result["work"]["floor_percent"], result["work"]["half_width_percent"])
        for mean in MEANS:  # the runs did different work
            self.assertEqual({key for key, value in result[mean].items() if value is not None}, {"runs"}, mean)
        self.assertTrue(finished.output.startswith("COST  "), finished)


if __name__ == "__main__":
    halcyon_test.main()
