"""A test has places of its own, and ends what it has started: also if it fails, hangs or is killed."""
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import MPI, PROGRAMS, TIME_LIMIT, processes_that_name
from halcyon_test.processes import end_all_with

SUPPORT = Path(halcyon_test.__file__).resolve().parents[1]
# A behaviour as tests/run runs it. It starts ranks in a session of their own, and a process that has lost its parent
# and its environment. Then it does what its first word says.
BEHAVIOUR = """
import os, subprocess, sys, time
from halcyon_test.processes import guarded
how, stop, *command = sys.argv[1:]
def work():
    subprocess.Popen(command, start_new_session=True)
    if how != "loses its guardian":
        subprocess.run(["setsid", "--fork", sys.executable, "-c", "import time; time.sleep(1000)", stop], env={})
    print(os.getpid(), flush=True)
    if how == "fails":
        raise RuntimeError("it fails")
    time.sleep(1000)
sys.exit(guarded(work))
"""


class TestsAreAlone(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.stop = self.directory / "never"  # is in the command line of all its processes
        self.addCleanup(end_all_with, "PYTHONPATH", SUPPORT)

    def start(self, how):
        """Starts the behaviour: the process that guards it, and the number of the one that runs it."""
        command = [sys.executable, "-c", BEHAVIOUR, how, self.stop, *MPI.launch(2), PROGRAMS / "dies", self.stop, "finalize"]
        guardian = subprocess.Popen([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                                    env=self.own_environment(PYTHONPATH=SUPPORT, HALCYON_LIVE_DIR="elsewhere"),
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return guardian, int(guardian.stdout.readline())

    def check_ends(self, guardian, status):
        errors = guardian.communicate(timeout=TIME_LIMIT)[1]
        self.assertEqual(guardian.returncode, status, errors)
        self.assertEqual(processes_that_name(str(self.stop)), [])

    def test_what_a_behaviour_that_fails_has_started_ends_with_it(self):
        guardian, _ = self.start("fails")
        self.check_ends(guardian, 1)

    def test_what_a_behaviour_that_is_killed_has_started_ends_with_it(self):
        guardian, behaviour = self.start("hangs")
        os.kill(behaviour, signal.SIGKILL)
        self.check_ends(guardian, 128 + signal.SIGKILL)

    def test_what_a_behaviour_that_is_asked_to_end_has_started_ends_with_it(self):
        guardian, _ = self.start("hangs")
        guardian.send_signal(signal.SIGTERM)
        self.check_ends(guardian, -signal.SIGTERM)

    def test_a_behaviour_ends_with_its_ranks_if_its_guardian_is_killed(self):
        guardian, _ = self.start("loses its guardian")
        guardian.kill()
        guardian.communicate(timeout=TIME_LIMIT)
        self.check_nothing_runs_on()

    def test_what_a_test_that_fails_has_started_ends_before_the_next_one(self):
        started = []

        class Fails(halcyon_test.Behaviour):
            def runTest(self):  # noqa: N802
                command = [*MPI.launch(2), PROGRAMS / "dies", self.directory / "never", "finalize"]
                started.append(subprocess.Popen(command, env=self.own_environment(), stdin=subprocess.DEVNULL))
                raise AssertionError("it fails")

        result, test = unittest.TestResult(), Fails()
        test.run(result)
        self.assertEqual(len(result.failures), 1, result)
        started[0].wait(timeout=TIME_LIMIT)
        self.assertEqual(processes_that_name(str(test.directory)), [])


if __name__ == "__main__":
    halcyon_test.main()
