"""Runs of many ranks: what they recorded is merged and recovered with few files open, and told in few lines.

HALCYON_TEST_RANKS is the number of real ranks, which start slowly on few processors; 512 fit into 24 GiB. The parts of
2000 ranks are made up.
"""
import os
import re
import resource

import halcyon_test
from halcyon_test import BUILD, HALCYON, MPI, PROGRAMS, Profile

RANKS = int(os.environ.get("HALCYON_TEST_RANKS", "20"))
MADE_UP_RANKS = 2000
BARRIERS = 5
DESCRIPTORS = 256
RANKS_PER_FILE = 64
MANY_RANKS = BUILD / "bench" / "many_ranks"
# Of a rank, not of its launcher, which needs more for so many.
FEW_DESCRIPTORS = ["prlimit", f"--nofile={DESCRIPTORS}"]
# Of the launcher and its ranks: they leave the processors to each other, and need no shared memory.
MANY_ON_ONE_MACHINE = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1", "HALCYON_PROBES": "off"}


class ManyRanks(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.profile = self.directory / "run.h5"
        self.parts = self.directory / "run.h5.parts"

    def run_ranks(self, how):
        return self.mpirun(RANKS, [*FEW_DESCRIPTORS, PROGRAMS / "dies", BARRIERS, how],
                           options=[*MPI.yield_when_idle, *MPI.slow_to_kill],
                           HALCYON_OUTPUT=self.profile, **MANY_ON_ONE_MACHINE)

    def halcyon_with_few_descriptors(self, *words):
        finished = self.run_command([*FEW_DESCRIPTORS, HALCYON, *words])
        self.assertEqual(finished.status, 0, finished)
        return finished.output

    def make_up_parts(self, segments):
        finished = self.run_command([MANY_RANKS, "parts", MADE_UP_RANKS, segments, self.parts])
        self.assertEqual(finished.status, 0, finished)

    def test_real_ranks_make_one_profile(self):
        finished = self.run_ranks("finalize")
        self.assertEqual(finished.status, 0, finished)
        kept = Profile(self.profile)
        self.assertEqual((kept.attributes["ranks"], kept.segments), (RANKS, BARRIERS + 1))
        self.assertEqual(kept.values("sends_blocking")[:BARRIERS], [float(RANKS * (i % 3)) for i in range(BARRIERS)])
        self.assertFalse(self.parts.exists())

    def test_real_ranks_that_die_leave_few_files_which_are_recovered(self):
        self.run_ranks("exit")
        self.assertLessEqual(len(list(self.parts.iterdir())), -(-RANKS // RANKS_PER_FILE))
        output = self.halcyon_with_few_descriptors("recover", self.parts)
        # The launcher ends the others when the first rank exits: some may still be in the last barrier.
        found = re.search(r": (\d+) segments of (\d+) of (\d+) ranks", output)
        self.assertGreaterEqual(int(found[1]), BARRIERS - 1, output)
        self.assertEqual(int(found[3]), RANKS)

    def test_two_thousand_ranks_are_recovered_and_reported_in_few_lines(self):
        segments = 50
        self.make_up_parts(segments)
        self.assertEqual(len(list(self.parts.iterdir())), -(-MADE_UP_RANKS // RANKS_PER_FILE))
        self.assertEqual(self.halcyon_with_few_descriptors("recover", self.parts),
                         f"{self.profile}: {segments} segments of {MADE_UP_RANKS} of {MADE_UP_RANKS} ranks, until the "
                         "run ended (killed)\n")
        kept = Profile(self.profile)
        self.assertEqual(len(kept.columns["rank_run_time"]), MADE_UP_RANKS)
        self.assertEqual(kept.values("sends_nonblocking"), [6.0 * MADE_UP_RANKS] * segments)
        for words in (["info"], ["report"]):
            text = self.halcyon_with_few_descriptors(*words, self.profile)
            self.assertIn(f"{MADE_UP_RANKS} on 32 hosts", re.sub(r"\s+", " ", text))
            self.assertLess(len(text.splitlines()), 100)
        self.halcyon_with_few_descriptors("report", "--html", "page.html", self.profile)
        self.assertTrue((self.directory / "page.html").exists())

    def test_a_damaged_part_of_one_rank_is_named(self):
        self.make_up_parts(50)
        damaged = sorted(self.parts.iterdir())[2]
        with damaged.open("r+b") as file:
            file.seek(0)
            file.write(b"damage")  # of rank 128
        output = self.halcyon_with_few_descriptors("recover", self.parts)
        self.assertIn(f"{MADE_UP_RANKS - 1} of {MADE_UP_RANKS} ranks", output)
        self.assertIn(f"rank 128 of {MADE_UP_RANKS} left nothing", output)
        self.assertIn(damaged.name, output)


if __name__ == "__main__":
    halcyon_test.main()
