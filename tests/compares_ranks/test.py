"""The ranks are compared with each other: which had more work, and what followed from it for the run.

Work is CPU time, and the program takes care that its ratio is exact, so this holds on a busy machine.
"""
import halcyon_test
from halcyon_test import MPI, PROGRAMS, Profile

RANKS, STEPS, MICROSECONDS = 2, 400, 500
FACTOR, BEHIND = 2.0, 1  # the rank that has so many times the work
EIGHTHS = 8
SCATTER = 0.1  # of the recorded ratio: calls of the clock, and the beginning of a step
# Of the CPU time that it had more. Where others use the cores, waits for a CPU hide a part of it, or make it longer.
LEAST_LOST = 0.25


def unequal(factor, *ending):
    return [PROGRAMS / "unequal", STEPS, MICROSECONDS, factor, BEHIND, *ending]


class ComparesRanks(halcyon_test.Behaviour):

    def check_imbalance(self, path):
        report = self.report(path)
        self.assertEqual([rank["rank"] for rank in report["peers"]["more_work"]], [BEHIND])
        rank = report["peers"]["more_work"][0]
        self.assertAlmostEqual(rank["times"], FACTOR, delta=SCATTER * FACTOR)
        self.assertLessEqual(rank["times_interval"][0], rank["times"])
        self.assertGreaterEqual(rank["times_interval"][1], rank["times"])
        self.assertGreater(rank["lost_seconds"], LEAST_LOST * (FACTOR - 1) * 1e-6 * MICROSECONDS * STEPS)
        self.assertLess(rank["lost_seconds"], report["run_time_seconds"])
        self.assertEqual(report["slow_ranks_percent"], 0.0)
        self.assertRegex(self.halcyon("report", path).output, rf"imbalance +rank {BEHIND} on ")

    def test_a_rank_with_more_work_is_told_with_what_follows_from_it(self):
        profile = self.record(RANKS, unequal(FACTOR))
        self.check_imbalance("run.h5")
        sections = len(profile.columns["section_place"])
        work = profile.columns["rank_work"]
        self.assertEqual(sections % EIGHTHS, 0)
        self.assertEqual(len(work), RANKS * sections)
        of_ranks = [sum(work[rank * sections:(rank + 1) * sections]) for rank in range(RANKS)]
        self.assertAlmostEqual(of_ranks[BEHIND] / of_ranks[0], FACTOR, delta=SCATTER * FACTOR)

    def test_what_is_recovered_of_a_run_says_the_same(self):
        self.mpirun(RANKS, unequal(FACTOR, "without MPI_Finalize"), HALCYON_OUTPUT=self.directory / "run.h5")
        finished = self.halcyon("recover", "-o", "recovered.h5", "run.h5.parts")
        self.assertEqual(finished.status, 0, finished)
        self.check_imbalance("recovered.h5")

    def test_equal_ranks_are_not_told(self):
        self.record(RANKS, unequal(1.0))
        self.assertEqual(self.report("run.h5")["peers"]["more_work"], [])

    def test_one_rank_has_no_peers(self):
        profile = self.record(1, unequal(FACTOR))
        self.assertNotIn("lost_to_more_work", profile.columns)
        self.assertEqual(self.report("run.h5")["peers"], {"slower": [], "more_work": []})


class NamesOfARun(halcyon_test.Behaviour):

    BATCH = {"PBS_JOBID": "4711.server", "PBS_O_LOGNAME": "alice", "PBS_QUEUE": "short"}

    def info(self, *options):
        self.halcyon("run", "--no-baseline", *options, "-o", "run.h5", "--", *MPI.launch(2), *unequal(1.0), **self.BATCH)
        return Profile(self.directory / "run.h5"), self.halcyon("info", "run.h5").output

    def test_the_batch_system_says_whose_job_it_was(self):
        profile, text = self.info()
        self.assertEqual([profile.attributes.get(name) for name in ("job", "user", "partition")],
                         ["4711.server", "alice", "short"])
        self.assertIn("4711.server of alice, partition short", text)

    def test_names_are_left_out_if_asked(self):
        profile, text = self.info("--no-names")
        self.assertEqual(profile.attributes.get("job"), "4711.server")
        self.assertIsNone(profile.attributes.get("user"))
        self.assertIsNone(profile.attributes.get("partition"))
        self.assertEqual(len(set(profile.columns["rank_host"])), 1)
        self.assertRegex(profile.columns["rank_host"][0].decode(), "^host-[0-9a-f]{8}$")
        self.assertNotIn("alice", text)


if __name__ == "__main__":
    halcyon_test.main()
