"""`halcyon watch` shows running jobs: once, in a terminal and to other programs, and it ends a job if it is told to."""
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import halcyon_test
from halcyon_test import (HALCYON, MPI, PROGRAMS, SOURCE, TIME_LIMIT, Hosts, NoHosts, Terminal, check_schema,
                          only_open_mpi)

PROGRAM = PROGRAMS / "dies"
RANKS = 2
BEGIN_SCREEN, END_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
NODES = ("node0", "node1")
PUBLISHED_AT, RECORD = 16, 32  # in a PublicationHeader
NO_JOB, STOPPED = 2, 3  # exit statuses
SAME_VIEW = "what is shown does not depend on the MPI library"


def documented_keys():
    """Those of docs/json.md."""
    section = re.search(r"^## watch\n(.*?)(?=^## |\Z)", (SOURCE / "docs" / "json.md").read_text(), re.M | re.S)[1]
    cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    return {name.removesuffix("[]") for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


class WatchesARun(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.stop = self.directory / "stop"
        self.environment = self.own_environment(TERM="xterm")

    def start(self, *options, launch=(), how=("finalize",), on=None):
        """Starts a run that ends, or whose ranks do what `how` says, when self.stop exists. `launch`: words between the
        launcher and the program. `on`: the words that run a command elsewhere."""
        command = [HALCYON, "run", "-o", self.directory / "run.h5", *options, "--", *MPI.launch(RANKS), *launch, PROGRAM,
                   self.stop, *how]
        if on is not None:
            command = on(command)
        process = subprocess.Popen([str(word) for word in command], cwd=self.directory, env=self.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        self.stop.touch()
        for rank in self.processes_of_ranks():
            os.kill(rank, signal.SIGCONT)
        errors = process.communicate(timeout=TIME_LIMIT)[1]
        return process.returncode, errors

    def kill_ranks(self):
        for rank in self.processes_of_ranks():
            os.kill(rank, signal.SIGKILL)

    def processes_of_ranks(self):
        ranks = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [str(PROGRAM).encode(), str(self.stop).encode()]:
                ranks.append(int(path.parent.name))
        return ranks

    def look(self, process):
        """The job of the process, or None."""
        looked = self.halcyon("watch", "--pid", process.pid, "--once", "--json", "-")
        if looked.status == NO_JOB:
            self.assertIn("no ranks with a live record", looked.errors)
            return None
        self.assertEqual((looked.status, looked.errors), (0, ""), looked)
        jobs = json.loads(looked.output)
        check_schema(jobs, "watch")
        self.assertEqual(len(jobs), 1, jobs)
        return jobs[0]

    def wait_for(self, process, is_so):
        """The first look for which `is_so`, while the program runs."""
        job, end = None, time.monotonic() + TIME_LIMIT
        while time.monotonic() < end:
            self.assertIsNone(process.poll(), "the program has ended")
            job = self.look(process)
            if job is not None and is_so(job):
                return job
        raise AssertionError(f"it never came: {job}")

    def wait_until_it_is_seen(self, process):
        return self.wait_for(process, lambda _: True)

    def wait_until_it_is_judged(self, process):
        return self.wait_for(process, lambda job: job["progress_rate"] is not None and
                             job["interference_percent"] is not None)

    # What is shown

    def test_a_snapshot_has_what_is_known(self):
        process = self.start()
        job = self.wait_until_it_is_judged(process)
        self.assertEqual(set(job), documented_keys())
        self.assertEqual((job["ranks"], job["state"]), (RANKS, "running"))
        self.assertEqual(len(job["hosts"]), 1)
        self.assertIn(str(PROGRAM), job["command"])
        self.assertGreater(job["progress_rate"], 0.0)
        low, high = job["interference_interval_percent"]
        self.assertLessEqual(low, job["interference_percent"])
        self.assertLessEqual(job["interference_percent"], high)
        self.assertRegex(job["last_boundary"], r"^(barrier|bcast)@dies\+0x")
        text = self.halcyon("watch", "--pid", process.pid, "--once")
        for label in ("state", "rate now", "interference", "last boundary"):
            self.assertIn(label, text.output)
        by_name = self.halcyon("watch", job["job"], "--once")
        self.assertEqual(by_name.status, 0, by_name)
        self.assertEqual(self.end(process)[0], 0)

    @only_open_mpi(SAME_VIEW)
    def test_a_rank_that_is_stopped_is_named(self):
        process = self.start()
        self.wait_until_it_is_seen(process)
        stopped = self.processes_of_ranks()[0]
        os.kill(stopped, signal.SIGSTOP)
        job = self.wait_for(process, lambda job: job["state"] == "stands-still")
        self.assertEqual(len(job["stopped_ranks"]), 1, job)
        self.assertGreater(job["last_boundary_seconds_ago"], 0.0)
        text = self.halcyon("watch", "--pid", process.pid, "--once").output
        self.assertIn("stands still", text)
        self.assertIn(f"rank {job['stopped_ranks'][0]} is stopped by a signal", " ".join(text.split()))
        os.kill(stopped, signal.SIGCONT)
        self.wait_for(process, lambda job: job["state"] == "running" and job["stopped_ranks"] == [])

    def test_a_deadlock_is_shown_told_and_ended(self):
        process = self.start(how=("deadlock", 1))
        self.addCleanup(self.kill_ranks)
        self.assertNotEqual(self.wait_until_it_is_judged(process)["state"], "stands-still")
        self.stop.touch()
        job = self.wait_for(process, lambda job: job["state"] == "stands-still")
        self.assertEqual((job["last_rank"], job["stopped_ranks"], job["dead_ranks"]), (1, [], []), job)
        self.assertRegex(job["last_boundary"], r"^barrier@dies\+0x")
        text = " ".join(self.halcyon("watch", "--pid", process.pid, "--once").output.split())
        self.assertIn("stands still for", text)
        self.assertIn(f"{job['last_boundary']}; rank 1 came last", text)
        watched = self.halcyon("watch", "--pid", process.pid, "--warn-if", "standstill > 2s", "--stop-if",
                               f"standstill > {job['last_boundary_seconds_ago'] + 5:.0f}s")
        self.assertEqual(watched.status, STOPPED, watched)
        self.assertEqual(watched.errors.count("standstill > 2 s: standstill"), 1, watched)
        self.assertIn("the job was ended", watched.errors)
        self.assertEqual(self.processes_of_ranks(), [])

    @only_open_mpi(SAME_VIEW)
    def test_figures_for_monitoring_are_replaced_at_each_look(self):
        process = self.start()
        self.wait_until_it_is_judged(process)
        metrics = self.directory / "halcyon.prom"
        looked = self.halcyon("watch", "--pid", process.pid, "--once", "--openmetrics", metrics)
        self.assertEqual(looked.status, 0, looked)
        lines = metrics.read_text().splitlines()
        self.assertEqual(lines[-1], "# EOF")
        documented = re.findall(r"`(halcyon_job_\w+)`", (SOURCE / "docs" / "watch.md").read_text())
        self.assertEqual(sorted(re.findall(r"^# TYPE (\S+)", "\n".join(lines), re.M)), sorted(documented))
        self.assertTrue(any(line.startswith("halcyon_job_interference_ratio{") for line in lines), lines)
        self.assertEqual(sorted(self.directory.glob("halcyon.prom*")), [metrics])

    @only_open_mpi(SAME_VIEW)
    def test_run_tells_the_same_while_its_program_runs(self):
        process = self.start("--watch")
        told = process.stderr.readline()
        if "the host is busy" in told:
            told = process.stderr.readline()
        self.assertRegex(told, r"^halcyon: .*; rate .*, interference ")
        status, errors = self.end(process)
        self.assertEqual(status, 0, errors)

    @only_open_mpi(SAME_VIEW)
    def test_run_shows_it_at_the_bottom_of_a_terminal_and_leaves_that_whole(self):
        terminal = Terminal([HALCYON, "run", "--watch", "-o", "run.h5", "--no-baseline", "--",
                             *MPI.launch(RANKS, *MPI.yield_when_idle), PROGRAM, self.stop, "finalize"],
                            self.environment, self.directory)
        self.addCleanup(terminal.end)
        terminal.wait_for("interference")
        self.assertRegex(terminal.shown, "\x1b\\[1;[0-9]+r")  # these rows scroll
        terminal.resize(10, 100)  # no room for more than a line
        terminal.shown = ""
        terminal.wait_for("; rate ")
        terminal.resize(40, 120)
        terminal.wait_for("last boundary")
        self.stop.touch()
        terminal.wait_for("\x1b[r")
        terminal.wait_for("halcyon report run.h5")

    def run_on_terminal(self, *options, **environment):
        terminal = Terminal([HALCYON, "run", *options, "-o", "run.h5", "--no-baseline", "--",
                             *MPI.launch(RANKS, *MPI.yield_when_idle), PROGRAM, self.stop, "finalize"],
                            self.environment | environment, self.directory)
        self.addCleanup(terminal.end)
        return terminal

    @only_open_mpi(SAME_VIEW)
    def test_run_says_at_its_beginning_what_it_records_and_then_in_one_line_how_it_goes(self):
        terminal = self.run_on_terminal()
        terminal.resize(24, 80)
        terminal.wait_for("halcyon: recording calls of MPI and files")
        terminal.wait_for("; the host is ")
        terminal.wait_for(" segments/s, ")
        self.assertIn("\x1b[1;23r", terminal.shown)  # all rows but one scroll
        for line in re.findall(r"\x1b\[24;1H(.*?)\x1b\[K", terminal.shown):
            self.assertLessEqual(len(line), 80)
        self.stop.touch()
        terminal.wait_for("\x1b[r")
        terminal.wait_for("halcyon report run.h5")

    @only_open_mpi(SAME_VIEW)
    def test_a_stop_gives_the_rows_back_until_it_goes_on(self):
        terminal = self.run_on_terminal()
        terminal.resize(24, 80)
        for _ in range(2):  # the second one is answered like the first
            terminal.wait_for("\x1b[1;23r")
            terminal.shown = ""
            terminal.process.send_signal(signal.SIGTSTP)
            terminal.wait_for("\x1b[r")
        terminal.wait_for("\x1b[1;23r")
        self.stop.touch()
        terminal.wait_for("halcyon report run.h5")

    @only_open_mpi(SAME_VIEW)
    def test_run_can_be_asked_not_to_and_moves_no_cursor_that_cannot_move(self):
        self.stop.touch()
        for options, environment in ((["--no-progress"], {}), ([], {"TERM": "dumb"})):
            with self.subTest(options=options):
                shown = self.run_on_terminal(*options, **environment).read_to_the_end()
                self.assertNotIn("\x1b[1;", shown.replace("\x1b[1;3", ""))  # the colours of the verdict
                self.assertEqual("recording calls" in shown, not options)

    @only_open_mpi(SAME_VIEW)
    def test_it_ends_with_the_job(self):
        process = self.start()
        self.wait_until_it_is_seen(process)
        watch = subprocess.Popen([str(HALCYON), "watch", "--pid", str(process.pid)], env=self.environment, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = watch.stderr.readline()
        self.assertIn("running", first)
        self.end(process)
        errors = watch.communicate(timeout=TIME_LIMIT)[1]
        self.assertEqual(watch.returncode, 0, errors)
        self.assertIn("ended after", errors)

    # Conditions

    @only_open_mpi(SAME_VIEW)
    def test_a_condition_is_told_once(self):
        process = self.start()
        self.wait_until_it_is_seen(process)
        watch = subprocess.Popen([str(HALCYON), "watch", "--pid", str(process.pid), "--warn-if", "standstill < 1h"],
                                 env=self.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.assertIn("standstill < 3600 s: standstill", watch.stderr.readline())
        self.assertIn("running", watch.stderr.readline())
        self.end(process)
        self.assertNotIn("standstill <", watch.communicate(timeout=TIME_LIMIT)[1])

    def test_a_job_is_ended_if_its_condition_says_so(self):
        process = self.start()
        self.wait_until_it_is_seen(process)
        for rank in self.processes_of_ranks():  # also ranks that cannot answer
            os.kill(rank, signal.SIGSTOP)
        watched = self.halcyon("watch", "--pid", process.pid, "--stop-if", "standstill > 2s")
        self.assertEqual(watched.status, STOPPED, watched)
        self.assertIn("standstill > 2 s", watched.errors)
        self.assertIn("the job was ended", watched.errors)
        self.assertEqual(self.processes_of_ranks(), [])
        process.wait(timeout=TIME_LIMIT)

    # On several hosts

    def start_on_two_hosts(self):
        try:
            self.hosts = Hosts(*NODES)
        except NoHosts as why:
            self.skipTest(f"no hosts can be made here: {why}")
        self.addCleanup(self.hosts.end)
        self.directory = self.hosts.directory
        self.stop = self.directory / "stop"
        process = self.start(launch=MPI.on_hosts(",".join(NODES)), on=lambda command: self.on(NODES[0], *command))
        end = time.monotonic() + TIME_LIMIT
        while len(self.processes_of_ranks()) < RANKS:
            self.assertIsNone(process.poll(), "the program has ended")
            self.assertLess(time.monotonic(), end)
        return process

    def on(self, node, *command):
        return self.hosts.on(node, command, **MPI.environment, XDG_STATE_HOME="/tmp/state",
                             OMPI_MCA_mpi_yield_when_idle="1")

    def publish(self, node):
        """A reader on a host."""
        command = self.on(node, HALCYON, "watch", "--publish", self.directory / "live")
        publisher = subprocess.Popen([str(word) for word in command], text=True, env=self.environment,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(publisher.communicate)
        self.addCleanup(publisher.kill)
        return publisher

    def wait_for_published(self, is_so, errors=""):
        """The first look at what was published for which `is_so`."""
        looked, end = None, time.monotonic() + TIME_LIMIT
        while time.monotonic() < end:
            looked = self.halcyon("watch", "--from", "live", "--once", "--json", "-")
            if looked.status == 0:
                [job] = json.loads(looked.output)
                if is_so(job):
                    self.assertIn(errors, looked.errors)
                    return job
        raise AssertionError(f"it never came: {looked}")

    @only_open_mpi("MPICH often hangs in its own MPI_Finalize over TCP between hosts, recorded or not")
    def test_ranks_on_several_hosts_are_one_job(self):
        process = self.start_on_two_hosts()
        self.assertIsNone(self.look(process))  # its ranks run elsewhere
        publishers = [self.publish(node) for node in NODES]
        job = self.wait_for_published(lambda job: job["ranks_read"] == RANKS and job["progress_rate"] is not None)
        self.assertEqual(set(job), documented_keys())
        self.assertEqual((sorted(job["hosts"]), job["stale_hosts"]), (list(NODES), []))
        self.assertEqual((job["ranks"], job["state"], job["dead_ranks"]), (RANKS, "running", []))

        # What does not belong there is told in one line.
        garbage = self.directory / "live" / "garbage.live"
        garbage.write_text("garbage")
        garbage.chmod(0o600)
        self.wait_for_published(lambda job: job["ranks_read"] == RANKS, f"{garbage.name} was not written by")
        garbage.unlink()

        # A job whose readers were killed is none that runs.
        file = next((self.directory / "live").glob("*.node0.live"))
        content = bytearray(file.read_bytes())
        content[PUBLISHED_AT:PUBLISHED_AT + 8] = (1).to_bytes(8, sys.byteorder)
        content[RECORD] = ord("x")
        left = self.directory / "live" / "another.node0.live"
        left.write_bytes(content)
        left.chmod(0o600)
        self.wait_for_published(lambda job: job["ranks_read"] == RANKS)
        left.unlink()

        # Nothing is concluded from a host of which nothing is heard.
        publishers[0].kill()
        job = self.wait_for_published(lambda job: job["stale_hosts"] != [])
        self.assertEqual((job["ranks_read"], job["dead_ranks"], job["state"]), (RANKS - 1, [], "running"))
        text = self.halcyon("watch", "--from", "live", "--once").output
        self.assertIn(f"nothing heard of  {job['stale_hosts'][0]} for", text)
        publishers[0] = self.publish(job["stale_hosts"][0])
        self.wait_for_published(lambda job: job["stale_hosts"] == [])

        # All end with the job.
        watch = subprocess.Popen([str(HALCYON), "watch", "--from", "live"], cwd=self.directory, text=True,
                                 env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.assertIn("running", watch.stderr.readline())
        self.stop.touch()
        self.assertIn("ended after", watch.communicate(timeout=TIME_LIMIT)[1])
        self.assertEqual(watch.returncode, 0)
        for publisher in publishers:
            self.assertEqual((publisher.communicate(timeout=TIME_LIMIT)[1], publisher.returncode), ("", 0))
        self.check_refused(self.halcyon("watch", "--from", "live"), "no running job", "--publish live")

    @only_open_mpi("MPICH often hangs in its own MPI_Finalize over TCP between hosts, recorded or not")
    def test_a_job_on_several_hosts_is_ended_from_one_of_them(self):
        self.start_on_two_hosts()
        ranks = self.processes_of_ranks()
        for node in NODES:
            self.publish(node)
        self.wait_for_published(lambda job: job["ranks_read"] == RANKS)
        stop = ["--from", self.directory / "live", "--stop-if", "standstill < 1h"]
        elsewhere = self.halcyon("watch", *stop, "--once")
        self.assertEqual(elsewhere.status, 0, elsewhere)
        self.assertRegex(elsewhere.errors, "none of its ranks runs on this host: use --stop-if on one of node., node.")
        self.assertEqual(len(elsewhere.errors.splitlines()), 1, elsewhere)
        self.assertEqual(self.processes_of_ranks(), ranks)
        there = self.run_command(self.on(NODES[0], HALCYON, "watch", *stop))
        self.assertEqual(there.status, STOPPED, there)
        self.assertIn("the job was ended", there.errors)
        end = time.monotonic() + TIME_LIMIT
        while self.processes_of_ranks():  # the launcher ends those on the other host
            self.assertLess(time.monotonic(), end)

    # In a terminal

    def on_terminal(self, *words):
        terminal = Terminal([HALCYON, "watch", *words], self.environment, self.directory)
        self.addCleanup(terminal.end)
        terminal.wait_for(BEGIN_SCREEN)
        return terminal

    @only_open_mpi(SAME_VIEW)
    def test_keys_change_the_view(self):
        process = self.start()
        self.wait_until_it_is_seen(process)
        terminal = self.on_terminal("--pid", str(process.pid))
        terminal.wait_for("INTERFERENCE")
        terminal.wait_for("> ")
        for keys, text in (("h", "this help"), ("h", "RANKS"), ("s", "by rate"), ("s", "by interference"),
                           ("d", "every 2 s"), ("j\x1b[A\x1b[B", "RANKS")):
            terminal.press(keys)
            terminal.wait_for(text)
        terminal.shown = ""
        terminal.resize(24, 140)
        terminal.wait_for("COMMAND" + " " * 40)
        terminal.press("q")
        terminal.wait_for(END_SCREEN)
        self.assertEqual(terminal.process.wait(timeout=TIME_LIMIT), 0)
        self.assertEqual(termios.tcgetattr(terminal.own), terminal.before)

    @only_open_mpi(SAME_VIEW)
    def test_a_signal_leaves_the_terminal_as_it_was(self):
        process = self.start()
        self.wait_until_it_is_seen(process)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            terminal = self.on_terminal("--pid", str(process.pid))
            terminal.wait_for("INTERFERENCE")
            terminal.process.send_signal(number)
            terminal.wait_for(END_SCREEN)
            self.assertEqual(terminal.process.wait(timeout=TIME_LIMIT), -number)
            self.assertEqual(termios.tcgetattr(terminal.own), terminal.before)

    @only_open_mpi(SAME_VIEW)
    def test_the_view_ends_with_the_job(self):
        process = self.start()
        self.wait_until_it_is_seen(process)
        terminal = self.on_terminal("--pid", str(process.pid))
        terminal.wait_for("INTERFERENCE")
        self.stop.touch()
        terminal.wait_for(END_SCREEN)
        terminal.wait_for("ended after")
        self.assertEqual(terminal.process.wait(timeout=TIME_LIMIT), 0)

    # What cannot be watched

    @only_open_mpi(SAME_VIEW)
    def test_what_is_wrong_is_told_in_one_line(self):
        own = str(os.getpid())
        self.check_refused(self.halcyon("watch", "no-such-job"), "no-such-job", "halcyon watch --all")
        self.check_refused(self.halcyon("watch", "--pid", own), own)
        self.check_refused(self.halcyon("watch", "--warn-if", "speed > 3%"), "--warn-if", "column 1", "speed")
        self.check_refused(self.halcyon("watch", "--all", "--stop-if", "rate > 3% for ever"), "--stop-if",
                           "column 15", "ever")
        self.check_refused(self.halcyon("watch", "--stop-if", "rate < 3%"), "--stop-if", "name the JOB")
        self.check_refused(self.halcyon("watch", "--json", "-"), "--once")
        self.check_refused(self.halcyon("watch", "--all", "job"), "--all")
        self.check_refused(self.halcyon("watch", "--openmetrics", "no/directory"), "no/directory")
        self.check_refused(self.halcyon("watch", "--from", "no-directory"), "no-directory", "cannot open")
        self.check_refused(self.halcyon("watch", "--publish", "no/directory"), "no/directory", "cannot create")
        self.check_refused(self.halcyon("watch", "--publish", "a", "--from", "b"), "--publish", "--from")
        self.check_refused(self.halcyon("watch", "--publish", "a", "--once"), "--once", "halcyon watch --from a")
        self.check_refused(self.halcyon("watch", "--from", ".", "--pid", own), "--pid", "name the job")
        self.check_refused(self.halcyon("watch", "--from", "."), "no running job", "--publish .")

    @only_open_mpi(SAME_VIEW)
    def test_garbage_in_place_of_a_record_is_told_in_one_line(self):
        records = self.live / f"halcyon-{os.getuid()}"
        records.mkdir(mode=0o700)
        record = records / "one"
        for garbage in (b"garbage", b"garbage" * 10000):
            with open(record, "wb") as rank:  # has it open to write, as the ranks of a job have
                record.chmod(0o600)
                rank.write(garbage)
                rank.flush()
                self.check_refused(self.halcyon("watch"), record, "is not a live record")
                self.assertIn("no job 'another'", self.halcyon("watch", "another").errors)
            self.check_refused(self.halcyon("watch"), "no job of yours", "halcyon run")
            self.assertEqual(list(records.iterdir()), [])
        record.symlink_to("/etc/passwd")
        self.check_refused(self.halcyon("watch"), record)
        records.chmod(0o777)
        self.check_refused(self.halcyon("watch"), records)


if __name__ == "__main__":
    halcyon_test.main()
