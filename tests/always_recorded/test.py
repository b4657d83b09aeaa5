"""Every run of a site gets a row in its ledger, and programs do not notice: HALCYON_LEDGER."""
import contextlib
import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, LIBRARY, MPI, OTHER_MPI, PROGRAMS, library_of
from halcyon_test.processes import end_all_with, processes_of
from halcyon_test.site import installed_at
from halcyon_test.slurm_cluster import Cluster, missing

PROGRAM = EXAMPLES / "halo_c"
COMMAND = [PROGRAM, "50"]
BARRIERS = 1000
MANY = 100000  # more than a mebibyte has room for
GOES_ON = PROGRAMS / "goes_on"  # is ready after so many barriers, and goes on until it reads a line
ENDLESS = PROGRAMS / "endless"  # is ready after so many barriers, and goes on until a signal ends it
MEBIBYTE = 1 << 20
MOST_BYTES = 50000  # of a job in the spool
OTHER_USER = "nobody"
OF_SLURM = {"SLURM_JOB_ID": "4711", "SLURM_JOB_ACCOUNT": "physics", "SLURM_JOB_PARTITION": "short",
            "SLURM_JOB_USER": "alice", "SLURM_CLUSTER_NAME": "halcyon"}


class WithSpool(halcyon_test.Behaviour):

    without = {}  # what a command does without the recorder, found once

    def setUp(self):
        super().setUp()
        self.spool = self.scratch_directory()
        self.spool.chmod(0o1733)
        self.unfinished = self.spool / f"unfinished-{os.geteuid()}"
        self.database = self.directory / "site.db"

    def recorded(self, *command, ranks=2, spool=None, **environment):
        return self.mpirun(ranks, command or COMMAND, HALCYON_LEDGER=spool or self.spool, **environment)

    def plain(self, *command):
        command = tuple(map(str, command or COMMAND))
        if command not in self.without:
            self.without[command] = self.mpirun(2, command, preload=())
        return self.without[command]

    def wait_until(self, is_so):
        end = time.monotonic() + halcyon_test.TIME_LIMIT
        while not is_so() and time.monotonic() < end:
            pass
        self.assertTrue(is_so())

    def wait_for_judges(self):
        """Runs are judged after their programs have ended, and behind all other processes: not here, if root asks."""
        def are_through():
            for judge in processes_of("halcyon", self.spool) if os.geteuid() == 0 else ():
                with contextlib.suppress(OSError):  # it has just ended
                    for thread in Path(f"/proc/{judge}/task").iterdir():
                        os.setpriority(os.PRIO_PROCESS, int(thread.name), 0)
            return not processes_of("halcyon-keep", self.spool)
        self.wait_until(are_through)

    def spooled(self):
        self.wait_for_judges()
        return sorted(self.spool.glob("*.run"))

    def left(self):
        """What is neither a spool file nor the user's empty place."""
        self.wait_for_judges()
        return [path for path in self.spool.rglob("*") if path.suffix != ".run" and path != self.unfinished]

    def collect(self, *words, status=0):
        self.wait_for_judges()
        finished = self.halcyon("ledger", "collect", *words, self.spool)
        self.assertEqual(finished.status, status, finished)
        return finished.output

    def runs(self):
        """The runs of the ledger, after everything in the spool has been ingested."""
        self.wait_for_judges()
        for words in (["ingest", self.spool], ["runs", "--json", "-"]):
            finished = self.halcyon("ledger", *words, "--database", self.database)
            self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return json.loads(finished.output)

    def rows(self, sql):
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            return database.execute(sql).fetchall()

    def check_not_noticed(self, finished, *command):
        self.assertEqual(finished, self.plain(*command))
        self.check_left_nothing()

    def check_left_nothing(self):
        self.assertEqual(self.spooled(), [])
        self.assertEqual(list(self.directory.glob("*.h5*")) + list(self.temporary.glob("*.h5*")), [])

    def started(self, *words_of_program, program=ENDLESS, before=(), **environment):
        """The program with the recorder, when its ranks are ready. `before`: words of a command that starts it."""
        words = MPI.launch(2)
        for name, value in {"HALCYON_LEDGER": self.spool, "LD_PRELOAD": LIBRARY, **environment}.items():
            words += MPI.exported(name, value)
        process = subprocess.Popen([str(word) for word in [*before, *words, program, *(words_of_program or [BARRIERS])]], cwd=self.directory, text=True,
                                   env=self.own_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process


class Rows(WithSpool):

    def test_a_run_becomes_one_small_file_and_nothing_else(self):
        self.assertEqual(self.recorded(), self.plain())
        [file] = self.spooled()
        self.assertLessEqual(file.stat().st_size, MOST_BYTES)
        self.assertEqual(self.left(), [])
        self.assertEqual(list(self.directory.glob("*.h5*")) + list(self.temporary.glob("*.h5*")), [])
        [run] = self.runs()
        self.assertEqual((run["ranks"], run["program"], run["exit_state"]), (2, "halo_c", "finalized"))

    def test_the_batch_system_says_whose_run_it_is(self):
        self.recorded(**OF_SLURM)
        [run] = self.runs()
        self.assertEqual((run["project"], run["partition"], run["user"], run["job"]),
                         ("physics", "short", "alice", "4711"))
        for by, name in (("project", "physics"), ("partition", "short"), ("user", "alice"), ("program", "halo_c")):
            lost = self.halcyon("ledger", "lost", "--by", by, "--database", self.database)
            self.assertIn(name, lost.output)

    def test_a_run_of_one_rank(self):
        self.recorded(ranks=1)
        self.assertEqual([run["ranks"] for run in self.runs()], [1])

    def test_the_row_of_a_profile_that_stays_is_there_when_the_program_has_ended(self):
        self.recorded(PROGRAM, "20000", HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual(len(list(self.spool.glob("*.run"))), 1)  # nobody would collect it later

    def test_a_profile_that_is_asked_for_stays(self):
        self.assertEqual(self.recorded(HALCYON_OUTPUT=self.directory / "run.h5"), self.plain())
        self.assertTrue((self.directory / "run.h5").exists())
        self.assertEqual((len(self.spooled()), self.left()), (1, []))
        finished = self.halcyon("run", "-o", "second.h5", "--", *MPI.launch(2), *COMMAND, HALCYON_LEDGER=self.spool)
        self.assertEqual(finished.status, 0, finished)
        self.assertTrue((self.directory / "second.h5").exists())
        self.assertEqual((len(self.spooled()), self.left()), (2, []))

    def test_a_run_of_many_slices_is_kept_small(self):
        path = self.record_disturbed("long.h5")
        with halcyon_test.editing(path) as profile:
            profile["duration"][...] = profile["duration"][...] * 10000
            profile.attrs["run_time_seconds"] *= 10000
        finished = self.halcyon("ledger", "add", "--spool", self.spool, path)
        self.assertEqual(finished.status, 0, finished)
        [file] = self.spooled()
        self.assertLessEqual(file.stat().st_size, MOST_BYTES)
        self.runs()
        self.assertGreater(self.rows("SELECT COUNT(*) FROM slice")[0][0], 100)


class EndedRuns(WithSpool):

    def test_a_run_of_more_segments_than_memory_holds_leaves_no_more_than_that(self):
        process = self.started(MANY, HALCYON_MEMORY="1")
        part = next(self.unfinished.glob("*.parts/*.part"))
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
        self.assertLess(part.stat().st_blocks * 512, 4 * MEBIBYTE)  # of two ranks
        self.collect("--idle", "0")
        self.runs()
        [(segments,)] = self.rows("SELECT segments FROM run")
        self.assertLess(segments, MANY)

    def check_collected(self, exit_states, least_segments, *words):
        self.assertEqual(self.spooled(), [])
        self.assertEqual(self.collect(), "0 runs put into the spool\n")  # it may still run
        self.assertEqual(self.collect(*words), "1 run put into the spool\n")
        self.assertEqual(self.left(), [])
        [run] = self.runs()
        self.assertIn(run["exit_state"], exit_states)
        self.assertEqual(run["ranks"], 2)
        [(segments,)] = self.rows("SELECT segments FROM run")
        self.assertGreaterEqual(segments, least_segments)

    def test_a_run_that_is_killed_before_it_has_saved_anything(self):
        process = self.started()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        end_all_with("HALCYON_LEDGER", self.spool)
        self.check_collected({"killed"}, 0, "--idle", "0")

    def test_a_job_at_its_time_limit(self):
        process = self.started(SLURM_JOB_ID="4711", HALCYON_LIVE="on")  # with which the ranks of a host wait for others
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
        self.assertNotIn("halcyon", errors)
        self.assertEqual(self.collect("--job", "471"), "0 runs put into the spool\n")
        self.check_collected({"signal 15"}, BARRIERS, "--job", "4711")

    def test_halcyon_run_hands_on_what_it_recovers(self):
        process = subprocess.Popen([HALCYON, "run", "-o", "run.h5", "--", *MPI.launch(2), str(ENDLESS), str(BARRIERS)],
                                   cwd=self.directory, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.own_environment(HALCYON_LEDGER=self.spool))
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual((len(self.runs()), self.left()), (1, []))

    def test_a_profile_that_was_not_judged(self):
        self.unfinished.mkdir()
        shutil.copy(self.record_disturbed(), self.unfinished / "app.2p.4711.20260102T030405.h5")
        self.assertEqual(self.collect("--job", "4711"), "1 run put into the spool\n")
        self.assertEqual((len(self.spooled()), self.left()), (1, []))

    def test_what_could_not_be_judged_at_the_end_is_judged_later(self):
        alone = self.directory / "without_the_command"
        (alone / "lib").mkdir(parents=True)
        shutil.copy(LIBRARY, alone / "lib")
        shutil.copytree(LIBRARY.parents[1] / "libexec", alone / "libexec")
        finished = self.mpirun(2, COMMAND, preload=(alone / "lib" / LIBRARY.name,), HALCYON_LEDGER=self.spool)
        self.assertEqual(finished, self.plain())
        self.wait_for_judges()
        [saved] = [path for path in self.left() if path.is_file()]
        self.assertEqual((saved.suffix, self.spooled()), (".frames", []))
        self.assertEqual(self.collect("--idle", "0"), "1 run put into the spool\n")
        [run] = self.runs()
        self.assertEqual((run["ranks"], run["program"], run["exit_state"]), (2, "halo_c", "finalized"))
        self.assertEqual(self.left(), [])

    def test_the_process_that_writes_for_the_ranks_is_killed(self):
        process = self.started(0, program=GOES_ON, HALCYON_SPILL="1")
        self.wait_until(lambda: len(list(self.unfinished.glob("*.parts/*.part"))) == 1)
        for keeper in processes_of("halcyon-keep", self.spool):
            os.kill(keeper, signal.SIGKILL)
        output, errors = process.communicate("end\n")
        self.assertEqual((process.returncode, output, errors), (0, "ended\n", ""))
        self.assertEqual(len(self.spooled()), 1)
        self.collect("--idle", "0")  # of the parts, of which less is known
        self.assertEqual([(one["ranks"], one["exit_state"]) for one in self.runs()], [(2, "finalized")])
        self.assertEqual(self.left(), [])

    def test_what_is_being_judged_is_left_to_who_does_it(self):
        self.unfinished.mkdir()
        saved = self.unfinished / "app.2p.4711.20260102T030405.frames"
        shutil.copy(self.record_disturbed(), saved)
        with open(saved, "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertEqual(self.collect("--job", "4711"), "0 runs put into the spool\n")
        self.assertEqual(self.collect("--job", "4711"), "1 run put into the spool\n")

    def test_what_is_damaged_is_told_and_stays(self):
        self.unfinished.mkdir()
        damaged = self.unfinished / "a.2p.1.x.h5"
        damaged.write_bytes(b"no profile")
        pipe = self.unfinished / "c.2p.1.x.h5"
        os.mkfifo(pipe)
        shutil.copy(self.record_disturbed(), self.unfinished / "b.2p.1.x.h5")
        finished = self.halcyon("ledger", "collect", "--job", "1", self.spool)
        self.assertEqual((finished.status, finished.output), (2, "1 run put into the spool\n"), finished)
        self.assertEqual(len(finished.errors.splitlines()), 2, finished)
        for path in (damaged, pipe):
            self.assertIn(str(path), finished.errors)
        self.assertEqual(set(self.left()), {damaged, pipe})

    def test_what_is_known_better_takes_the_place_of_what_was_collected_too_early(self):
        self.recorded()
        [whole] = self.spooled()
        later = whole.read_bytes()
        document = json.loads(later.split(b"\n", 1)[1])
        document["run"].update(exit_state="killed", segments=1)
        contents = json.dumps(document).encode() + b"\n"
        value = 0xcbf29ce484222325
        for byte in contents:
            value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
        name, version = later.split(b" ", 2)[:2]
        early = b" ".join([name, version, f"{len(contents)} {value:016x}\n".encode()]) + contents
        for text, exit_state in ((early, "killed"), (later, "finalized"), (early, "finalized")):
            whole.write_bytes(text)
            self.assertEqual([run["exit_state"] for run in self.runs()], [exit_state])
        self.assertEqual((self.spooled(), self.left()), ([], []))


class TurnedOff(WithSpool):

    def test_by_the_operator_for_all(self):
        switch = self.spool / "off"
        switch.touch()
        self.check_not_noticed(self.recorded())
        self.assertFalse(self.unfinished.exists())
        self.assertIn(str(switch), self.halcyon("doctor", HALCYON_LEDGER=self.spool).output)
        switch.unlink()
        self.recorded()
        self.assertEqual(len(self.spooled()), 1)

    @unittest.skipIf(os.geteuid() != 0, "only root can make files of other users")
    def test_not_by_another_user(self):
        other = pwd.getpwnam(OTHER_USER)
        for name in ("off", "exclude"):
            (self.spool / name).write_text("*\n")
            os.chown(self.spool / name, other.pw_uid, other.pw_gid)
        self.recorded()
        self.assertEqual(len(self.spooled()), 1)
        prolog = installed_at(self.directory / "site", self.spool) / "task_prolog"
        self.assertIn(f"export HALCYON_LEDGER={self.spool}\n", self.run_command([prolog]).output)
        self.assertNotIn(str(self.spool / "off"), self.halcyon("doctor", HALCYON_LEDGER=self.spool).output)
        (self.spool / "off").unlink()
        (self.spool / "off").touch()
        self.assertEqual(self.run_command([prolog]).output, "")

    def test_for_some_programs(self):
        excluded = self.spool / "exclude"
        for pattern in ("halo_c", "  ha*_?  # why", f"{EXAMPLES}/*", "# a comment\n\nother\nhalo_c\n"):
            with self.subTest(pattern):
                excluded.write_text(pattern)
                self.check_not_noticed(self.recorded())
        self.assertIn(str(excluded), self.halcyon("doctor", HALCYON_LEDGER=self.spool).output)
        excluded.write_text("halo\n#halo_c\n/halo_c\n*/other\n")
        self.recorded()
        self.assertEqual(len(self.spooled()), 1)

    def test_by_the_user(self):
        self.check_not_noticed(self.recorded(spool="off"))
        self.assertEqual(self.left(), [])
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(2), *COMMAND, HALCYON_LEDGER="off")
        self.assertEqual(finished.status, 0, finished)
        self.assertTrue((self.directory / "run.h5").exists())
        self.assertEqual(self.spooled(), [])

    def test_a_profile_that_is_asked_for_is_written_all_the_same(self):
        (self.spool / "off").touch()
        self.assertEqual(self.recorded(HALCYON_OUTPUT=self.directory / "run.h5"), self.plain())
        self.assertTrue((self.directory / "run.h5").exists())
        self.assertEqual(self.spooled(), [])


class Unavailable(WithSpool):

    def check_runs_on(self, finished, command=COMMAND):
        plain = self.plain(*command)
        self.assertEqual((finished.status, finished.output), (plain.status, plain.output), finished)
        self.assertLessEqual(len(finished.errors.splitlines()), 1, finished)
        self.check_left_nothing()

    def test_a_spool_that_is_not_there(self):
        self.check_runs_on(self.recorded(spool=self.directory / "none"))
        file = self.directory / "file"
        file.touch()
        self.check_runs_on(self.recorded(spool=file))

    def test_a_place_of_another_user(self):
        self.unfinished.symlink_to(self.directory)
        finished = self.recorded()
        self.check_runs_on(finished)
        self.assertIn(str(self.unfinished), finished.errors)

    def with_a_spool(self, options, before):
        """A command that starts another one with a spool that is a file system of its own."""
        mounted = f"mount --make-rprivate / && mount -t tmpfs -o {options} none {self.spool} && {before}"
        words = ["unshare", "--mount", "sh", "-c", f'{mounted} && exec "$@"', "sh"]
        if (tried := self.run_command([*words, "true"])).status != 0:
            self.skipTest(f"no file system can be mounted: {tried.errors}")
        return words

    def within(self, options, before, script):
        """Runs the program with a spool that is a file system of its own."""
        words = MPI.launch(2)
        for name, value in {"HALCYON_LEDGER": self.spool, "LD_PRELOAD": LIBRARY}.items():
            words += MPI.exported(name, value)
        return self.run_command([*self.with_a_spool(options, before), *words, *script])

    def test_a_spool_that_is_full(self):
        full = f"(cat /dev/zero > {self.spool}/filled 2>&- || true)"
        self.check_runs_on(self.within("size=64k", full, COMMAND))
        # There is room for the user's place, and for nothing in it.
        place = f"mkdir -m 700 {self.unfinished}"
        self.check_runs_on(self.within("size=64k", f"{place} && {full}", COMMAND))

    def test_a_spool_that_is_full_in_mid_run(self):
        process = self.started(0, program=GOES_ON, before=self.with_a_spool("size=16m", "true"))
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/root{self.spool}/filled", "wb", buffering=0) as filled:
            while True:
                filled.write(bytes(4096))
        output, errors = process.communicate("end\n")
        self.assertEqual((process.returncode, output), (0, "ended\n"))
        self.assertRegex(errors, "^halcyon: the end of this run is not in the ledger of the site: .*No space left on device: "
                                 "make room there.*\n$")

    def test_a_place_that_is_removed_in_mid_run_is_made_again(self):
        process = self.started(0, program=GOES_ON)
        shutil.rmtree(self.unfinished)
        self.assertEqual(process.communicate("end\n"), ("ended\n", ""))
        [run] = self.runs()
        self.assertEqual((run["ranks"], run["exit_state"]), (2, "finalized"))

    def test_a_spool_that_is_removed_in_mid_run(self):
        process = self.started(0, program=GOES_ON)
        shutil.rmtree(self.spool)
        output, errors = process.communicate("end\n")
        self.assertEqual((process.returncode, output), (0, "ended\n"))
        self.assertRegex(errors, f"^halcyon: the end of this run is not in the ledger of the site: cannot write {self.unfinished}"
                                 ".*No such file or directory.*\n$")

    def test_a_spool_that_cannot_be_written(self):
        self.check_runs_on(self.within("size=64k", f"mount -o remount,ro none {self.spool}", COMMAND))

    def test_a_spool_that_is_gone_when_the_program_starts(self):
        gone = self.scratch_directory()
        spool = gone / "spool"
        spool.mkdir(mode=0o1733)
        finished = self.recorded("sh", "-c", f"rm -rf {spool}; exec {PROGRAM} 50", spool=spool)
        self.check_runs_on(finished)

    def test_the_recorder_of_another_mpi_family_is_silent(self):
        other = library_of(OTHER_MPI, "halcyon")
        if not other.exists():
            self.skipTest(f"{other} was not built")
        self.check_not_noticed(self.mpirun(2, COMMAND, preload=(other,), HALCYON_LEDGER=self.spool))


@unittest.skipIf(shutil.which("fuse-overlayfs") is None, "no file system can be made to hang (package fuse-overlayfs)")
class Hanging(WithSpool):
    """The spool is of a file system whose server stops."""

    def setUp(self):
        super().setUp()
        places = {name: self.scratch_directory() for name in ("lowerdir", "upperdir", "workdir")}
        places["upperdir"].chmod(0o1733)
        mounted = ",".join(f"{name}={place}" for name, place in places.items())
        self.server = subprocess.Popen(["fuse-overlayfs", "-f", "-o", mounted, self.spool],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(subprocess.run, ["umount", "-l", self.spool], capture_output=True, check=False)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        while not self.spool.is_mount() and self.server.poll() is None:
            pass
        if not self.spool.is_mount():
            self.skipTest("fuse-overlayfs cannot mount here")

    def hang(self):
        self.server.send_signal(signal.SIGSTOP)

    def check_stopped(self):
        state = Path(f"/proc/{self.server.pid}/stat").read_text().rpartition(")")[2].split()[0]
        self.assertEqual(state, "T")

    def check_one_row(self, *exit_states):
        """When the spool, which still hangs, answers again, nothing is lost."""
        self.check_stopped()
        self.server.send_signal(signal.SIGCONT)
        self.wait_until(lambda: not processes_of("halcyon-keep", self.spool))
        self.collect("--idle", "0")
        [run] = self.runs()
        self.assertIn(run["exit_state"], exit_states)
        self.assertEqual(run["ranks"], 2)
        [(segments,)] = self.rows("SELECT segments FROM run")
        self.assertGreaterEqual(segments, BARRIERS)
        self.assertEqual(self.left(), [])

    def told(self, seconds, **environment):
        """GOES_ON, which goes on for so long after the spool has begun to hang."""
        process = self.started(seconds, program=GOES_ON, **environment)
        self.hang()
        output, errors = process.communicate("end\n")
        self.assertEqual((process.returncode, output, errors), (0, "ended\n", ""))

    def test_when_the_program_starts(self):
        self.hang()
        finished = self.recorded()
        self.assertEqual((finished.status, finished.output), (0, self.plain().output), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("did not answer", finished.errors)
        site = installed_at(self.directory / "site", self.spool)
        for script in ("task_prolog", "epilog"):
            finished = self.run_command([site / script], SLURM_JOB_NODELIST="one", SLURM_JOB_UID=os.geteuid())
            self.assertEqual((finished.status, finished.errors), (0, ""), finished)

    def test_while_the_program_runs(self):
        self.told(2, HALCYON_SPILL="1")
        self.check_one_row("finalized")

    def test_before_it_calls_finalize(self):
        self.told(0)
        self.check_one_row("finalized")

    def test_before_it_is_killed(self):
        for saved in (False, True):
            with self.subTest(saved=saved):
                process = self.started(HALCYON_LIVE="on", **({"HALCYON_SPILL": "1"} if saved else {}))
                if saved:
                    self.wait_until(lambda: len(list(self.unfinished.glob("*.parts/*.part"))) == 1)
                self.hang()
                process.send_signal(signal.SIGTERM)
                _, errors = process.communicate()
                self.assertNotIn("halcyon", errors)
                self.check_one_row("signal 15")
                self.database.unlink()

    def test_before_it_writes_a_profile_that_is_asked_for(self):
        path = self.directory / "run.h5"
        self.told(0, HALCYON_OUTPUT=path)
        self.assertTrue(path.exists())
        self.check_stopped()
        self.server.send_signal(signal.SIGCONT)
        self.wait_until(lambda: len(list(self.spool.glob("[!.]*.run"))) == 1)
        self.assertEqual([run["exit_state"] for run in self.runs()], ["finalized"])

    def test_a_file_system_that_answers_again_has_all(self):
        process = self.started(1, program=GOES_ON, HALCYON_SPILL="1")
        self.hang()
        self.server.send_signal(signal.SIGCONT)
        process.communicate("end\n")
        self.wait_until(lambda: not processes_of("halcyon-keep", self.spool))
        self.assertEqual(([run["exit_state"] for run in self.runs()], self.left()), (["finalized"], []))


class Keeper(halcyon_test.Behaviour):
    """The process of a host that writes to the spool for its ranks, as ranks see it."""

    KEEPER = LIBRARY.parents[1] / "libexec/halcyon/halcyon-keep"
    RANKS = 40
    CREATE, WRITE = 0, 1

    def kept(self, *before):
        """The process, and the connections of its ranks."""
        name = f"halcyon-test-{os.getpid()}-{self.id()}"
        process = subprocess.Popen([*before, self.KEEPER, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.read(), b"")  # it listens
        ranks = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(self.RANKS)]
        for rank in ranks:
            self.addCleanup(rank.close)
            rank.connect("\0" + name)
        return process, ranks

    def created(self, number, rank):
        """What the process answers; nothing if it is as if it were not there."""
        path = self.directory / f"{number}.part"
        try:
            rank.send(struct.pack("QQ", self.CREATE, 0) + f"{self.directory}\0{path}\0".encode())
            return rank.recv(4)
        except OSError:
            return b""

    def check_ends(self, process, ranks):
        for rank in ranks:
            rank.close()
        process.stdin.close()
        self.assertEqual(process.wait(halcyon_test.TIME_LIMIT), 0)

    def test_it_ends_after_all_of_many_ranks(self):
        process, ranks = self.kept()
        self.assertEqual([self.created(*rank) for rank in enumerate(ranks)], self.RANKS * [struct.pack("i", 0)])
        for rank in ranks:
            rank.send(struct.pack("QQ", self.WRITE, 0) + b"x")
            self.assertEqual(rank.recv(4), struct.pack("i", 0))
        self.check_ends(process, ranks)

    def test_ranks_for_which_it_has_no_descriptors_are_told(self):
        process, ranks = self.kept("prlimit", "--nofile=40:40")
        answers = [self.created(*rank) for rank in enumerate(ranks)]
        self.assertEqual(set(answers), {struct.pack("i", 0), b""})
        self.check_ends(process, ranks)


@unittest.skipIf(missing(), f"no {', '.join(missing())}")
class UnderSlurm(WithSpool):
    """With the prolog and the epilog of packaging/slurm."""

    @classmethod
    def setUpClass(cls):
        place = Path(tempfile.mkdtemp(prefix="halcyon-slurm-"))
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        cls.spool_of_site = place / "spool"
        site = installed_at(place / "site", cls.spool_of_site)
        cls.cluster = Cluster(place, MPI.slurm_interface,
                              settings=(f"TaskProlog={site / 'task_prolog'}", f"Epilog={site / 'epilog'}"))
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        self.spool = self.spool_of_site
        shutil.rmtree(self.spool, ignore_errors=True)
        self.spool.mkdir()
        self.spool.chmod(0o1733)
        self.unfinished = self.spool / f"unfinished-{os.geteuid()}"

    def slurm(self, *words, **environment):
        return self.run_command(words, **self.cluster.environment, **environment)

    def submitted(self, script, *options, **environment):
        """Submits the script; its number."""
        submitted = self.slurm("sbatch", "--parsable", "--ntasks=2", "--account=physics",
                               f"--output={self.directory / 'job.out'}", *options, "--wrap", script, **environment)
        self.assertEqual(submitted.status, 0, submitted)
        return submitted.output.strip()

    def output(self):
        return (self.directory / "job.out").read_text() if (self.directory / "job.out").exists() else ""

    def end_of(self, job):
        """What the job has printed, when it has ended and the epilog, too."""
        self.wait_until(lambda: self.slurm("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T")
                        .output.strip() not in {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"})
        return self.output()

    def test_a_job_gets_a_row_for_each_run(self):
        launch = " ".join(map(str, MPI.launch(2)))
        job = self.submitted(f"srun --quiet -n 2 {PROGRAM} 10; {launch} {PROGRAM} 10; true")
        self.assertRegex(self.end_of(job), r"^heat .*\nheat .*\n$")
        runs = self.runs()
        self.assertEqual([(run["job"], run["project"], run["partition"], run["ranks"], run["exit_state"])
                          for run in runs], 2 * [(job, "physics", "main", 2, "finalized")])
        self.assertEqual(self.left(), [])

    def test_a_job_that_is_killed(self):
        job = self.submitted(f"srun --quiet -n 2 {ENDLESS} {BARRIERS}")
        self.wait_until(lambda: "ready" in self.output())
        self.slurm("scancel", "--full", "--signal=KILL", job)
        self.end_of(job)
        self.wait_until(self.spooled)  # by the epilog
        [run] = self.runs()
        self.assertEqual((run["job"], run["project"]), (job, "physics"))
        self.assertIn(run["exit_state"], {"killed", "signal 15"})
        self.assertEqual(self.left(), [])

    def test_a_user_who_stays_out(self):
        for script, environment in ((f"srun --quiet -n 2 {PROGRAM} 10", {"HALCYON_LEDGER": "off"}),
                                    (f"export HALCYON_LEDGER=off; srun --quiet -n 2 {PROGRAM} 10", {})):
            self.assertRegex(self.end_of(self.submitted(script, **environment)), r"^heat .*\n$")
        self.check_left_nothing()

    def test_a_site_that_is_turned_off(self):
        (self.spool / "off").touch()
        job = self.submitted(f"echo $LD_PRELOAD; srun --quiet -n 2 {PROGRAM} 10")
        self.assertRegex(self.end_of(job), r"^\nheat .*\n$")
        self.check_left_nothing()


class Collected(WithSpool):

    @unittest.skipIf(os.geteuid() != 0 or shutil.which("setpriv") is None, "only root can become other users")
    def test_the_timer_takes_what_each_user_has_left(self):
        site = installed_at(self.directory / "site", self.spool)
        other = pwd.getpwnam(OTHER_USER)
        self.spool.parent.chmod(0o755)
        for user in (0, other.pw_uid):
            place = self.spool / f"unfinished-{user}"
            place.mkdir()
            profile = place / "app.2p.4711.20260102T030405.h5"
            shutil.copy(self.record_disturbed(), profile)
            with halcyon_test.editing(profile) as file:
                file.attrs["start_nanoseconds"] += user
            for path in (place, profile):
                os.chown(path, user, user)
                os.utime(path, (0, 0))
        stranger = self.spool / "unfinished-12345"
        stranger.symlink_to(self.spool / "unfinished-0")
        finished = self.run_command([site / "halcyon-collect"])
        self.assertEqual((finished.status, finished.output), (0, 2 * "1 run put into the spool\n"), finished)
        self.assertEqual([file.stat().st_uid for file in self.spooled()], [0, other.pw_uid])

    def test_the_timer_waits_for_no_other(self):
        site = installed_at(self.directory / "site", self.directory / "nowhere")
        self.assertIn("names no directory", self.run_command([site / "halcyon-collect"]).errors)
        [lock] = site.glob("*.lock")
        with open(lock, encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            finished = self.run_command([site / "halcyon-collect"])
            self.assertEqual((finished.status, finished.errors), (0, ""), finished)

    @unittest.skipIf(os.geteuid() != 0 or shutil.which("setpriv") is None, "only root can become other users")
    def test_no_user_holds_up_the_timer_or_gets_the_rights_of_others(self):
        site = installed_at(self.directory / "site", self.spool)
        other = pwd.getpwnam(OTHER_USER)
        for name in (f"unfinished-{other.pw_uid}", f"unfinished-again-{other.pw_uid}"):
            (self.spool / name).mkdir()
            os.chown(self.spool / name, other.pw_uid, 0)  # as where a directory has the group of the one around it
        command = self.directory / "as_whom"
        command.write_text("#!/bin/sh\necho $(id -u) $(id -G); readlink /proc/$$/fd/*\n")
        command.chmod(0o755)
        self.directory.chmod(0o755)
        script = site / "halcyon-collect"
        script.write_text(script.read_text().replace(str(HALCYON), str(command)))
        for readable in (site / "spool", script):  # whatever a user can open, a user can lock
            with open(readable, "rb") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                finished = self.run_command([script])
            self.assertEqual(finished.output.count(f"{other.pw_uid} {other.pw_gid}\n"), 1, finished)
            self.assertNotIn("lock", finished.output)
        [lock] = site.glob("*.lock")
        self.assertEqual(lock.stat().st_mode & 0o077, 0)

    def test_the_module_preloads_the_recorder_and_unloading_it_keeps_out(self):
        lmod = next(Path("/usr/share/lmod").glob("*/init/bash"), None)
        if lmod is None:
            self.skipTest("no Lmod (package lmod)")
        site = installed_at(self.directory / "site", self.spool)
        show = 'echo "$HALCYON_LEDGER $LD_PRELOAD"'
        finished = self.run_command(["bash", "-c", f"source {lmod}; module use {site}; module load halcyon-ledger; {show}; "
                                                   f"module unload halcyon-ledger; {show}; export HALCYON_LEDGER=off; "
                                                   f"module load halcyon-ledger; {show}"])
        self.assertEqual(finished.output, f"{self.spool} {LIBRARY}\n \noff \n", finished)


if __name__ == "__main__":
    halcyon_test.main()
