"""A reduce or gather followed by a bcast or scatter from the same root ends a segment as an allreduce does."""
import collections

import halcyon_test
from halcyon_test import MPI, PROGRAMS, Profile, only_open_mpi

PROGRAM = PROGRAMS / "rooted"
ROUNDS = 10  # of each case of the program
# Cases that end a segment a round, and the operation that ends it
PAIRS = {"reduce-bcast": "bcast", "gather-scatter": "scatter", "gatherv-scatterv": "scatterv", "two-then-two": "bcast",
         "messages-between": "bcast", "another-handle": "bcast", "ibcast": "bcast"}
# Cases that end none
NO_PAIRS = ("another-root", "the-same-number-elsewhere", "bcast-alone", "bcast-first", "over-half", "reduce-over-half",
            "ireduce")


class RootedBoundaries(halcyon_test.Behaviour):

    def operations(self, what, ranks=3, **environment):
        """How many segments each operation ended, MPI_Finalize left out."""
        return collections.Counter(self.record(ranks, [PROGRAM, what], **environment).operations()[:-1])

    def run_recorded(self, *words, options=(), status=0):
        finished = self.halcyon("run", "-o", "run.h5", *options, "--", *MPI.launch(2), PROGRAM, *words)
        self.assertEqual(finished.status, status, finished)

    def test_a_pair_ends_a_segment(self):
        for what, operation in PAIRS.items():
            with self.subTest(what):
                self.assertEqual(self.operations(what), {operation: ROUNDS})

    def test_on_one_rank_and_on_four_as_on_three(self):
        for ranks in (1, 4):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.operations("reduce-bcast", ranks), {"bcast": ROUNDS})

    def test_what_lets_a_rank_go_before_all_have_come_ends_none(self):
        for what in NO_PAIRS:
            with self.subTest(what):
                self.assertEqual(self.operations(what), {})

    def test_a_synchronisation_between_takes_the_place_of_the_pair(self):
        self.assertEqual(self.operations("barrier-between"), {"barrier": ROUNDS})

    def test_the_setting_chooses_what_ends_segments(self):
        for setting, expected in (("auto", {"bcast": ROUNDS, "barrier": ROUNDS}), ("rooted", {"bcast": ROUNDS}),
                                  ("all-to-all", {"barrier": ROUNDS}), ("pcontrol", {})):
            with self.subTest(setting):
                self.assertEqual(self.operations("both", HALCYON_BOUNDARY=setting), expected)

    def test_smaller_communicators_end_segments_if_they_may(self):
        self.assertEqual(self.operations("over-half", 4, HALCYON_BOUNDARY_RANKS="2"), {"bcast": ROUNDS})

    def test_calls_from_different_lines_are_different_places(self):
        sites = self.record(2, [PROGRAM, "both"]).sites()
        self.assertEqual({module for _, module, _ in sites[:-1]}, {PROGRAM.name})

    def test_the_profile_and_what_is_said_of_it_name_the_setting(self):
        self.run_recorded("both", options=["--boundary", "rooted"])
        self.assertEqual(Profile(self.directory / "run.h5").attributes["boundary"], "rooted")
        report = self.report("run.h5")
        self.assertEqual((report["boundary"], report["boundaries"]),
                         ("rooted", [{"operation": "bcast", "segments": ROUNDS}]))
        for command in ("report", "info"):
            self.assertRegex(self.halcyon(command, "run.h5").output, r"boundaries +bcast 10 \(--boundary rooted\)")

    def test_a_setting_that_is_none_is_said(self):
        finished = self.mpirun(2, [PROGRAM, "both"], HALCYON_OUTPUT=self.directory / "run.h5", HALCYON_BOUNDARY="some")
        self.assertEqual((finished.status, len(finished.errors.splitlines())), (0, 1), finished)
        self.assertIn("HALCYON_BOUNDARY=some is not auto, all-to-all, rooted or pcontrol", finished.errors)
        finished = self.halcyon("run", "--boundary", "some", "--", *MPI.launcher, PROGRAM)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("'some' is not auto, all-to-all, rooted or pcontrol", finished.errors)

    def test_delays_between_pairs_are_the_truth_of_the_segments_that_pairs_end(self):
        self.run_recorded("reduce-bcast", options=["--inject", "class=collective,prob=1,mean=1ms"])
        seconds = Profile(self.directory / "run.h5").columns["injected_requested"]
        calls_of_the_pair, ranks = 2, 2
        self.assertEqual([round(float(each) * 1e3) for each in seconds], ROUNDS * [calls_of_the_pair * ranks] + [0])

    @only_open_mpi("MPICH's launcher kills the other ranks before they have spilled")
    def test_a_run_that_dies_keeps_them(self):
        self.run_recorded("both", "exit", options=["--boundary", "rooted"], status=9)
        report = self.report("run.h5")
        self.assertEqual((report["boundary"], report["boundaries"]),
                         ("rooted", [{"operation": "bcast", "segments": ROUNDS}]))


if __name__ == "__main__":
    halcyon_test.main()
