"""Each world that MPI_Comm_spawn starts has a profile of its own, or parts of its own if it dies."""
import signal
import unittest

import halcyon_test
from halcyon_test import BUILD, LIBRARY, MPI, PROGRAMS, Profile

PROGRAM = PROGRAMS / "spawns"
RANKS = 2  # of either world
SENDS_OF_A_PARENT, SENDS_OF_A_CHILD = 1, 2  # before each barrier
MET, AFTER = 3, 1  # boundaries with the other world, and of the parents alone afterwards
PARENTS, CHILDREN = 100, 50  # barriers of each world
MANY = 50000  # more segments than fit into a mebibyte
SPILLED = 32768  # of them, whatever happens
# Open MPI 4.1's mpirun sometimes never ends after a spawned world has died, with or without Halcyon.
MOST_SECONDS = 30
# What a world's profile may say of its end. A rank that a signal tells to end may have the time to say so.
EXIT_STATES = {"killed": ("killed", "signal 15"), "aborted": ("aborted",)}

# In 100 s on two busy processors they came to 8000 of 50 000 barriers.
needs_many_barriers = unittest.skipIf(MPI.name == "Open MPI 5",
                                      "two worlds of Open MPI 5 take minutes to spill, and exit with their peers before")

JOINS = PROGRAMS / "joins"
BARRIERS_BEFORE, MEETINGS, BARRIERS_AFTER = 10, 5, 10  # of joins; ranks 0 and 1 alone are in the meetings


@unittest.skipIf(MPI.passes_variables_on, "the library passes variables on to children")
class WhatTheLibraryDoesNotPassOn(halcyon_test.Behaviour):

    def test_one_line_says_that_children_are_not_recorded_where_there_is_no_room_for_the_variables(self):
        profile = self.directory / "run.h5"
        build = self.directory / ("long" * 60)
        build.symlink_to(BUILD)
        finished = self.mpirun(1, [PROGRAM, PARENTS, CHILDREN, "finalize", "finalize"],
                               preload=(build / LIBRARY.relative_to(BUILD),), HALCYON_OUTPUT=profile)
        self.assertEqual(finished.status, 0, finished)
        self.assertRegex(finished.errors, r"(?m)^halcyon: the processes that MPI_Comm_spawn started are not recorded")
        self.assertEqual([file.name for file in self.directory.glob("*.h5")], [profile.name])

    def test_what_the_program_passes_on_itself_stays(self):
        for given, mine, are_recorded in (("MINE=own", "own", True), ("LD_PRELOAD=", "nothing", False)):
            with self.subTest(given):
                profile = self.directory / f"{mine}.h5"
                words = [PROGRAM, PARENTS, CHILDREN, "finalize", "finalize", "world", given]
                finished = self.mpirun(1, words, HALCYON_OUTPUT=profile)
                self.assertEqual((finished.status, finished.errors), (0, ""), finished)
                self.assertIn(f"children have {mine}\n", finished.output)
                self.assertEqual(profile.with_suffix(".spawned.h5").exists(), are_recorded)


class SpawnedWorlds(halcyon_test.Behaviour):

    can_spawn = None  # not tried yet. It depends on how the library was built, and not only on its family

    def setUp(self):
        super().setUp()
        if self.can_spawn is None:
            words = [PROGRAM, 1, 1, "disconnect", "disconnect"]
            SpawnedWorlds.can_spawn = self.mpirun(1, words, preload=()).status == 0
        if not self.can_spawn:
            self.skipTest("this MPI library cannot spawn, with or without Halcyon (Debian's MPICH on UCX)")
        self.of_parents, self.of_children = self.directory / "run.h5", self.directory / "run.spawned.h5"

    def spawn(self, *ends, parents=PARENTS, children=CHILDREN):
        """Runs both worlds with the recorder. `ends` says how the parents and the children end."""
        words = MPI.launch(RANKS, *MPI.yield_when_idle)
        for name, value in {"LD_PRELOAD": LIBRARY, "HALCYON_OUTPUT": self.of_parents, "HALCYON_MEMORY": 1}.items():
            words += MPI.exported(name, value)
        return self.run_command(["timeout", "-s", "KILL", MOST_SECONDS, *words, PROGRAM, parents, children, *ends])

    def check(self, parents, children, met=MET):
        """Checks that each of the two profiles holds what its own world did, and nothing of the other's."""
        of_parents = Profile(self.of_parents)
        of_children = Profile(self.of_children)
        self.assertEqual([profile.attributes["exit_state"] for profile in (of_parents, of_children)], 2 * ["finalized"])
        self.assertEqual((of_parents.attributes["ranks"], of_children.attributes["ranks"]), (RANKS, RANKS))
        self.assertEqual(of_parents.operations(),
                         parents * ["barrier"] + met * ["allreduce"] + AFTER * ["barrier"] + ["finalize"])
        self.assertEqual(of_children.operations(),
                         children * ["barrier"] + MET * ["allreduce"] + ["finalize"])
        self.assertEqual(of_parents.values("sends_blocking")[:parents], parents * [RANKS * SENDS_OF_A_PARENT])
        self.assertEqual(of_children.values("sends_blocking")[:children], children * [RANKS * SENDS_OF_A_CHILD])
        return of_parents, of_children

    def check_recovered(self, **exit_states):
        """Checks that the parts of each world become a profile, which has at least all that had been spilled."""
        for world, path, sends in (("parents", self.of_parents, SENDS_OF_A_PARENT),
                                   ("children", self.of_children, SENDS_OF_A_CHILD)):
            with self.subTest(world):
                finished = self.halcyon("recover", f"{path}.parts")
                self.assertEqual((finished.status, finished.errors), (0, ""), finished)
                self.assertIn("of 2 of 2 ranks", finished.output)
                kept = Profile(path)
                self.assertIn(kept.attributes["exit_state"], EXIT_STATES[exit_states[world]])
                self.assertGreaterEqual(kept.segments, SPILLED)
                self.assertEqual(kept.values("sends_blocking")[:SPILLED], SPILLED * [RANKS * sends])

    def test_parents_and_children_have_a_profile_each(self):
        finished = self.spawn("finalize", "finalize")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(finished.output, f"parents met {PARENTS}\n")
        _, of_children = self.check(PARENTS, CHILDREN)
        self.assertIn(f"{PROGRAM} {PARENTS} {CHILDREN}", of_children.attributes["command"])

    def test_one_rank_that_spawns_for_itself_shares_no_boundary_of_its_world(self):
        # The merged communicator is larger than the world of the parents, but only one of them is in it.
        finished = self.spawn("disconnect", "disconnect", "self")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        of_parents, _ = self.check(PARENTS, CHILDREN, met=0)
        of_rank_0, of_rank_1 = (of_parents.totals(rank)["collectives_all_to_all"] for rank in range(RANKS))
        barrier_of_both_worlds = 1
        self.assertEqual(of_rank_0 - of_rank_1, barrier_of_both_worlds + MET)

    @needs_many_barriers
    def test_worlds_that_spill_do_not_write_into_each_others_parts(self):
        finished = self.spawn("disconnect", "disconnect", parents=MANY, children=MANY)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        for profile in self.check(MANY, MANY):
            self.assertEqual(profile.attributes["dropped_segments"], 0)
        self.assertEqual(list(self.directory.glob("*.parts")), [])

    # After one of several worlds has died, Open MPI's mpirun may leave the other ranks no time. They keep what they had
    # spilled.

    @needs_many_barriers
    def test_children_that_abort_and_parents_that_end_with_them(self):
        self.spawn("wait", "abort", parents=MANY, children=MANY)
        self.check_recovered(parents="killed", children="aborted")

    @needs_many_barriers
    def test_parents_that_abort_and_children_that_end_with_them(self):
        self.spawn("abort", "wait", parents=MANY, children=MANY)
        self.check_recovered(parents="aborted", children="killed")

    @needs_many_barriers
    def test_a_parent_that_is_killed(self):
        self.spawn(f"signal:{signal.SIGKILL.value}", "wait", parents=MANY, children=MANY)
        self.check_recovered(parents="killed", children="killed")

    def test_ranks_that_connect_and_disconnect_meet_at_a_boundary_if_they_are_all(self):
        for ranks, boundaries_of_all in ((2, MEETINGS), (3, 0)):
            with self.subTest(ranks=ranks):
                if self.mpirun(ranks, [JOINS], preload=()).status != 0:
                    self.skipTest("the library opens no port for this program, with or without Halcyon")
                profile = self.record(ranks, [JOINS])
                self.assertEqual(profile.operations(),
                                 BARRIERS_BEFORE * ["barrier"] + boundaries_of_all * ["allreduce"] +
                                 BARRIERS_AFTER * ["barrier"] + ["finalize"])
                self.assertEqual(profile.totals(1)["collectives_all_to_all"],
                                 BARRIERS_BEFORE + MEETINGS + BARRIERS_AFTER)

    def test_halcyon_run_speaks_of_the_world_that_it_launched(self):
        parents = 500
        program = [PROGRAM, parents, CHILDREN, "disconnect", "disconnect"]
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(RANKS), *program)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("report run.h5", finished.errors)
        self.check(parents, CHILDREN)


if __name__ == "__main__":
    halcyon_test.main()
