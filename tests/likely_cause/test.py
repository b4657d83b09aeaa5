"""The report names what disturbed a run: delays of one kind of call on one rank, or processes that take the cores."""
import multiprocessing
import os
import time
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, MPI

STEPS = 3000  # each takes some 0.4 ms
BURST, PAUSE = 0.2, 0.4  # seconds, of processes on the cores
EVERY_FIFTH_SECOND = r"every 0\.(19[89]|2|20[12]) s"  # a dozen bursts tell the period to some percent
TRIES = 5


def burn_in_bursts():
    while True:
        begin = time.monotonic()
        while time.monotonic() - begin < BURST:
            pass
        time.sleep(PAUSE)


class LikelyCause(halcyon_test.Behaviour):

    def plate(self, name, *options, steps=STEPS, within=()):
        # Without a baseline, so that the test's own earlier runs do not add to what is known.
        finished = self.run_command([*within, HALCYON, "run", "-o", name, "--no-baseline", *options, "--",
                                     *MPI.launch(2), EXAMPLES / "plate", steps], INTM_SEED="1")
        self.assertEqual(finished.status, 0, finished)
        return self.report(name), " ".join(finished.errors.replace("\nhalcyon: ", "\n").split())

    def check(self, spec, code, words, steps=STEPS):
        def attempt(number):
            report, closing = self.plate(f"{number}.h5", "--inject", spec, steps=steps)
            cause = report["cause"]
            self.assertIsNotNone(cause, report["verdict"])
            self.assertEqual(cause["code"], code, cause)
            self.assertRegex(cause["text"], words)
            self.assertIn(f"cause {cause['text'].split(': ')[0]} rank ", closing)
            text = " ".join(self.halcyon("report", f"{number}.h5").output.split())
            self.assertIn(f"likely cause {cause['text']} [{code}] what to do {cause['action']}", text)
        self.check_left_alone(attempt)

    def test_slow_messages_of_one_rank(self):
        self.check("class=p2p,prob=0.003,mean=10ms,sd=2ms,ranks=1", "communication", "of rank 1 on")

    def test_slow_files_of_one_rank(self):
        self.check("class=posixio,prob=0.3,mean=5ms,sd=1ms,ranks=0", "file-io", "of rank 0 on")

    def test_bursts_at_equal_distances_have_their_period_told(self):
        self.check("class=p2p,prob=0.2,mean=2ms,sd=400us,ranks=1,every=200ms,for=40ms", "communication",
                   EVERY_FIFTH_SECOND, steps=2 * STEPS)

    def test_other_processes_on_the_cores(self):
        hogs = [multiprocessing.Process(target=burn_in_bursts, daemon=True) for _ in range(os.cpu_count())]
        for hog in hogs:
            hog.start()
        try:
            for attempt in range(TRIES):  # there may be no verdict, or the machine may slow the run down more
                report, _ = self.plate(f"{attempt}.h5")
                if report["cause"] is not None and report["cause"]["code"] == "other-processes":
                    break
        finally:
            for hog in hogs:
                hog.kill()
        ranks = report["breakdown"]["evidence"]["ranks"] if report["breakdown"] else []
        waits = [rank["cpu_wait_seconds"] for rank in ranks]
        if None in waits:
            self.skipTest("the kernel does not tell how long threads wait for a CPU")
        self.assertIsNotNone(report["cause"], report)
        self.assertEqual(report["cause"]["code"], "other-processes", report["cause"])
        self.assertGreater(sum(waits), 0.25 * report["breakdown"]["excess_seconds"])

    def limited_group(self, cpus):
        """A new control group whose processes may use so many CPUs."""
        for root, file, limit in ((Path("/sys/fs/cgroup"), "cpu.max", f"{int(cpus * 100000)} 100000"),
                                  (Path("/sys/fs/cgroup/cpu"), "cpu.cfs_quota_us", f"{int(cpus * 100000)}")):
            group = root / f"halcyon-test-{os.getpid()}"
            if (root / "cgroup.procs").exists() and os.access(root, os.W_OK):
                group.mkdir()
                self.addCleanup(group.rmdir)
                if (group / file).exists():
                    (group / file).write_text(limit)
                    return group
        return self.skipTest("no control group with a limit on CPU time can be made here")

    def test_a_limit_on_cpu_time(self):
        group = self.limited_group(1.5)
        joins = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group / "cgroup.procs"]

        def attempt(number):
            report, _ = self.plate(f"limited-{number}.h5", within=joins)
            self.assertIsNotNone(report["cause"], report["verdict"])
            self.assertEqual(report["cause"]["code"], "cpu-limit", report["cause"])
            for rank in report["breakdown"]["evidence"]["ranks"]:
                self.assertEqual(rank["cpu_limit"], 1.5)
                self.assertGreater(rank["throttled_seconds"], 0.5 * report["breakdown"]["excess_seconds"])
        self.check_left_alone(attempt)

    def test_nothing_of_a_run_that_was_not_disturbed(self):
        def attempt(number):
            quiet = self.report(self.record_disturbed(f"quiet-{number}.h5", delay=0.0))
            self.assertEqual((quiet["verdict"], quiet["cause"]), ("green", None))
        self.check_left_alone(attempt)


if __name__ == "__main__":
    halcyon_test.main()
