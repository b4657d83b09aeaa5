"""A run shows what it does in shared memory while it runs, and nothing is left of that; it stands still if it is asked."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, HALCYON, LIBRARY, MPI, PROGRAMS, TIME_LIMIT, Profile, only_open_mpi

PROGRAM = PROGRAMS / "dies"
TOOL = BUILD / "tests" / "live_record"
RANKS = 2
LEASE = 8  # seconds; on a busy machine a look may take some of them
CPU_CLOCK = 0.02  # seconds; twice the step in which the kernel counts CPU time
LONG_LEASE = 9  # less than what ranks believe
PRIVATE_SHARED_MEMORY = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=8k none /dev/shm && exec "$@"', "sh"]


def cpu_seconds(process):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class LiveRecord(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.profile = self.directory / "run.h5"
        self.stop = self.directory / "stop"

    # Running

    def start(self, command, **environment):
        """Starts a command that ends when self.stop exists."""
        process = subprocess.Popen([str(word) for word in command], cwd=self.directory, text=True,
                                   env=self.own_environment(**environment), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, process)
        return process

    def start_ranks(self, how="finalize", prefix=(), **settings):
        """Starts the program with the library preloaded, and with the live record unless the settings say otherwise."""
        settings = {"LD_PRELOAD": LIBRARY, "HALCYON_OUTPUT": self.profile, "HALCYON_LIVE": "on", **settings}
        exported = [word for name, value in settings.items() for word in MPI.exported(name, value)]
        return self.start([*prefix, *MPI.launch(RANKS, *exported), PROGRAM, self.stop, how])

    def end(self, process):
        """Ends a program that start() has started: its status and errors."""
        self.stop.touch()
        errors = process.communicate(timeout=TIME_LIMIT)[1]
        return process.returncode, errors

    # Looking

    def record(self):
        """The live record of this test's program, or None."""
        looked = self.run_command([TOOL, "list"])
        self.assertEqual(looked.status, 0, looked)
        jobs = json.loads(looked.output)
        self.assertLessEqual(len(jobs), 1)
        return jobs[0] if jobs else None

    def wait_for(self, process, is_so):
        """The first record for which `is_so`, while the process runs."""
        end = time.monotonic() + TIME_LIMIT
        while time.monotonic() < end:
            record = self.record()
            if record is not None and len(record["here"]) == RANKS and is_so(record["here"]):
                return record
            self.assertIsNone(process.poll(), "the program has ended")
        raise AssertionError(f"it never came: {record}")

    def wait_until_it_runs(self, process):
        return self.wait_for(process, lambda here: all(rank["segments"] > 0 for rank in here))

    def suspend(self, process, seconds):
        """Suspends the program: its record now that all ranks stand still, the boundary, when the promise ends, and how
        often they were asked."""
        record = self.wait_until_it_runs(process)
        asked = self.run_command([TOOL, "suspend", record["file"], seconds])
        self.assertEqual(asked.status, 0, asked)
        boundary, until, times = asked.output.split()
        return self.record(), int(boundary), float(until), int(times)

    # What it shows

    def test_it_shows_progress_while_the_program_runs_and_is_gone_when_it_has_ended(self):
        process = self.start_ranks()
        first = self.wait_until_it_runs(process)
        self.assertEqual(first["ranks"], RANKS)
        self.assertEqual(sorted(rank["rank"] for rank in first["here"]), list(range(RANKS)))
        before = {rank["rank"]: rank for rank in first["here"]}
        later = self.wait_for(process, lambda here: all(rank["segments"] > before[rank["rank"]]["segments"]
                                                        for rank in here))
        for rank in later["here"]:
            self.assertTrue(rank["is_alive"])
            self.assertEqual(rank["state"], "running")
            self.assertGreaterEqual(rank["boundaries"], rank["segments"])
            self.assertGreater(rank["usual_seconds"], 0.0)
            self.assertRegex(rank["last_place"], r"^(barrier|bcast)@dies\+0x")
            self.assertGreaterEqual(len(rank["kinds"]), 3)  # with 0, 1 and 2 sends
        self.assertEqual(self.end(process), (0, ""))
        self.assertFalse(Path(first["file"]).exists())
        self.assertNotIn("suspensions", Profile(self.profile).attributes)

    def test_ranks_that_are_killed_leave_a_record_that_the_next_reader_removes(self):
        process = self.start_ranks()
        record = self.wait_until_it_runs(process)
        process.kill()
        for rank in record["here"]:
            try:
                os.kill(rank["process"], signal.SIGKILL)
            except ProcessLookupError:
                pass  # it ended with its launcher
        process.wait()
        end = time.monotonic() + TIME_LIMIT
        while Path(record["file"]).exists() and time.monotonic() < end:
            self.record()
        self.assertFalse(Path(record["file"]).exists())

    def test_a_reader_that_sees_none_of_its_processes_leaves_it(self):
        process = self.start_ranks()
        record = self.wait_until_it_runs(process)
        elsewhere = self.run_command(["unshare", "--pid", "--fork", "--mount-proc", TOOL, "list"])
        if "unshare" in elsewhere.errors:
            self.skipTest(elsewhere.errors)
        [seen] = json.loads(elsewhere.output)
        self.assertFalse(any(rank["is_alive"] for rank in seen["here"]), seen)
        self.assertEqual(self.record()["file"], record["file"])
        self.assertEqual(self.end(process), (0, ""))

    def test_a_run_that_aborts_leaves_no_record(self):
        process = self.start_ranks("abort")
        record = self.wait_until_it_runs(process)
        self.end(process)
        if not MPI.kills_other_ranks:
            self.assertFalse(Path(record["file"]).exists())
        self.assertIsNone(self.record())

    def test_a_child_has_no_part_in_it(self):
        process = self.start_ranks(f"child:{signal.SIGTERM.value}")
        record = self.wait_until_it_runs(process)
        self.assertEqual(self.end(process), (0, ""))
        self.assertFalse(Path(record["file"]).exists())

    # When there is one

    def check_has_none(self, process):
        """Checks that there is no record once the program records: then it has left a part."""
        parts = self.directory / "run.h5.parts"
        while not parts.exists():
            self.assertIsNone(process.poll())
        self.assertIsNone(self.record())
        self.assertEqual(self.end(process)[0], 0)

    def test_the_command_turns_it_on_and_its_option_turns_it_off(self):
        run = [HALCYON, "run", "-o", self.profile, "--no-baseline", "--spill", "1"]
        program = ["--", *MPI.launch(RANKS), PROGRAM, self.stop, "finalize"]
        process = self.start([*run, *program])
        self.wait_until_it_runs(process)
        self.assertEqual(self.end(process)[0], 0)
        for words, environment in ((["--live", "off"], {}), ([], {"HALCYON_LIVE": "off"})):
            self.stop.unlink()
            self.profile.unlink()
            self.check_has_none(self.start([*run, *words, *program], **environment))

    def test_the_library_alone_has_none_unless_it_is_asked_to(self):
        self.check_has_none(self.start_ranks(HALCYON_LIVE="", HALCYON_SPILL=1))

    def test_a_value_that_is_neither_on_nor_off_is_named(self):
        finished = self.mpirun(RANKS, [PROGRAM, 100, "finalize"], HALCYON_OUTPUT=self.profile, HALCYON_LIVE="maybe")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("HALCYON_LIVE=maybe", finished.errors)
        refused = self.halcyon("run", "--live", "maybe", "--", *MPI.launch(RANKS), PROGRAM, 100, "finalize")
        self.check_refused(refused, "--live", "maybe")

    @only_open_mpi("MPICH itself needs shared memory")
    def test_full_shared_memory_costs_the_record_and_not_the_run(self):
        if subprocess.run([*PRIVATE_SHARED_MEMORY, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mount name space")
        finished = self.run_command(
            [*PRIVATE_SHARED_MEMORY, *MPI.launch(RANKS, "--mca", "btl", "self,tcp"),
             *(word for name, value in (("LD_PRELOAD", LIBRARY), ("HALCYON_OUTPUT", self.profile), ("HALCYON_LIVE", "on"))
               for word in MPI.exported(name, value)), PROGRAM, 1000, "finalize"], HALCYON_LIVE_DIR="")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(Profile(self.profile).segments, 1001)

    # Suspension

    def test_all_ranks_stop_after_the_same_boundary_and_go_on_when_the_promise_ends(self):
        process = self.start_ranks()
        record, boundary, until, times = self.suspend(process, LEASE)
        self.assertEqual([(rank["state"], rank["boundaries"]) for rank in record["here"]],
                         [("suspended", boundary)] * RANKS)
        began, before = time.monotonic(), [cpu_seconds(rank["process"]) for rank in record["here"]]
        standing, used = record, before
        while all(rank["state"] == "suspended" for rank in standing["here"]):
            ended, used = time.monotonic(), [cpu_seconds(rank["process"]) for rank in record["here"]]
            standing = self.record()
            self.assertIsNotNone(standing, "the program has ended")
        for rank in range(RANKS):  # on a busy machine, little may be left of the promise when it is seen
            self.assertLess(used[rank] - before[rank], 0.1 * (ended - began) + CPU_CLOCK)
        self.assertGreaterEqual(time.monotonic(), until)
        self.wait_for(process, lambda here: all(rank["segments"] > boundary for rank in here))
        self.assertEqual(self.end(process), (0, ""))

        profile = Profile(self.profile)
        suspensions = profile.attributes["suspensions"]
        self.assertIn(suspensions, range(1, times + 1))
        suspended = profile.attributes["suspended_seconds"]
        self.assertGreater(suspended, 0.5 * LEASE)
        self.assertLess(suspended, until - began + LEASE)
        self.assertLess(max(profile.columns["duration"]), suspended)
        self.assertGreaterEqual(sum(profile.columns["gap_before"]), 0.999 * suspended)
        self.assertLess(sum(profile.columns["duration"]), profile.attributes["run_time_seconds"] * 1.001)
        self.assertLess(min(profile.columns["rank_off_cpu"]), suspended)
        info = json.loads(self.halcyon("info", "--json", "-", self.profile).output)
        self.assertEqual((info["suspensions"], info["suspended_seconds"]), (suspensions, suspended))
        words = ("once" if suspensions == 1 else f"{suspensions} times") + " by `halcyon regulate`"
        self.assertIn(words, self.halcyon("info", self.profile).output)
        self.assertIn(words, self.halcyon("report", self.profile).output)
        self.assertEqual(self.report(self.profile)["suspended_seconds"], suspended)

    def test_a_signal_ends_a_suspended_run_at_once(self):
        process = self.start_ranks()
        record, _, until, _ = self.suspend(process, LONG_LEASE)
        os.kill(record["here"][0]["process"], signal.SIGTERM)
        process.communicate(timeout=TIME_LIMIT)
        self.assertLess(time.monotonic(), until)
        self.assertIn(process.returncode, MPI.statuses_of_signal(signal.SIGTERM))


if __name__ == "__main__":
    halcyon_test.main()
