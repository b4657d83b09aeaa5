"""What a run recorded becomes a profile, also if the run ends without MPI_Finalize or the profile cannot be written."""
import os
import shutil
import signal
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import halcyon_test
from halcyon_test import HALCYON, LIBRARY, MPI, PROGRAMS, TIME_LIMIT, WITHOUT_OPENCL, WRITER, Profile

PROGRAM = PROGRAMS / "dies"
HANDLERS = PROGRAMS / "libhandlers.so"
CHAINED = PROGRAMS / "libchained.so"
ENDS = PROGRAMS / "libends.so"
SEGMENTS = 5000  # one block of 4096, and an open one
MANY = 40000  # more than fit into a mebibyte
EXIT_STATUS, ABORT_STATUS = 7, 9  # of dies.c
BATCH_SIGNALS = {signal.SIGTERM, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE,
                 signal.SIGXFSZ, signal.SIGVTALRM, signal.SIGSTKFLT, signal.SIGPOLL, signal.SIGRTMIN, signal.SIGRTMAX}
WAYS_TO_SEND = ("raise", "kill", "group", "killpg", "sigqueue", "tgkill", "pthread_kill")
QUOTA = 2000000  # bytes of a file with the parts of both ranks, which MANY segments do not fit into
PIECE = 188416  # bytes, in which the ranks of a file take turns
SMALL_STACK = 8192  # bytes: what SIGSTKSZ once was
WRITER_THAT_SIGNALS = Path(__file__).parent / "writer_that_signals.sh"


@dataclass(frozen=True)
class Way:
    """A way to end. `words` are those of dies.c: how, and the rank alone that ends so."""
    words: tuple
    statuses: set | None  # those that the launcher may return; None: any
    exit_state: str
    preload: tuple = ()  # behind the recorder


def way_of_signal(number, words, preload=()):
    return Way(words, MPI.statuses_of_signal(number), f"signal {number.value}", preload)


WAYS = [
    Way(("abort", 1), MPI.statuses_of_abort(ABORT_STATUS), "aborted"),
    Way(("fatal", 1), None, "aborted"),
    *(Way((how, 1), MPI.statuses_of_exit(EXIT_STATUS), "exited") for how in ("exit", "_exit", "quick_exit")),
    Way(("return",), None, "exited"),
    *(way_of_signal(signal.SIGSEGV, (how, 0)) for how in ("segv", "overflow", f"small_stack:{SMALL_STACK}")),
    *(way_of_signal(number, (f"signal:{number.value}",)) for number in BATCH_SIGNALS - MPI.handled_signals),
    *(way_of_signal(number, (f"signal:{number.value}", 1), (HANDLERS,)) for number in (signal.SIGTERM, signal.SIGABRT)),
    way_of_signal(signal.SIGSEGV, ("segv", 1), (HANDLERS,)),
    way_of_signal(signal.SIGTERM, (f"signal:{signal.SIGTERM.value}", 1), (CHAINED,)),
    way_of_signal(signal.SIGTERM, (f"replaced:{signal.SIGTERM.value}", 1)),
    way_of_signal(signal.SIGTERM, (f"own:{signal.SIGTERM.value}", 1)),
    *(way_of_signal(signal.SIGSEGV, (how, 1)) for how in ("once", "default")),
    *(way_of_signal(signal.SIGKILL, (f"sends:{how}:{signal.SIGKILL.value}", 1)) for how in WAYS_TO_SEND),
    way_of_signal(signal.SIGTERM, (f"no_files:{signal.SIGTERM.value}", 1)),
    Way((f"no_room:{signal.SIGRTMIN.value}", 1), MPI.statuses_of_signal(signal.SIGKILL),
        f"signal {signal.SIGRTMIN.value}"),
    way_of_signal(signal.SIGRTMIN, (f"unsent:{signal.SIGRTMIN.value}", 1)),
    way_of_signal(signal.SIGABRT, ("jumps", 1)),
    way_of_signal(signal.SIGABRT, ("starved", 1)),
    # Hydra ends the job when a rank's connection closes, with a status that also varies without the recorder.
    *(Way(("exec", *rank), None, "exited") for rank in ((), (1,))),
    Way(("exits", 1), MPI.statuses_of_exit(EXIT_STATUS), "exited"),
]


class Runs(halcyon_test.Behaviour):
    """What the tests below share."""

    def setUp(self):
        super().setUp()
        self.profile = self.directory / "run.h5"
        self.parts = self.directory / "run.h5.parts"

    def run_that_ends(self, *words, options=(), ranks=2, preload=(), profile=None, **environment):
        """Runs the program under `halcyon run`, which recovers a profile if it has to."""
        program = ["env", "LD_PRELOAD=" + ":".join(map(str, (LIBRARY, *preload))), PROGRAM] if preload else [PROGRAM]
        return self.halcyon("run", "-o", profile or self.profile, *options, "--", *MPI.launch(ranks), *program, *words,
                            **environment)

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


class WaysToEnd(Runs):

    def own_environment(self, **settings):
        return super().own_environment(**WITHOUT_OPENCL, **settings)

    def check_way(self, way, profile, finished):
        if way.statuses is not None:
            self.assertIn(finished.status, way.statuses, finished)
        self.assertRegex(finished.errors, f"{SEGMENTS} segments of 2 of 2 ranks, until the run ended")
        kept = self.check(SEGMENTS, way.exit_state, profile)
        self.assertFalse(Path(f"{profile}.parts").exists())
        if MPI.reports_faults and way.words[0] == "segv" and not way.preload:
            self.assertIn("address not mapped", finished.errors.lower())
        # The operating system counts these; at the end of the run, they are measured.
        self.assertTrue(all(kept.columns["rank_minor_faults"] > 0), kept.columns["rank_minor_faults"])
        self.assertTrue(all(kept.columns["rank_cpu_wait"] >= 0), kept.columns["rank_cpu_wait"])

    def test_each_keeps_all_that_was_recorded(self):
        def run(number):
            profile = self.directory / f"{number}.h5"
            # Two of Open MPI's launchers that start at once in one directory may get in each other's way.
            place = self.directory / f"{number}"
            place.mkdir()
            return profile, self.run_that_ends(SEGMENTS, *WAYS[number].words, preload=WAYS[number].preload,
                                               profile=profile, TMPDIR=place)
        with ThreadPoolExecutor(2) as side_by_side:
            for way, (profile, finished) in zip(WAYS, side_by_side.map(run, range(len(WAYS)))):
                with self.subTest(way=way.words, preload=way.preload):
                    self.check_way(way, profile, finished)

    def test_every_report_warns_of_it(self):
        self.run_that_ends(SEGMENTS, "abort", 1)
        self.assertIn("incomplete-run", [warning["code"] for warning in self.report(self.profile)["warnings"]])

    def test_a_rank_that_ends_by_mpi_finalize_after_all(self):
        finished = self.run_that_ends(SEGMENTS, "late", 1)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn(f"{SEGMENTS} segments of 2 of 2 ranks", finished.errors)
        self.check(SEGMENTS, "exited")

    def test_a_destructor_that_calls_mpi_finalize_ends_the_run_as_any_other(self):
        finished = self.run_that_ends(SEGMENTS, "return", preload=[ENDS])
        self.assertEqual(finished.status, 0, finished)
        self.check(SEGMENTS + 1, "finalized")

    def test_so_does_another_thread_whose_exit_has_mpi_finalize_called(self):
        finished = self.run_that_ends(SEGMENTS, "thread_late")
        self.assertEqual(finished.status, 0, finished)
        self.check(SEGMENTS + 1, "finalized")

    def test_a_rank_without_memory_keeps_no_other_waiting(self):
        for rank, more in (0, 1 << 20), (1, 1 << 20), (1, 0):
            with self.subTest(rank=rank, more=more):
                finished = self.run_that_ends(SEGMENTS, f"no_memory:{more}", rank)
                self.assertEqual(finished.status, 0, finished)
                self.assertIn("no profile is written: a rank has too little memory left", finished.errors)
                self.check(SEGMENTS + 1, "finalized")
                self.profile.unlink()

    def test_ranks_that_may_no_longer_read_each_others_memory(self):
        for how in ("filtered", *(("uncapable",) if os.geteuid() == 0 else ())):  # others have no capabilities
            with self.subTest(how):
                finished = self.run_that_ends(SEGMENTS, how, 1)
                self.assertEqual(finished.status, 0, finished)
                self.assertIn("the ranks may no longer read each other's memory", finished.errors)
                self.check(SEGMENTS + 1, "finalized")
                self.profile.unlink()

    def test_a_rank_that_answers_a_signal_while_no_file_can_be_written(self):
        words = [PROGRAM, SEGMENTS, f"answered:{signal.SIGXCPU.value}"]
        plain = self.mpirun(2, words, preload=())
        self.assertEqual((plain.status, plain.output), (0, "answered 1\n" * 2), plain)
        recorded = self.mpirun(2, words, HALCYON_OUTPUT=self.profile)
        self.assertEqual((recorded.status, recorded.output), (0, plain.output), recorded)
        self.assertIn("what the ranks recorded is lost", recorded.errors)

    def test_a_signal_while_mpi_finalize_merges_the_ranks(self):
        finished = self.run_that_ends(SEGMENTS, f"merging:{signal.SIGXCPU.value}", 0)
        self.assertIn(finished.status, MPI.statuses_of_signal(signal.SIGXCPU), finished)
        self.check(SEGMENTS, f"signal {signal.SIGXCPU.value}")

    def test_a_live_record_that_is_cut_short_ends_nothing(self):
        finished = self.run_that_ends(SEGMENTS, "cuts", 0)
        self.assertIn(finished.status, MPI.statuses_of_abort(ABORT_STATUS), finished)
        self.check(SEGMENTS + 1, "aborted")

    def test_no_descriptors_are_left(self):
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "opens"], HALCYON_OUTPUT=self.profile)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.check(SEGMENTS + 1, "finalized")

    def test_a_child_of_vfork_that_calls_exit_costs_nothing(self):
        finished = self.run_that_ends(SEGMENTS, "vfork")
        self.assertEqual(finished.status, 0, finished)
        self.check(SEGMENTS + 1, "finalized")

    def test_another_program_that_is_not_there_ends_nothing(self):
        finished = self.run_that_ends(SEGMENTS, "no_exec")
        self.assertEqual(finished.status, 0, finished)
        self.check(SEGMENTS + 1, "finalized")
        self.assertFalse(self.parts.exists())

    def first_of_a_container(self, *words):
        program = ["unshare", "--pid", "--fork", "--mount-proc", PROGRAM]
        possible = subprocess.run([*program[:-1], "true"], capture_output=True, text=True, check=False)
        if possible.returncode != 0:
            self.skipTest(f"no container can be made: {possible.stderr.strip()}")
        return self.halcyon("run", "-o", self.profile, "--", *MPI.launch(1), *program, *words)

    def test_the_first_process_of_a_container_survives_what_ends_others(self):
        for number in (signal.SIGTERM, signal.SIGRTMIN):
            finished = self.first_of_a_container(SEGMENTS, f"survives:{number.value}")
            self.assertEqual(finished.status, 0, finished)
            self.check(SEGMENTS + 1, "finalized")
            self.profile.unlink()

    def test_a_fault_of_the_first_process_of_a_container(self):
        finished = self.first_of_a_container(SEGMENTS, "segv", 0)
        self.assertIn(f"{SEGMENTS} segments of 1 of 1 rank,", finished.errors, finished)
        self.check(SEGMENTS, f"signal {signal.SIGSEGV.value}")

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

    def test_a_signal_to_a_child_is_the_childs(self):
        finished = self.run_that_ends(SEGMENTS, f"child:{signal.SIGTERM.value}")
        self.assertEqual(finished.status, 0, finished)
        self.check(SEGMENTS + 1, "finalized")
        self.assertFalse(self.parts.exists())


class KilledRuns(Runs):

    def test_a_launcher_that_is_asked_to_end_twice(self):
        # As by `timeout`, and by Ctrl-C: the launcher gets the signal with the command, and from it.
        command = [HALCYON, "run", "-o", self.profile, "--", *MPI.launch(2), PROGRAM, SEGMENTS, "waits"]
        with subprocess.Popen([str(word) for word in command], cwd=self.directory, env=self.own_environment(),
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            said = iter(process.stderr.readline, "")
            self.assertTrue(any("ready" in line for line in said))
            os.killpg(process.pid, signal.SIGTERM)
            told = "".join(said)
        if MPI.kills_other_ranks and "no profile was written" in told:
            self.skipTest(f"{MPI.name}'s launcher has killed the ranks at once")
        self.assertIn(f"{SEGMENTS} segments of 2 of 2 ranks", told)
        self.check(SEGMENTS, Profile(self.profile).attributes["exit_state"])

    @unittest.skipIf(MPI.kills_other_ranks, f"{MPI.name}'s launcher kills the other ranks before they have spilled")
    def test_a_rank_that_is_killed_before_it_spilled(self):
        finished = self.run_that_ends(SEGMENTS, "killed", 1)
        self.assertIn(finished.status, MPI.statuses_of_signal(signal.SIGKILL), finished)
        kept = self.check(SEGMENTS, "killed")
        self.assertEqual(kept.attributes["incomplete"], "rank 1 of 2 left nothing")
        self.assertEqual(list(kept.columns["rank_host"])[1], b"")
        self.assertEqual(len(self.report("run.h5")["hosts"]), 1)

    def test_all_ranks_killed_after_they_spilled(self):
        finished = self.run_that_ends(self.parts, "killed", options=["--spill", "1"])
        self.assertIn(finished.status, MPI.statuses_of_signal(signal.SIGKILL), finished)
        kept = self.check(None, "killed")
        self.assertGreater(kept.segments, 0)


class ManySegments(Runs):

    def test_segments_beyond_the_memory_setting(self):
        finished = self.run_that_ends(MANY, "finalize", options=["--memory", "1"])
        self.assertEqual(finished.status, 0, finished)
        kept = self.check(MANY + 1, "finalized")
        self.assertEqual(kept.attributes["dropped_segments"], 0)
        self.assertFalse(self.parts.exists())

    def test_the_same_when_it_aborts(self):
        self.run_that_ends(MANY, "abort", options=["--memory", "1"])
        self.check(MANY, "aborted")


class Parts(Runs):

    def abort(self):
        # One rank alone: if both abort, the launcher may kill one before it does.
        return self.mpirun(2, [PROGRAM, SEGMENTS, "abort", 1], HALCYON_OUTPUT=self.profile, HALCYON_LIVE="on")

    def check_line(self, finished):
        self.assertEqual([line for line in finished.errors.splitlines() if line.startswith("halcyon")],
                         ["halcyon: the run did not reach MPI_Finalize; to make a profile of what it recorded: "
                          f"halcyon recover {self.parts}"])

    def test_without_the_command_one_rank_says_how_to_go_on_whichever_ends_first(self):
        for how in (("abort",), ("abort", 0), ("_exit",), ("_exit", 1), ("segv", 1), ("exec",), ("exec", 1)):
            self.check_line(self.mpirun(2, [PROGRAM, SEGMENTS, *how], HALCYON_OUTPUT=self.profile, HALCYON_LIVE="on"))
            for part in self.parts.iterdir():
                part.unlink()

    def test_without_the_command_the_parts_say_how_to_go_on(self):
        self.check_line(self.abort())
        self.assertEqual(len(list(self.parts.iterdir())), 1)  # of all ranks
        recovered = self.halcyon("recover", self.parts)
        self.assertEqual((recovered.status, recovered.errors), (0, ""), recovered)
        self.assertIn(f"{SEGMENTS} segments of 2 of 2 ranks", recovered.output)
        self.check(SEGMENTS, "aborted")
        again = self.halcyon("recover", self.parts)
        self.assertEqual(again.status, 2)
        self.assertIn("never overwritten", again.errors)

    def test_a_signal_that_a_library_answers_first_leaves_that_line_too(self):
        for how in ("segv", f"signal:{signal.SIGTERM.value}", f"signal:{signal.SIGHUP.value}"):
            finished = self.mpirun(2, [PROGRAM, SEGMENTS, how, 0], preload=[LIBRARY, HANDLERS],
                                   HALCYON_OUTPUT=self.profile, HALCYON_LIVE="on")
            self.assertIn(f"halcyon recover {self.parts}\n", finished.errors, how)

    def test_where_no_part_can_be_written_the_first_rank_says_so(self):
        by_signal = f"signal:{signal.SIGTERM.value}"
        for how, more in (("_exit", ()), ("abort", ()), (by_signal, ()), (by_signal, (HANDLERS,))):
            finished = self.mpirun(1, [PROGRAM, SEGMENTS, how], preload=[LIBRARY, *more], HALCYON_OUTPUT="/proc/run.h5",
                                   TMPDIR="/proc")
            self.assertEqual([line for line in finished.errors.splitlines() if line.startswith("halcyon")],
                             ["halcyon: the run did not reach MPI_Finalize, and what it recorded is lost: cannot write "
                              "to /proc/run.h5.parts"], (how, more))

    def test_parts_of_some_ranks_and_damaged_ones(self):
        self.abort()
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
        self.assertRegex(cut_off.output, f"{SEGMENTS} segments of 2 of 2 ranks, .*; block 0 of rank 1 in .* is damaged")
        missing = self.halcyon("recover", self.directory / "nothing.h5.parts")
        self.assertEqual(missing.status, 2, missing)


class Places(Runs):
    """Profiles that cannot be written where they should."""

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

    def full_disk(self):
        (self.directory / "elsewhere").mkdir()
        full = self.directory / "full"
        full.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", full],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        return full

    def test_a_disk_that_is_full(self):
        full = self.full_disk()
        finished = self.mpirun(2, [PROGRAM, SEGMENTS, "finalize"], HALCYON_OUTPUT=full / "run.h5",
                               TMPDIR=self.directory / "elsewhere")
        self.check_second_place(finished, "full/run.h5")
        self.assertEqual(list(full.iterdir()), [])

    def test_a_disk_that_is_full_when_the_run_dies(self):
        full = self.full_disk()
        elsewhere = self.directory / "elsewhere"
        for left, how in ((0, "abort"), (4096, f"signal:{signal.SIGTERM.value}")):
            with self.subTest(left=left):
                fill = full / "fill"
                fill.write_bytes(bytes(102400 - left))
                finished = self.run_that_ends(SEGMENTS, how, profile=full / "run.h5", TMPDIR=elsewhere)
                self.assertRegex(finished.errors, f"elsewhere/run.h5: {SEGMENTS} segments of 2 of 2 ranks")
                self.check(SEGMENTS, Profile(elsewhere / "run.h5").attributes["exit_state"], elsewhere / "run.h5")
                self.assertEqual([*full.iterdir(), *elsewhere.iterdir()], [fill, elsewhere / "run.h5"])
                (elsewhere / "run.h5").unlink()

    def test_without_the_command_that_place_is_in_the_line(self):
        elsewhere = self.directory / "elsewhere"
        elsewhere.mkdir()
        finished = self.mpirun(1, [PROGRAM, SEGMENTS, "abort"], HALCYON_OUTPUT="/proc/run.h5", TMPDIR=elsewhere)
        self.assertIn(f"halcyon recover {elsewhere}/run.h5.parts\n", finished.errors)
        self.assertEqual(self.halcyon("recover", elsewhere / "run.h5.parts").status, 0)
        self.check(SEGMENTS, "aborted", elsewhere / "run.h5")

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
