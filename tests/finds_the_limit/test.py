"""`halcyon search` finds the largest load or the least resource that meets a limit; `halcyon map` predicts what it did
not run."""
import json
import signal
import subprocess

import halcyon_test
from halcyon_test import HALCYON, MPI, PROGRAMS, SOURCE, TIME_LIMIT, check_schema

STEPS = PROGRAMS / "steps"
WITHOUT_A_VERDICT = (STEPS, "{N}", "0", "4")  # nothing tells whether four steps that sleep were disturbed
LAUNCH = MPI.launch(2, *MPI.yield_when_idle)
READ = ("--read", r"cost: ([0-9.e+]+)")  # the square of N
SECONDS_OF_N = 0.04  # 40 steps of a millisecond
LARGEST_THAT_RUNS = 10
STATUS_OF_FAILURE = 7
NONE_MEETS = 3
SEARCH_KEYS = ["command", "name", "range", "limit", "find", "by", "accuracy_percent", "confidence_percent",
               "stopped_because", "ended_early", "answer", "beyond", "monotone", "loads", "runs"]
LOAD_KEYS = ["load", "runs", "failed", "mean", "interval", "accuracy_percent", "limit"]
RUN_KEYS = ["run", "failed_with", "response", "ranks", "run_time_seconds", "undisturbed_time_seconds", "verdict"]
MAP_KEYS = ["command", "response", "factors", "confidence_percent", "surface", "error_left_out_percent", "ended_early",
            "points", "runs"]
POINT_KEYS = ["values", "runs", "measured", "predicted", "interval"]


class Searches(halcyon_test.Behaviour):
    """What the tests below share."""

    def search(self, limit, *options, vary="N=1..64", program=(STEPS, "{N}")):
        return self.halcyon("search", "-o", "out", "--vary", vary, "--limit", limit, *options, "--", *LAUNCH, *program)

    def found(self, limit, *options, status=0, **more):
        """The result as JSON, and what was printed."""
        finished = self.search(limit, *options, **more)
        self.assertEqual(finished.status, status, finished)
        result = json.loads((self.directory / "out" / "search.json").read_text())
        check_schema(result, "search")
        return result, finished


class FindsTheLimit(Searches):

    def test_of_the_largest_load_whose_printed_number_meets_a_limit(self):
        for by in ("linear", "binary", "model"):
            with self.subTest(by=by):
                self.directory = self.scratch_directory()
                result, finished = self.found("rate < 10", *READ, "--accuracy", "99%", "--by", by, vary="N=1..6")
                self.assertEqual((result["answer"]["load"], result["beyond"]["load"]), (3, 4), finished)
                self.assertEqual((result["answer"]["mean"], result["find"]), (9, "largest"))
                self.assertIn("The largest N with rate < 10 is 3", " ".join(finished.output.split()))

    def test_of_the_largest_load_whose_time_meets_a_limit(self):
        limit = 0.3
        finished = self.search(f"time < {limit} s", vary="N=1..10")
        result = json.loads((self.directory / "out" / "search.json").read_text())
        for run in result["runs"]:
            self.assertEqual(run["response"], run["undisturbed_time_seconds"] or run["run_time_seconds"])
        if result["stopped_because"] in ("noise", "too-many-runs"):
            self.skipTest("other processes disturb the runs too much")
        self.assertEqual(finished.status, 0, finished)
        self.assertLessEqual(result["answer"]["mean"], limit)
        self.assertLessEqual(result["answer"]["load"] * SECONDS_OF_N, limit)

    def test_of_the_least_load_where_more_of_it_is_better(self):
        result, finished = self.found("rate > 60", *READ, "--accuracy", "99%", vary="N=1..10")
        self.assertEqual((result["answer"]["load"], result["find"]), (8, "least"), finished)
        self.assertEqual(result["beyond"]["load"], 7)

    def test_the_keys_of_the_result_are_stable(self):
        result, finished = self.found("rate < 5", *READ, "--json", "result.json", "--html", "page.html",
                                      vary="N=1..3")
        self.assertEqual(json.loads((self.directory / "result.json").read_text()), result, finished)
        self.assertEqual(list(result), SEARCH_KEYS)
        page = (self.directory / "page.html").read_text()
        self.assertEqual(page.count("<figure"), 2)
        self.assertIn("rate &lt; 5", page)
        for load in (*result["loads"], result["answer"]):
            self.assertEqual(list(load), LOAD_KEYS)
        for run in result["runs"]:
            self.assertEqual(list(run), [*RUN_KEYS, "load"])
            self.assertEqual(run["response"], run["load"] ** 2)
            self.assertTrue((self.directory / "out" / f"{run['run']}.h5").is_file())

    def test_every_key_is_documented(self):
        page = (SOURCE / "docs" / "search.md").read_text()
        for key in {*SEARCH_KEYS, *LOAD_KEYS, *RUN_KEYS, *MAP_KEYS, *POINT_KEYS}:
            self.assertIn(f"`{key}`", page)

    def test_efficiency_is_relative_to_the_smallest_load(self):
        finished = self.search("efficiency > 0.4", "--accuracy", "80%", "--max-runs", "6", vary="N=2..10")
        result = json.loads((self.directory / "out" / "search.json").read_text())
        seconds = {run["run"]: run["undisturbed_time_seconds"] or run["run_time_seconds"] for run in result["runs"]}
        first = [run for run in result["runs"] if run["load"] == 2]
        cost = sum(run["ranks"] * seconds[run["run"]] for run in first) / len(first)
        for run in result["runs"]:
            self.assertAlmostEqual(run["response"], cost / (run["ranks"] * seconds[run["run"]]), msg=finished)

    def test_no_load_is_rounded_to_one_beyond_the_range(self):
        program = self.directory / "program.sh"
        program.write_text(f"{STEPS} 0 && echo cost: $1\n")
        # Half of the first load is 1500001.5, and six digits of it are 1.5e6.
        result, finished = self.found("rate < 1", *READ, "--start", "3000003", vary="N=1500001.0..4000000.0",
                                      program=("/bin/sh", program, "{N}"), status=NONE_MEETS)
        self.assertEqual([load["load"] for load in result["loads"]], [1500001, 3000003], finished)

    def test_a_range_that_meets_the_limit_everywhere_or_nowhere_is_told(self):
        result, finished = self.found("rate < 1e6", *READ, vary="N=1..3")
        self.assertEqual((result["stopped_because"], result["answer"]["load"]), ("all-meet", 3), finished)
        self.assertIn("end of the range", " ".join(finished.output.split()))
        self.directory = self.scratch_directory()
        result, finished = self.found("rate < 3", *READ, vary="N=2..10", status=NONE_MEETS)
        self.assertEqual((result["stopped_because"], result["answer"]), ("none-meets", None), finished)
        self.assertIn("No N of the range meets rate < 3", finished.output)

    def test_a_wrong_aim_is_told(self):
        result, finished = self.found("rate > 60", *READ, "--find", "largest", vary="N=1..10", status=2)
        self.assertEqual(result["stopped_because"], "wrong-way", finished)
        self.assertIn("--find least", finished.output)

    def test_a_run_that_fails_ends_the_search_or_does_not_meet_the_limit_where_that_is_wanted(self):
        result, finished = self.found("rate < 1e6", *READ, vary="N=8..64", status=2)
        self.assertEqual(result["stopped_because"], "ended-early", finished)
        for words in ("N-16_run-1 ended with status 7", str(self.directory / "out" / "N-16_run-1.log")):
            self.assertIn(words, result["ended_early"])
        self.assertEqual(result["answer"]["load"], 8)
        finished = self.halcyon("search", "--resume", "out", "--vary", "N=8..64", "--limit", "rate < 1e6", *READ,
                                "--count-failed", "--json", "-", "--", *LAUNCH, STEPS, "{N}")
        self.assertEqual(finished.status, 0, finished)
        result = json.loads(finished.output)
        self.assertEqual((result["answer"]["load"], result["beyond"]["load"]),
                         (LARGEST_THAT_RUNS, LARGEST_THAT_RUNS + 1), finished)
        self.assertIn(STATUS_OF_FAILURE, [run["failed_with"] for run in result["runs"]])

    def test_a_search_that_is_stopped_keeps_its_runs_and_goes_on(self):
        words = ["--vary", "N=1..10", "--limit", "rate < 50", *READ, "--accuracy", "99%", "--", *LAUNCH, STEPS, "{N}"]
        with subprocess.Popen([str(word) for word in (HALCYON, "search", "-o", self.directory / "out", *words)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.directory,
                              stdin=subprocess.DEVNULL, env=self.own_environment()) as running:
            for line in running.stderr:
                if "run 4 (" in line:
                    break
            running.send_signal(signal.SIGINT)
            output, rest = running.communicate(timeout=TIME_LIMIT)
            self.assertEqual(running.returncode, -signal.SIGINT, rest)
        self.check_nothing_runs_on()
        self.assertIn("did not come to its end", output)
        kept = json.loads((self.directory / "out" / "search.json").read_text())
        self.assertEqual((kept["stopped_because"], len(kept["runs"])), ("ended-early", 3), rest)
        self.assertIn("interrupted", kept["ended_early"])
        finished = self.halcyon("search", "--resume", "out", *words)
        self.assertEqual(finished.status, 0, finished)
        self.assertNotIn("run 3 (", finished.errors)
        result = json.loads((self.directory / "out" / "search.json").read_text())
        self.assertEqual(result["answer"]["load"], 7, finished)
        self.assertEqual(result["runs"][:3], kept["runs"])

    def test_values_that_the_command_would_not_get_are_refused(self):
        for values in ("1000000.5,1000000.6", "1,3000000000000000"):
            self.check_refused(self.halcyon("map", "--vary", f"N={values}", "--", *LAUNCH, STEPS, "{N}"), "--vary",
                               values)

    def test_ends_of_a_range_that_the_command_would_not_get_are_refused(self):
        self.check_refused(self.halcyon("search", "--vary", "N=1.0000001..2.5", "--limit", "time < 10 s", "--", *LAUNCH,
                                        STEPS, "{N}"), "--vary", "1.0000001")

    def test_map_predicts_points_that_it_did_not_run(self):
        finished = self.halcyon("map", "-o", "out", "--vary", "N=1,2,3,4,5", "--vary", "M=0,1,2,3", *READ,
                                "--runs", "1", "--html", "page.html", "--", *LAUNCH, STEPS, "{N}", "{M}")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual((self.directory / "page.html").read_text().count("<figure"), 1)
        result = json.loads((self.directory / "out" / "map.json").read_text())
        check_schema(result, "map")
        self.assertEqual(list(result), MAP_KEYS)
        self.assertEqual((len(result["points"]), len(result["runs"])), (20, 8))
        held_out = [point for point in result["points"] if point["measured"] is None]
        self.assertEqual(len(held_out), 12)
        for point in result["points"]:
            self.assertEqual(list(point), POINT_KEYS)
            n, m = point["values"]
            self.assertAlmostEqual(point["predicted"], n * n + 10 * m, places=4)
        self.assertLess(result["error_left_out_percent"], 1e-3)
        self.assertIn("Fitted to 8 of 20 points", finished.output)

    def test_where_the_program_prints_what_counts_runs_without_a_verdict_are_no_matter(self):
        result, finished = self.found("rate < 5", *READ, vary="N=1..3", program=WITHOUT_A_VERDICT)
        self.assertEqual({run["undisturbed_time_seconds"] for run in result["runs"]}, {None}, finished)
        self.assertNotIn("verdict", finished.output)

    def test_bad_usage_is_told_before_anything_runs(self):
        self.check_refused(self.search("time = 10 s"), "--limit", "time = 10 s", "efficiency > 0.8")
        self.check_refused(self.search("speed > 3"), "--limit", "speed")
        self.check_refused(self.search("time < 10 parsecs"), "--limit", "parsecs")
        self.check_refused(self.search("time < 9 s", vary="N=8..2"), "--vary", "N=8..2")
        self.check_refused(self.search("time < 9 s", vary="N=1,2"), "--vary", "NAME=A..B")
        self.check_refused(self.search("time < 9 s", vary="M=1..9"), "{M}")
        self.check_refused(self.search("time < 9 s", program=(STEPS, "{N}", "{size}")), "{size}", "--vary")
        self.check_refused(self.search("time < 9 s", "--accuracy", "10%"), "--accuracy", "10%")
        self.check_refused(self.search("time < 9 s", "--start", "99"), "--start", "99")
        self.check_refused(self.search("time < 9 s", *READ), "--read", "rate")
        self.check_refused(self.search("rate < 9", "--read", "cost: [0-9]+"), "--read", "parentheses")
        self.check_refused(self.search("rate < 9", "--read", "cost: ([0-9]+"), "--read", "regular expression")
        self.check_refused(self.search("time < 9 s", "--by", "luck"), "--by", "luck")
        self.check_refused(self.search("time < 9 s", "--resume", "out"), "-o", "--resume")
        self.check_refused(self.halcyon("search", "-o", "out", "--vary", "N=1..2", "--limit", "time < 1"), "no launch")
        command = ("--", *LAUNCH, STEPS, "{N}")
        self.check_refused(self.halcyon("map", "-o", "out", "--vary", "N=1,x", *command), "N=1,x")
        self.check_refused(self.halcyon("map", "-o", "out", "--vary", "N=1,2", "--vary", "N=3", *command),
                           "given twice")
        self.assertFalse((self.directory / "out").exists())

    def test_a_number_that_the_program_does_not_print_is_told(self):
        result, finished = self.found("rate < 9", "--read", "speed: ([0-9]+)", status=2)
        self.assertIn("no line of", result["ended_early"], finished)
        self.assertIn("N-1_run-1.log", result["ended_early"])

    def test_a_number_is_found_in_a_long_line_that_a_pattern_could_match_in_many_ways(self):
        program = self.directory / "program.sh"
        program.write_text(f"{STEPS} $1 && head -c 30000 /dev/zero | tr '\\0' a && echo \" cost: $1\"\n")
        result, finished = self.found("rate < 2.5", "--read", "(?:a+)+a cost: ([0-9]+)", "--accuracy", "99%",
                                      vary="N=1..3", program=("/bin/sh", program, "{N}"))
        self.assertEqual(result["answer"]["load"], 2, finished)

    def test_runs_of_another_command_are_not_resumed(self):
        self.found("rate < 5", *READ, vary="N=1..3")
        finished = self.halcyon("search", "--resume", "out", "--vary", "N=1..3", "--limit", "rate < 5", *READ, "--",
                                *LAUNCH, STEPS, "{N}", "1")
        self.check_refused(finished, "series of other runs")


class GoesOn(Searches):

    def test_efficiency_of_a_resumed_search_is_relative_to_the_smallest_load_it_has_run_or_the_range_has(self):
        runs = {}  # of all loads, by name: a result has only those of its range
        for vary, place, most_runs, smallest in (("N=2..10", "-o", 2, 2), ("N=4..10", "--resume", 2, 2),
                                                 ("N=1..10", "--resume", 6, 1)):
            finished = self.halcyon("search", place, "out", "--vary", vary, "--limit", "efficiency > 0.99",
                                    "--max-runs", most_runs, "--", *LAUNCH, STEPS, "{N}")
            result = json.loads((self.directory / "out" / "search.json").read_text())
            runs.update({run["run"]: run for run in result["runs"]})

            def cost(run):
                return run["ranks"] * (run["undisturbed_time_seconds"] or run["run_time_seconds"])

            first = [cost(run) for run in runs.values() if run["load"] == smallest]
            self.assertGreaterEqual(len(first), 2, finished)
            for run in result["runs"]:
                self.assertAlmostEqual(run["response"], sum(first) / len(first) / cost(run), msg=finished)

    def test_a_search_of_whole_loads_uses_no_others_of_the_search_that_it_resumes(self):
        result, finished = self.found("rate < 5", *READ, "--accuracy", "99%", vary="N=1.0..2.5")
        self.assertTrue(any(load["load"] % 1 for load in result["loads"]), finished)
        finished = self.halcyon("search", "--resume", "out", "--vary", "N=1..3", "--limit", "rate < 5", *READ,
                                "--accuracy", "99%", "--json", "-", "--", *LAUNCH, STEPS, "{N}")
        self.assertEqual(finished.status, 0, finished)
        result = json.loads(finished.output)
        self.assertEqual(result["answer"]["load"], 2, finished)
        self.assertEqual([load["load"] % 1 for load in result["loads"]], [0] * len(result["loads"]), finished)

    def test_a_search_goes_on_after_a_run_that_printed_no_number(self):
        program = self.directory / "program.sh"
        program.write_text(f"echo >> count; [ $(wc -l < count) -le {2 * 2} ] || exec >/dev/null\n"
                           f"exec {STEPS} $1\n")
        words = ["--vary", "N=1..10", "--limit", "rate < 50", *READ, "--accuracy", "99%", "--",
                 *LAUNCH, "/bin/sh", program, "{N}"]
        finished = self.halcyon("search", "-o", "out", *words)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("matches --read", " ".join(finished.output.split()))
        (self.directory / "count").unlink()
        program.write_text(f"exec {STEPS} $1\n")
        finished = self.halcyon("search", "--resume", "out", *words)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("is made again", finished.errors)
        self.assertIn("The largest N with rate < 50 is 7", " ".join(finished.output.split()))

    def test_a_search_starts_at_the_answer_of_an_earlier_one(self):
        self.found("rate < 50", *READ, "--accuracy", "99%", vary="N=1..10")
        words = ("--vary", "N=1..10", "--limit", "rate < 50", *READ, "--accuracy", "99%", "--start-from", "out")
        finished = self.halcyon("search", "-o", "next", *words, "--", *LAUNCH, STEPS, "{N}")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("run 1 (N=7", finished.errors)
        self.check_refused(self.halcyon("search", *words, "--", *LAUNCH, STEPS, "{N}", "5"), "--start-from", "out")

    def test_a_search_with_another_limit_uses_the_runs_that_there_are(self):
        self.found("rate < 50", *READ, "--accuracy", "99%", vary="N=1..10")
        finished = self.halcyon("search", "--resume", "out", "--vary", "N=1..10", "--limit", "rate < 40", *READ,
                                "--accuracy", "99%", "--", *LAUNCH, STEPS, "{N}")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("The largest N with rate < 40 is 6", " ".join(finished.output.split()))
        self.assertNotIn("run 1 (", finished.errors)

    def test_map_counts_no_runs_of_another_grid(self):
        command = ("--", *LAUNCH, *WITHOUT_A_VERDICT)
        self.halcyon("map", "-o", "out", "--runs", "1", "--vary", "N=1,2,3", *command)
        finished = self.halcyon("map", "--resume", "out", "--runs", "1", "--vary", "N=3,4,5", *command)
        self.assertEqual(finished.status, 0, finished)
        result = json.loads((self.directory / "out" / "map.json").read_text())
        self.assertEqual(sorted(run["values"] for run in result["runs"]), [[3], [4], [5]], finished)
        self.assertIn("3 of 3 runs had no verdict", finished.output)

    def test_map_goes_on_with_more_points(self):
        words = ["--vary", "N=1,2,3", *READ, "--runs", "1", "--", *LAUNCH, STEPS, "{N}"]
        finished = self.halcyon("map", "-o", "out", "--points", "2", *words)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("no surface yet", finished.output)
        finished = self.halcyon("map", "--resume", "out", "--points", "3", "--json", "-", *words)
        self.assertEqual(finished.status, 0, finished)
        result = json.loads(finished.output)
        self.assertEqual([point["measured"] for point in result["points"]], [1, 4, 9])
        self.assertNotIn("run 2 (", finished.errors)


if __name__ == "__main__":
    halcyon_test.main()
