"""Worlds that MPI_Comm_spawn starts: each has a profile of its own, and parts of its own where it dies."""
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import IS_MPICH, LAUNCH, LIBRARY, PROGRAMS, exported

PROGRAM = PROGRAMS / "spawns"
MET, AFTER = 3, 1  # boundaries with the other world, and of the parents alone afterwards
PARENTS, CHILDREN = 100, 50
MANY = 50000  # more segments than fit into a mebibyte
SPILLED = 32768  # of them, whatever happens
# Open MPI 4.1's mpirun sometimes stays for ever when a spawned world has died, with or without Halcyon.
MOST_SECONDS = 30


class SpawnedWorlds(halcyon_test.Behaviour):

    can_spawn = None  # until it has been tried

    def setUp(self):
        super().setUp()
        if self.can_spawn is None:
            words = [PROGRAM, 1, 1, "disconnect", "disconnect"]
            SpawnedWorlds.can_spawn = self.mpirun(1, words, preload=False).status == 0
        if not self.can_spawn:
            self.skipTest("this MPI library cannot spawn, with or without Halcyon (Debian's MPICH on UCX)")
        self.of_parents, self.of_children = self.directory / "run.h5", self.directory / "run.spawned.h5"

    def spawn(self, *ends, parents=PARENTS, children=CHILDREN, ranks=2):
        words = [*LAUNCH, "-np", ranks, *([] if IS_MPICH else ["--mca", "mpi_yield_when_idle", "1"])]
        for name, value in {"LD_PRELOAD": LIBRARY, "HALCYON_OUTPUT": self.of_parents, "HALCYON_MEMORY": 1}.items():
            words += exported(name, value)
        return self.run_command(["timeout", "-s", "KILL", MOST_SECONDS, *words, PROGRAM, parents, children, *ends])

    def check(self, parents, children, met=MET):
        """Both profiles hold what each world did, and nothing of the other's."""
        of_parents = halcyon_test.Profile(self.of_parents)
        of_children = halcyon_test.Profile(self.of_children)
        self.assertEqual([profile.attributes["exit_state"] for profile in (of_parents, of_children)], 2 * ["finalized"])
        self.assertEqual((of_parents.attributes["ranks"], of_children.attributes["ranks"]), (2, 2))
        self.assertEqual([site[0] for site in of_parents.sites()],
                         parents * ["barrier"] + met * ["allreduce"] + AFTER * ["barrier"] + ["finalize"])
        self.assertEqual([site[0] for site in of_children.sites()],
                         children * ["barrier"] + MET * ["allreduce"] + ["finalize"])
        ranks = 2
        self.assertEqual(of_parents.values("sends_blocking")[:parents], parents * [ranks * 1.0])
        self.assertEqual(of_children.values("sends_blocking")[:children], children * [ranks * 2.0])
        return of_parents, of_children

    def check_recovered(self, **exit_states):
        """Both worlds' parts become a profile each, of all that had been spilled at least."""
        for world, path, sends in (("parents", self.of_parents, 2.0), ("children", self.of_children, 4.0)):
            with self.subTest(world):
                finished = self.halcyon("recover", f"{path}.parts")
                self.assertEqual((finished.status, finished.errors), (0, ""), finished)
                self.assertIn("of 2 of 2 ranks", finished.output)
                kept = halcyon_test.Profile(path)
                # Who is told to end by a signal may have the time to say so.
                expected = {"killed": ("killed", "signal 15"), "aborted": ("aborted",)}[exit_states[world]]
                self.assertIn(kept.attributes["exit_state"], expected)
                self.assertGreaterEqual(kept.segments, SPILLED)
                self.assertEqual(kept.values("sends_blocking")[:SPILLED], SPILLED * [sends])

    def test_parents_and_children_have_a_profile_each(self):
        finished = self.spawn("finalize", "finalize")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(finished.output, f"parents met {PARENTS}\n")
        _, of_children = self.check(PARENTS, CHILDREN)
        self.assertIn(f"{PROGRAM} {PARENTS} {CHILDREN}", of_children.attributes["command"])

    def test_one_rank_that_spawns_for_itself_shares_no_boundary_of_its_world(self):
        # The merged communicator is larger than the world of the parents, but one of them only is in it.
        finished = self.spawn("disconnect", "disconnect", "self")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        of_parents, _ = self.check(PARENTS, CHILDREN, met=0)
        counted = [of_parents.totals(rank)["collectives_all_to_all"] for rank in range(2)]
        self.assertEqual(counted[0] - counted[1], MET + 1)

    def test_worlds_that_spill_do_not_write_into_each_others_parts(self):
        finished = self.spawn("disconnect", "disconnect", parents=MANY, children=MANY)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        for profile in self.check(MANY, MANY):
            self.assertEqual(profile.attributes["dropped_segments"], 0)
        self.assertEqual(list(self.directory.glob("*.parts")), [])

    # Where a world of several has died, Open MPI's mpirun may leave the other ranks no time: they keep what they had
    # spilled.

    def test_children_that_abort_and_parents_that_end_with_them(self):
        self.spawn("wait", "abort", parents=MANY, children=MANY)
        self.check_recovered(parents="killed", children="aborted")

    def test_parents_that_abort_and_children_that_end_with_them(self):
        self.spawn("abort", "wait", parents=MANY, children=MANY)
        self.check_recovered(parents="aborted", children="killed")

    def test_a_parent_that_is_killed(self):
        self.spawn(f"signal:{signal.SIGKILL.value}", "wait", parents=MANY, children=MANY)
        self.check_recovered(parents="killed", children="killed")

    def test_ranks_that_connect_and_disconnect_meet_at_a_boundary_if_they_are_all(self):
        for ranks, shared in ((2, 5), (3, 0)):
            with self.subTest(ranks=ranks):
                profile = self.record(ranks, [PROGRAMS / "joins"])
                self.assertEqual([site[0] for site in profile.sites()],
                                 10 * ["barrier"] + shared * ["allreduce"] + 10 * ["barrier"] + ["finalize"])
                self.assertEqual(profile.totals(1)["collectives_all_to_all"], 25)

    def test_halcyon_run_speaks_of_the_world_that_it_launched(self):
        program = [PROGRAM, "500", "50", "disconnect", "disconnect"]
        finished = self.halcyon("run", "-o", "run.h5", "--", *LAUNCH, "-np", "2", *program)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("report run.h5", finished.errors)
        self.check(500, 50)


if __name__ == "__main__":
    halcyon_test.main()
