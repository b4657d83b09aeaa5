"""What a run recorded becomes a profile, also if the run ends without MPI_Finalize or the profile cannot be written."""
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import LIBRARY, MPI, PROGRAMS, TIME_LIMIT, WRITER, Profile

PROGRAM = PROGRAMS / "dies"
SEGMENTS = 10000
MANY = 100000  # more than fit into a mebibyte
EXIT_STATUS, ABORT_STATUS = 7, 9  # of dies.c
BATCH_SIGNALS = {signal.SIGTERM, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM}
QUOTA = 5000000  # bytes of a file with the parts of both ranks, which MANY segments do not fit into
PIECE = 188416  # bytes, in which the ranks of a file take turns
WRITER_THAT_SIGNALS = Path(__file__).parent / "writer_that_signals.sh"
# How many of two ranks keep all that they recorded, as a pattern
RANKS_THAT_KEEP = "[12]" if MPI.kills_other_ranks else "2"
needs_other_ranks = unittest.skipIf(MPI.kills_other_ranks,
                                    f"{MPI.name}'s launcher kills the other ranks before they have spilled")


class NeverLosesARun(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.profile = self.directory / "run.h5"
        self.parts = self.directory / "run.h5.parts"

    def run_that_ends(self, *words, options=(), ranks=2, **environment):
        """Runs the program under `halcyon run`, which recovers a profile if it has to."""
        return self.halcyon("run", "-o", self.profile, *options, "--", *MPI.launch(ranks), PROGRAM,
                            *words, **environment)

    def check(self, segments, exit_state, profile=None):
        """Checks that the profile has this number of segments (None for any), each with what the program did in it."""
        kept = Profile(profile or self.profile)
        self.assertEqual(kept.attributes["exit_state"], exit_state)
        if segments is not None:
            self.assertEqual(kept.segments, segments)
        ranks = len([time for time in kept.columns["rank_run_time"] if time >= 0])  # NaN for a rank that left nothing
        sends = kept.values("sends_blocking")
        self.assertEqual(sends[:SEGMENTS], [float(ranks * (i % 3)) for i in range(len(sends[:SEGMENTS]))])
        return kept

    def check_recovered(self, finished, statuses, exit_state):
        """Checks that the command ended with one of these statuses and recovered all that was recorded."""
        self.assertIn(finished.status, statuses, finished)
        self.assertRegex(finished.errors, f"{SEGMENTS} segments of {RANKS_THAT_KEEP} of 2 ranks, until the run ended")
        left_nothing = Profile(self.profile).attributes.get("incomplete")
        self.check(SEGMENTS, "killed" if left_nothing and exit_state.startswith("signal") else exit_state)
        self.assertFalse(self.parts.exists())
        report = self.report("run.h5")
        self.assertIn("incomplete-run", [warning["code"] for warning in report["warnings"]])
        self.assertEqual(report["segments"], SEGMENTS)

    def test_a_run_that_aborts(self):
        self.check_recovered(self.run_that_ends(SEGMENTS, "abort", 1), MPI.statuses_of_abort(ABORT_STATUS), "aborted")

    def test_a_rank_that_exits(self):
        finished = self.run_that_ends(SEGMENTS, "exit", 1)
        self.check_recovered(finished, MPI.statuses_of_exit(EXIT_STATUS), "exited")

    def test_a_program_that_returns_without_mpi_finalize(self):
        finished = self.run_that_ends(SEGMENTS, "return")
        self.assertRegex(finished.errors, f"segments of {RANKS_THAT_KEEP} of 2 ranks")
        self.check(SEGMENTS, "exited")

    def test_a_fault_which_mpi_still_reports(self):
        finished = self.run_that_ends(SEGMENTS, "segv", 0)
        if MPI.reports_faults:
            self.assertIn("address not mapped", finished.errors.lower())
        self.check_recovered(finished, MPI.statuses_of_signal(signal.SIGSEGV), f"signal {signal.SIGSEGV.value}")

    def test_signals_of_a_batch_system(self):
        for number in BATCH_SIGNALS - MPI.handled_signals:
            with self.subTest(number):
                self.profile.unlink(missing_ok=True)
                finished = self.run_that_ends(SEGMENTS, f"signal:{number.value}")
                self.check_recovered(finished, MPI.statuses_of_signal(number), f"signal {number.value}")

    def test_a_signal_while_mpi_finalize_merges_the_ranks(self):
        finished = self.run_that_ends(SEGMENTS, f"merging:{signal.SIGXCPU.value}", 0)
        self.assertIn(finished.status, MPI.statuses_of_signal(signal.SIGXCPU), finished)
        kept = Profile(self.profile)
        if MPI.kills_other_ranks and "incomplete" in kept.attributes:
            self.assertEqual(kept.segments, SEGMENTS + 1)  # those of rank 0, where MPI_Finalize has ended one more
        else:
            self.assertEqual(kept.segments, SEGMENTS)
            self.assertEqual(kept.attributes["exit_state"], f"signal {signal.SIGXCPU.value}")

    def test_a_signal_while_the_profile_is_written_leaves_the_profile_and_no_parts(self):
        # The library finds its writer by its own place, so both are installed here.
        library = self.directory / "lib" / LIBRARY.name
        writer = self.directory / "libexec" / "halcyon" / WRITER.name
        for copy, original in ((library, LIBRARY), (writer, WRITER_THAT_SIGNALS),
                               (writer.with_name("real-writer"), WRITER)):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original, copy)
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "writing", 0], preload=[library], HALCYON_OUTPUT=self.profile)
        self.assertIn(finished.status, MPI.statuses_of_signal(signal.SIGTERM), finished)
        self.check(SEGMENTS + 1, "finalized")
        self.assertFalse(self.parts.exists())

    def test_a_writer_that_is_asked_to_end_ends_with_its_input_and_leaves_nothing(self):
        with subprocess.Popen([WRITER, self.profile], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
            while not list(self.directory.iterdir()):
                self.assertIsNone(writer.poll())
            writer.send_signal(signal.SIGTERM)
            self.assertEqual(writer.communicate(timeout=TIME_LIMIT)[0], "error: the profile's data ended early\n")
        self.assertEqual(list(self.directory.iterdir()), [])

    @needs_other_ranks
    def test_a_rank_that_is_killed_before_it_spilled(self):
        finished = self.run_that_ends(SEGMENTS, f"signal:{signal.SIGKILL.value}", 1)
        self.assertIn(finished.status, MPI.statuses_of_signal(signal.SIGKILL), finished)
        kept = self.check(SEGMENTS, "killed")
        self.assertEqual(kept.attributes["incomplete"], "rank 1 of 2 left nothing")

    def test_all_ranks_killed_after_they_spilled(self):
        finished = self.run_that_ends(self.parts, f"signal:{signal.SIGKILL.value}", options=["--spill", "1"])
        self.assertIn(finished.status, MPI.statuses_of_signal(signal.SIGKILL), finished)
        kept = self.check(None, "killed")
        self.assertGreater(kept.segments, 0)

    def test_segments_beyond_the_memory_setting(self):
        finished = self.run_that_ends(MANY, "finalize", options=["--memory", "1"])
        self.assertEqual(finished.status, 0, finished)
        kept = self.check(MANY + 1, "finalized")
        self.assertEqual(kept.attributes["dropped_segments"], 0)
        self.assertFalse(self.parts.exists())

    def test_the_same_when_it_aborts(self):
        self.run_that_ends(MANY, "abort", options=["--memory", "1"])
        # A rank that is killed while the other aborts keeps the blocks that it had spilled.
        least = MANY // 2 if MPI.kills_other_ranks else MANY
        self.assertIn(self.check(None, "aborted").segments, range(least, MANY + 1))

    def test_a_signal_to_a_child_is_the_childs(self):
        finished = self.run_that_ends(SEGMENTS, f"child:{signal.SIGTERM.value}")
        self.assertEqual(finished.status, 0, finished)
        self.check(SEGMENTS + 1, "finalized")
        self.assertFalse(self.parts.exists())

    @needs_other_ranks
    def test_without_the_command_the_parts_say_how_to_go_on(self):
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "abort"], HALCYON_OUTPUT=self.profile)
        self.assertEqual([line for line in finished.errors.splitlines() if line.startswith("halcyon")],
                         ["halcyon: the run did not reach MPI_Finalize; to make a profile of what it recorded: "
                          f"halcyon recover {self.parts}"])
        self.assertEqual(len(list(self.parts.iterdir())), 1)  # of all ranks
        recovered = self.halcyon("recover", self.parts)
        self.assertEqual((recovered.status, recovered.errors), (0, ""), recovered)
        self.assertIn(f"{SEGMENTS} segments of 2 of 2 ranks", recovered.output)
        self.check(SEGMENTS, "aborted")
        again = self.halcyon("recover", self.parts)
        self.assertEqual(again.status, 2)
        self.assertIn("never overwritten", again.errors)

    @needs_other_ranks
    def test_parts_of_some_ranks_and_damaged_ones(self):
        self.mpirun(2, [PROGRAM, SEGMENTS, "abort"], HALCYON_OUTPUT=self.profile)
        (parts,) = self.parts.iterdir()
        whole = parts.read_bytes()
        parts.write_bytes(bytes(PIECE) + whole[PIECE:])  # the beginning of the first rank's
        without_first = self.halcyon("recover", "-o", "without.h5", parts)
        self.assertEqual(without_first.status, 0, without_first)
        kept = self.check(SEGMENTS, "aborted", self.directory / "without.h5")
        self.assertEqual(kept.attributes["incomplete"], "rank 0 of 2 left nothing")
        for size in (0, 10, 100, 5000):
            with self.subTest(size=size):
                parts.write_bytes(whole[:size])
                damaged = self.halcyon("recover", "-o", f"damaged{size}.h5", parts)
                self.check_refused(damaged)
        parts.write_bytes(whole[:-PIECE // 2])  # cuts through the last block of the second rank
        cut_off = self.halcyon("recover", "-o", "cut_off.h5", parts)
        self.assertEqual(cut_off.status, 0, cut_off)
        self.assertRegex(cut_off.output, "10000 segments of 2 of 2 ranks, .*; block 1 of rank 1 in .* is damaged")
        missing = self.halcyon("recover", self.directory / "nothing.h5.parts")
        self.assertEqual(missing.status, 2, missing)

    # Profiles that cannot be written where they should

    def check_second_place(self, finished, reason):
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn(reason, finished.errors)
        self.check(SEGMENTS + 1, "finalized", self.directory / "elsewhere" / "run.h5")

    def test_a_directory_that_vanished(self):
        (self.directory / "elsewhere").mkdir()
        place = self.directory / "gone"
        place.mkdir()
        finished = self.mpirun(2, ["sh", "-c", f"rmdir {place} 2>/dev/null; exec {PROGRAM} {SEGMENTS} finalize"],
                               HALCYON_OUTPUT=place / "run.h5", TMPDIR=self.directory / "elsewhere")
        self.check_second_place(finished, "No such file or directory")

    def test_a_directory_that_is_read_only(self):
        (self.directory / "elsewhere").mkdir()
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "finalize"], HALCYON_OUTPUT="/proc/run.h5",
                               TMPDIR=self.directory / "elsewhere")
        self.check_second_place(finished, "/proc")

    def test_a_disk_that_is_full(self):
        (self.directory / "elsewhere").mkdir()
        full = self.directory / "full"
        full.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", full],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "finalize"], HALCYON_OUTPUT=full / "run.h5",
                               TMPDIR=self.directory / "elsewhere")
        self.check_second_place(finished, "full/run.h5")
        self.assertEqual(list(full.iterdir()), [])

    def check_dropped(self, profile):
        kept = Profile(profile)
        self.assertEqual(kept.segments + kept.attributes["dropped_segments"], MANY + 1)
        self.assertIn("segments-dropped", [warning["code"] for warning in self.report(profile)["warnings"]])
        return kept

    def test_a_full_disk_and_no_memory_cost_segments_and_not_the_run(self):
        finished = self.mpirun(2, [PROGRAM, MANY, "finalize"], HALCYON_OUTPUT="/proc/run.h5", HALCYON_MEMORY=1,
                               TMPDIR=self.directory)
        self.assertEqual(finished.status, 0, finished)
        self.check_dropped(self.profile)
        self.check(None, "finalized")

    def test_a_rank_that_can_store_less_than_others_costs_what_it_lacks(self):
        finished = self.mpirun(2, [PROGRAM, MANY, f"quota:{QUOTA}", 1], HALCYON_OUTPUT=self.profile, HALCYON_MEMORY=1)
        self.assertEqual(finished.status, 0, finished)
        self.assertGreater(self.check_dropped(self.profile).segments, SEGMENTS)
        self.check(None, "finalized")

    def test_a_program_that_closes_our_file_loses_what_was_in_it_and_still_ends(self):
        finished = self.mpirun(2, [PROGRAM, MANY, "closes", 1], HALCYON_OUTPUT=self.profile, HALCYON_MEMORY=1)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("cannot be read back", finished.errors)
        self.assertEqual(self.check_dropped(self.profile).segments, 0)


if __name__ == "__main__":
    halcyon_test.main()
