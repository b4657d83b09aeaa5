"""Disturbers do their work at the right time and leave nothing behind. They end with their command, at a signal, and
when `halcyon` is killed."""
import os
import re
import signal
import subprocess
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, MPI, PYTHON, TIME_LIMIT, Finished, processes_that_name

PROC = Path("/proc")
SAYS_WHEN_IT_RUNS = "import time; print('begun', flush=True); time.sleep(1000)"
NO_COMMAND = 127  # exit status of a command that does not exist


class Disturbers(halcyon_test.Behaviour):

    def disturb(self, *words, check=True):
        finished = self.halcyon("disturb", *words)
        if "the network cannot be disturbed here" in finished.errors:
            self.skipTest(finished.errors.strip())
        if check:
            self.assertEqual(finished.status, 0, finished)
        return finished

    def work_of(self, finished):
        """What each disturber says that it did, as (name, stretches, amount, unit); at least one says something."""
        found = re.findall(r"^halcyon: (\S+) worked [\d.]+ s in (\d+) stretch(?:es)?, ([\d.]+) (.*)$", finished.errors,
                           re.M)
        self.assertTrue(found, finished)
        return [(name, int(stretches), float(amount), what) for name, stretches, amount, what in found]

    def check_works(self, kind, what):
        for seconds in (1, 10, 60):  # longer if a busy machine leaves it no time
            finished = self.disturb(f"{kind}:periodic:50ms,10ms", "--for", f"{seconds}s")
            (name, stretches, amount, did), = self.work_of(finished)
            self.assertEqual((name, finished.output), (f"{kind}:periodic:50ms,10ms", ""))
            self.assertRegex(did, what)
            if amount > 0 and stretches > 1:
                break
        self.assertGreater(amount, 0, finished)
        self.assertGreater(stretches, 1, finished)
        self.check_nothing_is_left()

    def check_nothing_is_left(self):
        self.check_nothing_runs_on()
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_cpu_burns_time(self):
        self.check_works("cpu", "s of CPU time")

    def test_memory_is_read_and_written(self):
        self.check_works("memory", "[MGT]B read and written")

    def test_disk_is_written(self):
        self.check_works("disk", "[MGT]B written")

    def test_network_carries_a_stream(self):
        self.check_works("network", "(bytes|[MGT]B) sent")

    def test_a_part_ends_by_itself(self):
        (name, stretches, *_), = self.work_of(self.disturb("cpu:part:0s..50ms"))
        self.assertEqual((name, stretches), ("cpu:part:0s..50ms", 1))

    def test_nothing_is_done_before_its_time(self):
        (_, stretches, amount, _), = self.work_of(self.disturb("memory:part:1000s..2000s", "--", "true"))
        self.assertEqual((stretches, amount), (0, 0))

    def test_several_disturb_at_once(self):
        names = [name for name, *_ in self.work_of(self.disturb("cpu", "disk:bursts", "memory", "--for", "100ms"))]
        self.assertEqual(names, ["cpu:throughout", "disk:bursts:200ms,600ms", "memory:throughout"])

    def test_a_command_is_disturbed_to_its_end_and_gives_its_status(self):
        finished = self.disturb("cpu", "--", PYTHON, "-c", "print('ran'); raise SystemExit(7)", check=False)
        self.assertEqual((finished.status, finished.output), (7, "ran\n"), finished)
        self.work_of(finished)
        self.check_nothing_is_left()

    def begun(self, *words):
        """`halcyon disturb` as a process, after its command has said that it runs."""
        # Its processes are found by the directory's name in their command line.
        command = [HALCYON, "disturb", *words, "--", PYTHON, "-c", SAYS_WHEN_IT_RUNS, self.directory]
        running = subprocess.Popen([str(word) for word in command], cwd=self.directory, env=self.own_environment(),
                                   text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.stderr.close)
        first = running.stdout.readline()
        if first != "begun\n":
            errors = running.stderr.read()
            if "cannot be disturbed here" in errors:
                self.skipTest(errors.strip())
            self.fail(errors)
        return running

    def disturbers_of(self, running):
        """The forked children of `halcyon disturb`. They have its command line, unlike the command that it runs."""
        parent = str(running.pid)
        own = (PROC / parent / "cmdline").read_bytes()
        children = (PROC / parent / "task" / parent / "children").read_text().split()
        return [int(child) for child in children if (PROC / child / "cmdline").read_bytes() == own]

    def check_ends_when_killed(self, kind, workers):
        running = self.begun(kind)
        children = self.disturbers_of(running)
        self.assertGreaterEqual(len(children), workers)
        command = [pid for pid in processes_that_name(str(self.directory))
                   if pid not in children and pid != running.pid]
        os.kill(running.pid, signal.SIGKILL)
        running.wait(TIME_LIMIT)
        for pid in command:  # which does not end with `halcyon`
            os.kill(pid, signal.SIGKILL)
        self.check_nothing_is_left()

    def test_cpu_ends_when_its_parent_is_killed(self):
        self.check_ends_when_killed("cpu", 1)

    def test_memory_ends_when_its_parent_is_killed(self):
        self.check_ends_when_killed("memory", 1)

    def test_disk_ends_when_its_parent_is_killed_and_leaves_no_file(self):
        self.check_ends_when_killed("disk", 2)

    def test_network_ends_when_its_parent_is_killed(self):
        self.check_ends_when_killed("network", 4)  # two streams, and a process for each host

    def test_a_signal_ends_it_with_its_command(self):
        running = self.begun("cpu", "disk", "memory")
        running.send_signal(signal.SIGTERM)
        running.wait(TIME_LIMIT)
        self.check_nothing_is_left()

    def test_a_signal_ends_it_where_there_is_no_command(self):
        command = [HALCYON, "disturb", "disk", "--for", "1000s"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=self.directory,
                              env=self.own_environment()) as running:
            while not self.disturbers_of(running):  # not begun yet
                pass
            running.send_signal(signal.SIGINT)
            errors = running.stderr.read()
            self.assertEqual(running.wait(TIME_LIMIT), -signal.SIGINT, errors)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_with_the_network_ranks_run_on_two_hosts(self):
        finished = self.disturb("network", "--", *MPI.launch(2), "hostname")
        self.assertEqual(sorted(finished.output.split()), ["host-a", "host-b"])

    def test_what_runs_beside_the_network_disturber_is_recorded_on_two_hosts(self):
        self.disturb("network:bursts", "--", HALCYON, "run", "-o", "run.h5", "--", *MPI.launch(2),
                     EXAMPLES / "cg", 1)
        report = self.report("run.h5")
        self.assertEqual((sorted(report["hosts"]), report["ranks"]), (["host-a", "host-b"], 2))

    def test_bad_usage_is_told(self):
        self.check_refused(self.halcyon("disturb"), "DISTURBER")
        self.check_refused(self.halcyon("disturb", "gpu"), "gpu", "memory")
        self.check_refused(self.halcyon("disturb", "cpu:often"), "often", "bursts")
        self.check_refused(self.halcyon("disturb", "cpu", "--for", "long"), "--for", "long")
        self.check_refused(self.halcyon("disturb", "cpu", "--for", "1s", "--", "true"), "--for", "part")
        self.check_refused(self.halcyon("disturb", "cpu:part", "--", "true"), "cpu:part", "2s..5s")

    def test_a_directory_that_cannot_be_written_is_told(self):
        finished = Finished(subprocess.run([HALCYON, "disturb", "disk"], cwd=PROC, capture_output=True, text=True,
                                           check=False, timeout=TIME_LIMIT))
        self.check_refused(finished, "disk", "cannot write in the current directory")

    def test_a_command_that_does_not_exist_is_told(self):
        finished = self.disturb("cpu", "--", "./nothing", check=False)
        self.assertEqual(finished.status, NO_COMMAND, finished)
        self.assertIn("./nothing", finished.errors)


if __name__ == "__main__":
    halcyon_test.main()
