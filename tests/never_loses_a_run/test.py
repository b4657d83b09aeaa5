"""Runs that end otherwise than by MPI_Finalize, or whose files have no place: what they recorded becomes a profile."""
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import IS_MPICH, LAUNCH, PROGRAMS, only_open_mpi

PROGRAM = PROGRAMS / "dies"
SEGMENTS = 10000
MANY = 100000  # more than fit into a mebibyte
# MPICH's launcher kills all other ranks as soon as one has ended, so that these keep what they had spilled before; and it
# gives back the number of a signal as it is.
RANKS_THAT_KEEP = "[12]" if IS_MPICH else "2"
OF_A_SIGNAL = 0 if IS_MPICH else 128
needs_other_ranks = only_open_mpi("MPICH's launcher kills the other ranks before they have spilled")


class NeverLosesARun(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.profile = self.directory / "run.h5"
        self.parts = self.directory / "run.h5.parts"

    def run_that_ends(self, *words, options=(), ranks=2, **environment):
        """Of `halcyon run`; its status, and the profile that it recovered, if any."""
        return self.halcyon("run", "-o", self.profile, *options, "--", *LAUNCH, "-np", ranks, PROGRAM,
                            *words, **environment)

    def check(self, segments, exit_state, profile=None):
        """So many segments were kept, and each is what the program did."""
        kept = halcyon_test.Profile(profile or self.profile)
        self.assertEqual(kept.attributes["exit_state"], exit_state)
        if segments is not None:
            self.assertEqual(kept.segments, segments)
        ranks = len([time for time in kept.columns["rank_run_time"] if time >= 0])  # NaN: left nothing
        sends = kept.values("sends_blocking")
        self.assertEqual(sends[:SEGMENTS], [float(ranks * (i % 3)) for i in range(len(sends[:SEGMENTS]))])
        return kept

    def check_recovered(self, finished, status, exit_state):
        self.assertEqual(finished.status, status, finished)
        self.assertRegex(finished.errors, f"{SEGMENTS} segments of {RANKS_THAT_KEEP} of 2 ranks, until the run ended")
        left_nothing = halcyon_test.Profile(self.profile).attributes.get("incomplete")
        self.check(SEGMENTS, "killed" if left_nothing and exit_state.startswith("signal") else exit_state)
        self.assertFalse(self.parts.exists())
        report = self.report("run.h5")
        self.assertIn("incomplete-run", [warning["code"] for warning in report["warnings"]])
        self.assertEqual(report["segments"], SEGMENTS)

    def test_a_run_that_aborts(self):
        self.check_recovered(self.run_that_ends(SEGMENTS, "abort", 1), 9, "aborted")

    def test_a_rank_that_exits(self):
        finished = self.run_that_ends(SEGMENTS, "exit", 1)
        # Hydra kills the other rank, and gives back all statuses that it saw, joined bit by bit.
        if IS_MPICH and finished.status in (signal.SIGKILL, 7 | signal.SIGKILL):
            finished.status = 7
        self.check_recovered(finished, 7, "exited")

    def test_a_program_that_returns_without_mpi_finalize(self):
        finished = self.run_that_ends(SEGMENTS, "return")
        self.assertRegex(finished.errors, f"segments of {RANKS_THAT_KEEP} of 2 ranks")
        self.check(SEGMENTS, "exited")

    def test_a_fault_which_mpi_still_reports(self):
        finished = self.run_that_ends(SEGMENTS, "segv", 0)
        self.assertIn("address not mapped", finished.errors.lower())
        self.check_recovered(finished, OF_A_SIGNAL + signal.SIGSEGV, f"signal {signal.SIGSEGV.value}")

    def test_signals_of_a_batch_system(self):
        of_mpi = {signal.SIGUSR1} if IS_MPICH else set()  # answered by the library, and ends no run
        for number in {signal.SIGTERM, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM} - of_mpi:
            with self.subTest(number):
                self.profile.unlink(missing_ok=True)
                finished = self.run_that_ends(SEGMENTS, f"signal:{number.value}")
                self.check_recovered(finished, OF_A_SIGNAL + number, f"signal {number.value}")

    def test_a_signal_while_mpi_finalize_merges_the_ranks(self):
        finished = self.run_that_ends(SEGMENTS, f"merging:{signal.SIGXCPU.value}", 0)
        self.assertEqual(finished.status, OF_A_SIGNAL + signal.SIGXCPU, finished)
        kept = halcyon_test.Profile(self.profile)
        if not IS_MPICH or "incomplete" not in kept.attributes:
            self.assertEqual(kept.segments, SEGMENTS)
            self.assertEqual(kept.attributes["exit_state"], f"signal {signal.SIGXCPU.value}")
        else:  # MPI_Finalize ends one more, on that rank
            self.assertEqual(kept.segments, SEGMENTS + 1)

    def test_a_signal_while_the_profile_is_written_leaves_the_profile_and_no_parts(self):
        for place, source in (("lib", halcyon_test.LIBRARY), ("libexec/halcyon", halcyon_test.BUILD / "libexec/halcyon/halcyon-write")):
            (self.directory / place).mkdir(parents=True)
            shutil.copy(source, self.directory / place)
        writer = self.directory / "libexec" / "halcyon" / "halcyon-write"
        writer.rename(writer.with_name("real"))
        writer.write_text(f'#!/bin/sh\nanswer=$({writer.with_name("real")} "$@")\nkill -s TERM "$DIES_PROCESS"\necho "$answer"\n')
        writer.chmod(0o755)
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "writing", 0], HALCYON_OUTPUT=self.profile,
                               LD_PRELOAD=self.directory / "lib" / halcyon_test.LIBRARY.name, preload=False)
        self.assertEqual(finished.status, OF_A_SIGNAL + signal.SIGTERM, finished)
        self.check(SEGMENTS + 1, "finalized")
        self.assertFalse(self.parts.exists())

    def test_a_writer_that_is_asked_to_end_ends_with_its_input_and_leaves_nothing(self):
        with subprocess.Popen([halcyon_test.BUILD / "libexec" / "halcyon" / "halcyon-write", self.profile], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
            while not list(self.directory.iterdir()):
                self.assertIsNone(writer.poll())
            writer.send_signal(signal.SIGTERM)
            self.assertEqual(writer.communicate(timeout=halcyon_test.TIME_LIMIT)[0], "error: the profile's data ended early\n")
        self.assertEqual(list(self.directory.iterdir()), [])

    @needs_other_ranks
    def test_a_rank_that_is_killed_before_it_spilled(self):
        finished = self.run_that_ends(SEGMENTS, f"signal:{signal.SIGKILL.value}", 1)
        self.assertEqual(finished.status, OF_A_SIGNAL + signal.SIGKILL, finished)
        kept = self.check(SEGMENTS, "killed")
        self.assertEqual(kept.attributes["incomplete"], "rank 1 of 2 left nothing")

    def test_all_ranks_killed_after_they_spilled(self):
        finished = self.run_that_ends(self.parts, f"signal:{signal.SIGKILL.value}", options=["--spill", "1"])
        self.assertEqual(finished.status, OF_A_SIGNAL + signal.SIGKILL, finished)
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
        if IS_MPICH:  # the rank that is killed while the other aborts has the blocks that it had spilled
            self.assertIn(self.check(None, "aborted").segments, range(MANY // 2, MANY + 1))
        else:
            self.check(MANY, "aborted")

    def test_a_signal_to_a_child_is_the_childs(self):
        finished = self.run_that_ends(SEGMENTS, f"child:{signal.SIGTERM.value}")
        self.assertEqual(finished.status, 0, finished)
        self.check(SEGMENTS + 1, "finalized")
        self.assertFalse(self.parts.exists())

    @needs_other_ranks
    def test_without_the_command_the_parts_say_how_to_go_on(self):
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "abort"], HALCYON_OUTPUT=self.profile)
        self.assertEqual([line for line in finished.errors.splitlines() if line.startswith("halcyon")],
                         ["halcyon: the run did not reach MPI_Finalize; what it recorded becomes a profile by: "
                          f"halcyon recover {self.parts}"])
        self.assertEqual(len(list(self.parts.iterdir())), 2)
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
        first, second = sorted(self.parts.iterdir())
        whole = first.read_bytes()
        alone = self.halcyon("recover", "-o", "alone.h5", second)
        self.assertEqual(alone.status, 0, alone)
        kept = self.check(SEGMENTS, "aborted", self.directory / "alone.h5")
        self.assertEqual(kept.attributes["incomplete"], "rank 0 of 2 left nothing")
        for size in (0, 10, 100, 5000, len(whole) // 2):
            with self.subTest(size=size):
                first.write_bytes(whole[:size])
                damaged = self.halcyon("recover", "-o", f"damaged{size}.h5", first)
                self.assertEqual((damaged.status, damaged.output, len(damaged.errors.splitlines())), (2, "", 1), damaged)
        missing = self.halcyon("recover", self.directory / "nothing.h5.parts")
        self.assertEqual(missing.status, 2, missing)

    # -- no place for the profile

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
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", full], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "finalize"], HALCYON_OUTPUT=full / "run.h5",
                               TMPDIR=self.directory / "elsewhere")
        self.check_second_place(finished, "full/run.h5")
        self.assertEqual(list(full.iterdir()), [])

    def check_dropped(self, profile):
        kept = halcyon_test.Profile(profile)
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
        finished = self.mpirun(2, [PROGRAM, MANY, "quota:2000000", 1], HALCYON_OUTPUT=self.profile, HALCYON_MEMORY=1)
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
