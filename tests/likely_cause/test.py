"""What disturbed a run is named: delays that are injected into one kind of call on one rank, and processes that take the cores."""
import multiprocessing
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import EXAMPLES

STEPS = 3000  # of some 0.4 ms


def burn_in_bursts():
    while True:
        begin = time.monotonic()
        while time.monotonic() - begin < 0.2:
            pass
        time.sleep(0.4)


class LikelyCause(halcyon_test.Behaviour):

    def plate(self, name, *options, steps=STEPS):
        # By itself: what earlier runs of the test would tell is not what it asks.
        finished = self.halcyon("run", "-o", name, "--no-baseline", *options, "--", *halcyon_test.LAUNCH, "-np", "2", EXAMPLES / "plate",
                                steps, INTM_SEED="1")
        self.assertEqual(finished.status, 0, finished)
        return self.report(name), " ".join(finished.errors.replace("\nhalcyon: ", "\n").split())

    def check(self, spec, code, words, steps=STEPS):
        def attempt(number):
            report, closing = self.plate(f"{number}.h5", "--inject", spec, steps=steps)
            self.assertIsNotNone(report["cause"], report["verdict"])
            self.assertEqual(report["cause"]["code"], code, report["cause"])
            self.assertIn(words, report["cause"]["text"])
            self.assertIn(f"likely cause: {report['cause']['text']}. What to do: {report['cause']['action']}", closing)
            text = " ".join(self.halcyon("report", f"{number}.h5").output.split())
            self.assertIn(f"likely cause {report['cause']['text']} [{code}] what to do {report['cause']['action']}", text)
        self.check_left_alone(attempt)

    def test_slow_messages_of_one_rank(self):
        self.check("class=p2p,prob=0.01,mean=10ms,sd=2ms,ranks=1", "communication", "of rank 1 on")

    def test_slow_files_of_one_rank(self):
        self.check("class=posixio,prob=0.3,mean=20ms,sd=5ms,ranks=0", "file-io", "of rank 0 on")

    def test_bursts_at_equal_distances_have_their_period_told(self):
        self.check("class=p2p,prob=0.2,mean=5ms,sd=1ms,ranks=1,every=500ms,for=100ms", "communication", "every 0.5 s",
                   steps=5 * STEPS)

    def test_other_processes_on_the_cores(self):
        hogs = [multiprocessing.Process(target=burn_in_bursts, daemon=True) for _ in range(os.cpu_count())]
        for hog in hogs:
            hog.start()
        try:
            for attempt in range(5):  # a run may not be judged, or the machine may have slowed it down more than the hogs
                report, _ = self.plate(f"{attempt}.h5")
                if report["cause"] is not None and report["cause"]["code"] == "other-processes":
                    break
        finally:
            for hog in hogs:
                hog.kill()
        waits = [rank["cpu_wait_seconds"] for rank in report["breakdown"]["evidence"]["ranks"]] if report["breakdown"] else []
        if None in waits:
            self.skipTest("the kernel does not tell how long threads wait for a CPU")
        self.assertIsNotNone(report["cause"], report)
        self.assertEqual(report["cause"]["code"], "other-processes", report["cause"])
        self.assertGreater(sum(waits), 0.25 * report["breakdown"]["excess_seconds"])

    def test_nothing_of_a_run_that_was_not_disturbed(self):
        def attempt(number):
            quiet = self.report(self.record_disturbed(f"quiet-{number}.h5", delay=0.0))
            self.assertEqual((quiet["verdict"], quiet["cause"]), ("green", None))
        self.check_left_alone(attempt)


if __name__ == "__main__":
    halcyon_test.main()
