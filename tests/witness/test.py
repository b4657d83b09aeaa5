"""`halcyon witness`: who had the CPUs that ranks waited for."""
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import HALCYON, MPI, PROGRAMS, check_schema

# Takes a CPU from a rank that is bound to the same one, and does as much work as it is told.
WORK = """
end = int(ARG)
total = 0
for number in range(end):
    total += number * number
"""


def is_told():
    """Whether the kernel tells this user of context switches."""
    return subprocess.run([HALCYON, "witness", "--for", "1ms"], capture_output=True, check=False).returncode == 0


class Witness(halcyon_test.Behaviour):

    def program(self, name, steps):
        """A program of that name: the kernel knows processes by it."""
        script = self.directory / f"{name}.py"
        script.write_text(WORK.replace("ARG", f"'{steps}'"))
        link = self.directory / name
        shutil.copy("/usr/bin/python3", link)
        return [link, script]

    @unittest.skipUnless(is_told(), "this user may not see context switches")
    def test_it_names_who_ran_while_a_rank_waited(self):
        self.check_that_the_thief_is_named("switches")

    @unittest.skipUnless(Path("/proc/self/schedstat").exists(), "this kernel does not count waits for a CPU")
    def test_samples_name_it_too(self):
        self.check_that_the_thief_is_named("samples", "--samples")

    def check_that_the_thief_is_named(self, by, *options):
        cpu = str(min(os.sched_getaffinity(0)))
        told = self.directory / "who.json"
        script = self.directory / "both.sh"
        rank = " ".join(str(word) for word in self.program("therank", 20_000_000))
        thief = " ".join(str(word) for word in self.program("thethief", 20_000_000))
        script.write_text(f"taskset -c {cpu} {thief} &\nOMPI_COMM_WORLD_RANK=0 taskset -c {cpu} {rank}\nwait\n")
        finished = self.halcyon("witness", *options, "--json", told, "--", "sh", script)
        self.assertEqual(finished.status, 0, finished)
        seen = json.loads(told.read_text())
        check_schema(seen, "witness")
        self.assertEqual(seen["by"], by)
        thieves = [party for party in seen["parties"] if party["program"] == "thethief"]
        self.assertEqual(len(thieves), 1, seen)
        self.assertEqual(thieves[0]["whose"], "own_job")  # the same command started it
        # Both want the CPU all the time, so each has it for half of the time; others may have come, too.
        self.assertGreater(thieves[0]["seconds"], 0)
        self.assertAlmostEqual(sum(party["seconds"] for party in seen["parties"]), seen["waited_seconds"])
        self.assertNotIn("therank", [party["program"] for party in seen["parties"]])

    @unittest.skipUnless(is_told(), "this user may not see context switches")
    def test_run_has_a_witness_whose_profile_names_the_thief(self):
        thief = self.program("thethief", 10**12)
        thieves = [subprocess.Popen(thief) for _ in range(2 * os.cpu_count())]
        try:
            steps = [PROGRAMS / "threads", "ranks", "200", "2000", "1000000", "0", "account"]
            finished = self.halcyon("run", "-o", "run.h5", "--no-baseline", "--", *MPI.launch(2), *steps)
            alone = self.halcyon("run", "-o", "alone.h5", "--no-witness", "--", *MPI.launch(2), *steps)
        finally:
            for thief in thieves:
                thief.kill()
                thief.wait()
        self.assertEqual((finished.status, alone.status), (0, 0), (finished, alone))
        report = json.loads(self.halcyon("report", "--json", "-", "run.h5", "alone.h5").output)
        check_schema(report, "report")
        with_witness, without = report
        self.assertIsNone(without["witness"])
        seen = with_witness["witness"]
        self.assertEqual(seen["by"], "switches")
        self.assertIn(("other", "thethief"), [(party["whose"], party["program"]) for party in seen["parties"]], seen)

    @unittest.skipUnless(is_told(), "this user may not see context switches")
    def test_it_watches_ranks_only_and_ends_as_the_command_does(self):
        finished = self.halcyon("witness", "--", "sh", "-c", "exit 7")
        self.assertEqual(finished.status, 7, finished)
        self.assertIn("no rank was taken off a CPU", finished.output)
        self.assertIn("% of a core", finished.output)

    def test_a_time_and_a_command_exclude_each_other(self):
        self.check_refused(self.halcyon("witness", "--for", "1s", "--", "true"), "--for cannot be used with a command")
        self.check_refused(self.halcyon("witness", "--for", "soon"), "'soon' is not a time")

    @unittest.skipUnless(os.geteuid() == 0 and int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 0,
                         "everybody may see context switches here, or nobody is another user")
    def test_a_user_who_may_not_look_is_told_what_it_takes_and_gets_samples(self):
        finished = subprocess.run(["setpriv", "--reuid=nobody", "--clear-groups", HALCYON, "witness", "--for", "1ms"],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(finished.returncode, 0, finished)
        self.assertIn("perf_event_paranoid", finished.stderr)
        self.assertIn("samples of /proc are used", finished.stderr)


if __name__ == "__main__":
    unittest.main()
