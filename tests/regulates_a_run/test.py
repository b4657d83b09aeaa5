"""`halcyon regulate` lets a program stand still while its progress is poor, and never leaves it so."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import halcyon_test
from halcyon_test import BUILD, HALCYON, MPI, PROGRAMS, TIME_LIMIT, Profile

PROGRAM = PROGRAMS / "dies"  # it ends when a file exists
TOOL = BUILD / "tests" / "live_record"
RANKS = 2
NEVER_REACHED = "1e12"  # segments per second
ALWAYS_REACHED = "1e-3"
QUICK = ("--testpoint", "0.1s", "--first-suspension", "0.2s", "--most-suspension", "0.4s")
BY_PROGRESS = ("--tolerance", "0%")  # however busy the machine is
LONG = ("--testpoint", "0.1s", "--first-suspension", "600s", "--most-suspension", "600s")


class RegulatesARun(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.stop = self.directory / "stop"

    def start(self, *options, of_launcher=()):
        words = [HALCYON, "regulate", "-o", "run.h5", "--no-baseline", *options, "--",
                 *MPI.launch(RANKS, *MPI.yield_when_idle, *of_launcher), PROGRAM, self.stop, "finalize"]
        process = subprocess.Popen([str(word) for word in words], cwd=self.directory, text=True,
                                   env=self.own_environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, process)
        self.process = process
        return process

    def end(self, process):
        """Lets the program end: the command's status and its errors as one line."""
        self.stop.touch()
        if process.stderr.closed:
            return process.returncode, ""
        errors = process.communicate(timeout=TIME_LIMIT)[1]
        return process.returncode, " ".join(errors.split())

    def ranks(self):
        looked = self.run_command([TOOL, "list"])
        self.assertEqual(looked.status, 0, looked)
        own = [job for job in json.loads(looked.output) if str(self.directory) in job.get("command", "")]
        return own[0]["here"] if own else []

    def wait_for(self, is_so):
        end = time.monotonic() + TIME_LIMIT
        while time.monotonic() < end:
            ranks = self.ranks()
            if len(ranks) == RANKS and all(map(is_so, ranks)):
                return ranks
            if self.process.poll() not in (None, -signal.SIGKILL):
                raise AssertionError(self.end(self.process))
        raise AssertionError(f"it never came: {ranks}")

    def suspended(self):
        return self.wait_for(lambda rank: rank["state"] == "suspended")

    def test_a_program_whose_progress_is_good_is_never_suspended(self):
        process = self.start("--target", ALWAYS_REACHED, *QUICK, *BY_PROGRESS)
        self.wait_for(lambda rank: rank["seconds"] > 2.0)  # more than five testpoints
        status, errors = self.end(process)
        self.assertEqual(status, 0, errors)
        self.assertIn("never suspended", errors)
        self.assertNotIn("suspensions", Profile(self.directory / "run.h5").attributes)

    def test_a_program_whose_progress_is_poor_is_suspended_and_its_profile_says_so(self):
        process = self.start("--target", NEVER_REACHED, *QUICK)
        # On a busy machine, a request may come too late for some ranks. It is withdrawn, but others have counted it.
        self.wait_for(lambda rank: rank["suspensions"] >= 4)
        status, errors = self.end(process)
        self.assertEqual(status, 0, errors)
        self.assertRegex(errors, r"suspended \d+ times, [0-9.]+ s in all")
        attributes = Profile(self.directory / "run.h5").attributes
        self.assertGreaterEqual(attributes["suspensions"], 2)
        self.assertGreater(attributes["suspended_seconds"], 0.3)
        told = float(re.search(r"times, ([0-9.]+) s in all", errors)[1])
        self.assertLess(abs(told - attributes["suspended_seconds"]), 0.5 * told)

    def test_a_program_whose_ranks_wait_for_cpus_of_others_is_suspended_however_good_its_progress(self):
        process = self.start("--target", ALWAYS_REACHED, *QUICK, "--tolerance", "0.5%")
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
        try:
            self.suspended()
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
        status, errors = self.end(process)
        self.assertEqual(status, 0, errors)
        self.assertRegex(errors, r"suspended .*, [0-9.]+ s in all \(.* since others had its cores\)")

    def test_what_is_usual_is_learned_and_kept_for_the_next_run(self):
        process = self.start(*QUICK, *BY_PROGRESS, "--bootstrap", "1000000")
        self.wait_for(lambda rank: rank["seconds"] > 1.0)
        status, errors = self.end(process)
        self.assertIn("it ended before its usual progress was known, which takes 1000000 testpoints", errors)
        self.assertFalse(list((self.state / "halcyon" / "targets").glob("[0-9a-f]*")))
        self.stop.unlink()
        (self.directory / "run.h5").unlink()
        process = self.start(*QUICK, *BY_PROGRESS, "--bootstrap", "3", "--metric", "messages")
        self.wait_for(lambda rank: rank["seconds"] > 2.0)
        status, errors = self.end(process)
        self.assertEqual(status, 0, errors)
        kept, = (self.state / "halcyon" / "targets").glob("[0-9a-f]*")
        record = json.loads(kept.read_text())
        self.assertEqual((record["ranks"], record["metrics"]), (RANKS, ["segments", "messages"]))
        self.assertGreaterEqual(record["testpoints"], 3)
        self.assertIn(str(PROGRAM), record["command"])

    def test_a_suspended_program_ends_at_a_signal(self):
        process = self.start("--target", NEVER_REACHED, *LONG, of_launcher=MPI.slow_to_kill)
        self.suspended()
        process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=TIME_LIMIT)[1]
        if not (MPI.kills_other_ranks or MPI.exits_without_its_peer):  # else they may have kept nothing
            self.assertIn("until the run ended (signal 15)", errors)
        self.assertEqual(self.ranks(), [])

    def test_a_program_goes_on_by_itself_if_the_command_is_killed(self):
        process = self.start("--target", NEVER_REACHED, *LONG)
        before = {rank["rank"]: rank["boundaries"] for rank in self.suspended()}
        process.kill()
        self.wait_for(lambda rank: rank["state"] == "running" and rank["boundaries"] > before[rank["rank"]])

    def test_sigcont_from_outside_changes_nothing_for_the_worse(self):
        process = self.start("--target", NEVER_REACHED, *QUICK)
        for rank in self.suspended():
            self.run_command(["kill", "-CONT", rank["process"]])
        self.wait_for(lambda rank: rank["suspensions"] >= 2)
        self.assertEqual(self.end(process)[0], 0)

    def test_bad_usage_is_told_before_anything_runs(self):
        launch = ["--", *MPI.launch(RANKS), PROGRAM, self.stop, "finalize"]
        for options, told in ((["--alpha", "0.3"], "--alpha must be less than --beta"),
                              (["--beta", "2"], "--beta: '2' is not a chance from"),
                              (["--target", "fast"], "--target: 'fast' is neither 'auto' nor a number"),
                              (["--target", "5", "--metric", "files"], "leave out --metric"),
                              (["--testpoint", "soon"], "--testpoint: 'soon' is not a time in s"),
                              (["--first-suspension", "2h"], "--first-suspension must not be longer")):
            with self.subTest(told):
                refused = self.halcyon("regulate", *options, *launch)
                self.assertEqual((refused.status, refused.output), (2, ""), refused)
                self.assertIn(told, refused.errors)
                self.assertFalse(list(self.directory.iterdir()))


if __name__ == "__main__":
    halcyon_test.main()
