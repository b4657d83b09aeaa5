"""The test case of every behaviour: runs programs under the MPI family's launcher, with Halcyon or without."""
import json
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from .commands import TIME_LIMIT, Finished, clean_environment
from .machine import MOST_FOREIGN_CPU, foreign_cpu_seconds, processes_that_name
from .made_up_times import write_disturbed_profile
from .mpi_family import MPI
from .places import HALCYON, LIBRARY
from .processes import end_all_with
from .profile import Profile

SHARED_MEMORY = "/dev/shm"
SKIPPED = 77  # ctest shows the behaviour as skipped
REFUSAL = 2  # exit status of `halcyon`


class Behaviour(unittest.TestCase):
    """Gives every test a directory of its own, in which its programs run."""

    maxDiff = None

    def setUp(self):
        self.directory = self.scratch_directory()
        self.state = self.scratch_directory()  # for records of known runs: not the tester's, not another test's
        self.temporary = self.scratch_directory()
        self.live = self.scratch_directory(SHARED_MEMORY)
        self.addCleanup(end_all_with, "HALCYON_LIVE_DIR", self.live)  # its commands and their ranks

    def scratch_directory(self, within=None):
        directory = Path(tempfile.mkdtemp(prefix="halcyon-", dir=within))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        return directory

    # Running

    def own_environment(self, **settings):
        """The environment of the test's commands, with these variables."""
        return {**clean_environment(self.state, self.temporary, self.live),
                **{name: str(value) for name, value in settings.items()}}

    def run_command(self, command, preload=(), **environment):
        """Runs a command, with these libraries preloaded into it and into all its children."""
        settings = self.own_environment(**environment)
        if preload:
            settings["LD_PRELOAD"] = joined(preload)
        return Finished(subprocess.run([str(word) for word in command], cwd=self.directory, env=settings, text=True,
                                       stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT, check=False))

    def halcyon(self, *words, **environment):
        """Runs the `halcyon` command."""
        return self.run_command([HALCYON, *words], **environment)

    def mpirun(self, ranks, command, preload=(LIBRARY,), options=(), **environment):
        """Runs the program on `ranks` ranks, with these libraries preloaded into the ranks alone. HALCYON_* and other
        variables of the ranks are keywords."""
        words = MPI.launch(ranks, *options)
        if preload:
            environment["LD_PRELOAD"] = joined(preload)
        for name, value in environment.items():
            words += MPI.exported(name, value)
        return self.run_command([*words, *command])

    def record(self, ranks, command, **environment):
        """Runs the program with the recorder and returns its profile. The run must succeed and print no error."""
        path = self.directory / "run.h5"
        path.unlink(missing_ok=True)
        finished = self.mpirun(ranks, command, HALCYON_OUTPUT=path, **environment)
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(finished.errors, "", finished)
        self.assertTrue(path.exists(), f"no profile was written\n{finished}")
        return Profile(path)

    def record_disturbed(self, file="run.h5", delay=0.02):
        """Writes a profile with made-up delays of `delay` seconds by rank 1, and returns its path."""
        path = self.directory / file
        write_disturbed_profile(path, delay)
        return path

    def report(self, file):
        """What `halcyon report` says of a profile, as JSON."""
        finished = self.halcyon("report", "--json", "-", file)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return json.loads(finished.output)

    # Checking

    def check_refused(self, finished, *names, status=REFUSAL):
        """Checks that `halcyon` printed nothing but one line, which has all these names in it."""
        self.assertEqual(finished.status, status, finished)
        self.assertEqual(finished.output, "", finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertTrue(finished.errors.startswith("halcyon: "), finished)
        for name in names:
            self.assertIn(str(name), finished.errors)

    def check_nothing_runs_on(self):
        """Checks that no process has the test's directory in its command line. The kernel ends a child when its parent
        has ended, but this may take a moment."""
        end = time.monotonic() + TIME_LIMIT
        while processes_that_name(str(self.directory)) and time.monotonic() < end:
            pass
        self.assertEqual(processes_that_name(str(self.directory)), [])

    def check_left_alone(self, check, tries=3):
        """Calls `check` with the number of the try, and again if it fails, because measured times also depend on other
        processes. The test is skipped if others used the processors during each of the tries."""
        was_alone = False

        def attempt(number):
            nonlocal was_alone
            began, before = time.monotonic(), foreign_cpu_seconds()
            try:
                return check(number)
            except AssertionError:
                foreign = (foreign_cpu_seconds() - before) / (time.monotonic() - began)
                was_alone = was_alone or foreign < MOST_FOREIGN_CPU
                raise
        try:
            return self.check_in_tries(attempt, tries)
        except AssertionError:
            if not was_alone:
                self.skipTest(f"others used the processors during each of {tries} tries")
            raise

    def check_in_tries(self, check, tries=3, again_after=AssertionError):
        """Calls `check` with the number of the try, and again if it fails in this way."""
        for number in range(tries):
            try:
                return check(number)
            except again_after:
                if number + 1 == tries:
                    raise


def joined(libraries):
    """The value of LD_PRELOAD."""
    return ":".join(str(library) for library in libraries)


def skip(reason):
    """Ends the whole behaviour, before any of its tests runs."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main():
    """Runs the tests of the file that calls it."""
    if shutil.which(MPI.launcher[0]) is None:
        skip(f"no {MPI.launcher[0]}")
    try:
        import h5py  # noqa: F401
    except ImportError:
        skip("no h5py")
    unittest.main(verbosity=2)
