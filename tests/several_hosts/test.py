"""Runs on several hosts, each with its own network, name, /tmp and shared memory: what is recorded, recovered and
told of each."""
import json
import re
import subprocess
import unittest

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, MPI, PROGRAMS, TIME_LIMIT, Hosts, NoHosts, Profile, only_open_mpi
from halcyon_test.slurm_cluster import Cluster, missing

NAMES = ("host-a", "host-b", "host-c")
HERE = NAMES[0]  # where `halcyon run` is started
# By hand also with MPICH 4.0, which often hangs in its own MPI_Finalize over TCP between hosts, recorded or not.
RANKS_ARE_ON = NAMES if MPI.implementation == "Open MPI" else NAMES[:2]
RANKS = len(RANKS_ARE_ON)
DIES = PROGRAMS / "dies"
SEGMENTS = 1000
RECORDED = re.compile(r"halcyon: run.h5: (\d+) segments of (\d) of \d ranks, until the run ended")
# What the ranks that did not call MPI_Abort keep
ALL_KEEP = not MPI.kills_other_ranks and not MPI.exits_without_its_peer
STEPS = 3000  # of plate, each some 0.4 ms
SLOW_FILES_OF_RANK_1 = "class=posixio,prob=0.3,mean=20ms,sd=5ms,ranks=1"
VALIDATED = 5  # runs of the shortest series with an injected one


class OnHosts(halcyon_test.Behaviour):
    """Each test has a directory that all hosts see."""

    links = None

    @classmethod
    def setUpClass(cls):
        cls.hosts = Hosts(*NAMES, links=cls.links)
        cls.addClassCleanup(cls.hosts.end)

    def setUp(self):
        super().setUp()
        self.directory = self.hosts.scratch_directory()

    def command_on(self, host, *command, **environment):
        """The words that run a command on a host, with what a test's commands need."""
        # Ranks that wait leave the processors to the processes that carry their messages.
        needed = {"XDG_STATE_HOME": "/tmp/state", "OMPI_MCA_mpi_yield_when_idle": "1", **MPI.environment, **environment}
        return self.hosts.on(host, command, self.directory, **needed)

    def on(self, host, *command, **environment):
        return self.run_command(self.command_on(host, *command, **environment))

    def halcyon_run(self, *words, hosts=RANKS_ARE_ON, options=("-o", "run.h5")):
        """Runs a program under `halcyon run`, with a rank on each of these hosts."""
        return self.on(HERE, HALCYON, "run", *options, "--", *MPI.launch(len(hosts)), *MPI.on_hosts(",".join(hosts)),
                       *words)

    def files_on(self, host, directory):
        listed = self.on(host, "find", directory, "-type", "f")
        return sorted(listed.output.split())

    def profile(self, name="run.h5"):
        return Profile(self.directory / name)

    def hosts_of_ranks(self, profile):
        return [host.decode() for host in profile.columns["rank_host"]]


class SeveralHosts(OnHosts):

    @only_open_mpi("--map-by is Open MPI's")
    def test_ranks_are_where_the_launcher_maps_them(self):
        first, second = NAMES[:2]
        hosts = ["--host", f"{first}:2,{second}:2"]
        program = [EXAMPLES / "halo_c", "10"]
        for number, (mapped, expected) in enumerate((
                (["-np", "4", *hosts, "--map-by", "ppr:2:node", *program], [first, first, second, second]),
                (["-np", "4", *hosts, "--map-by", "node", *program], [first, second, first, second]),
                (["-np", "1", "--host", second, *program, ":", "-np", "2", "--host", f"{first}:2", *program],
                 [second, first, first]))):
            with self.subTest(mapped=mapped):
                of_transport = [word for word in MPI.on_hosts("") if word not in ("--host", "", "--map-by", "node")]
                launch = [*MPI.launcher, *of_transport, *mapped]
                finished = self.on(HERE, HALCYON, "run", "-o", f"{number}.h5", "--", *launch)
                self.assertEqual(finished.status, 0, finished)
                self.assertEqual(self.hosts_of_ranks(self.profile(f"{number}.h5")), expected)

    def test_the_profile_says_on_which_host_each_rank_was_and_what_happened_there(self):
        finished = self.halcyon_run(EXAMPLES / "halo_c", "30", options=("--background", "0.1"))
        self.assertEqual(finished.status, 0, finished)
        [path] = self.directory.glob("*.h5")
        self.assertRegex(path.name, rf"^halo_c\.{RANKS}p\.nojob\.\d{{8}}T\d{{6}}\.h5$")
        profile = Profile(path)
        self.assertEqual(self.hosts_of_ranks(profile), list(RANKS_ARE_ON))
        self.assertTrue((profile.columns["background_quantum_before"] > 0).all())
        report = self.report(path)
        self.assertEqual(report["hosts"], list(RANKS_ARE_ON))
        self.assertEqual([probes["host"] for probes in report["probes"]], list(RANKS_ARE_ON))
        info = self.halcyon("info", path)
        self.assertIn(", ".join(f"{rank} on {host}" for rank, host in enumerate(RANKS_ARE_ON)), info.output)
        # Nothing else is left, on any host.
        self.assertEqual({file.name for file in self.directory.iterdir()} - {"halo.dat"}, {path.name})
        for host in NAMES:
            self.assertEqual([file for file in self.files_on(host, "/tmp") if "/.halcyon-run" in file], [])

    def test_a_run_that_dies_is_recovered_from_the_parts_of_all_hosts(self):
        finished = self.halcyon_run(DIES, SEGMENTS, "abort", 1)
        self.assertRegex(finished.errors, RECORDED)
        segments, ranks = map(int, RECORDED.search(finished.errors).groups())
        self.assertEqual(segments, SEGMENTS)
        if ALL_KEEP:
            self.assertEqual((ranks, [file.name for file in self.directory.iterdir()]), (3, ["run.h5"]))
            self.assertEqual(self.hosts_of_ranks(self.profile()), list(NAMES))

    @unittest.skipUnless(ALL_KEEP, "the other ranks end before they have spilled")
    def test_parts_on_the_hosts_own_disks_are_told_and_can_be_gathered(self):
        own = f"/tmp/{self.directory.name}"
        for host in NAMES:
            self.on(host, "mkdir", own)
        finished = self.halcyon_run(DIES, SEGMENTS, "abort", 1, options=("-o", f"{own}/run.h5"))
        self.assertIn("segments of 1 of 3 ranks", finished.errors)
        self.assertIn("ranks 1, 2 of 3 left nothing", finished.errors)
        self.assertIn("ranks on other hosts may have left their parts there", finished.errors)
        for host in NAMES[1:]:
            self.assertIn(f"halcyon: the records of the ranks on {host} are in {own}/run.h5.parts there",
                          finished.errors)
        gathered = self.directory / "all.h5.parts"
        gathered.mkdir()
        for host in NAMES:
            parts = [file for file in self.files_on(host, own) if file.endswith(".part")]
            self.assertEqual(len(parts), 1, (host, parts))
            self.on(host, "cp", *parts, gathered)
        recovered = self.on(HERE, HALCYON, "recover", gathered)
        self.assertRegex(recovered.output, f"^all.h5: {SEGMENTS} segments of 3 of 3 ranks|"
                                           f"^{self.directory}/all.h5: {SEGMENTS} segments of 3 of 3 ranks")
        self.assertEqual(self.hosts_of_ranks(self.profile("all.h5")), list(NAMES))

    def test_a_profile_on_another_hosts_own_disk_is_told_with_its_place(self):
        own = f"/tmp/{self.directory.name}"
        for host in NAMES:
            self.on(host, "mkdir", own)
        finished = self.halcyon_run(DIES, SEGMENTS, "finalize", hosts=NAMES[1:], options=("-o", f"{own}/run.h5"))
        self.assertNotEqual(finished.status, 0, finished)
        self.assertIn(f"halcyon: the profile is {own}/run.h5 on host-b, which `halcyon run` does not see",
                      finished.errors)
        self.assertIn("ran on hosts that do not see the profile's directory", finished.errors)
        self.assertEqual([self.files_on(host, own) for host in NAMES], [[], [f"{own}/run.h5"], []])

    def test_validate_makes_its_series_on_all_hosts(self):
        finished = self.on(HERE, HALCYON, "validate", "-o", "out", "--levels", "2", "--runs", "1", "--background", "0.1",
                           "--no-probes", "--anyway", "--", *MPI.launch(RANKS), *MPI.on_hosts(",".join(RANKS_ARE_ON)),
                           EXAMPLES / "cg", "1")
        self.assertEqual(finished.status, 0, finished)
        out = self.directory / "out"
        results = json.loads((out / "validation.json").read_text())
        self.assertEqual((results["hosts"], results["ended_early"]), (list(RANKS_ARE_ON), None))
        self.assertEqual(len(results["runs"]), VALIDATED)
        for run in results["runs"]:
            self.assertEqual(self.hosts_of_ranks(self.profile(f"out/{run['profile']}")), list(RANKS_ARE_ON))
        [injected] = [run for run in results["runs"] if run["kind"] == "injected"]
        self.assertGreater(injected["injected_percent"], 0)


class ADisturbedHost(OnHosts):
    """The rank on host-b is delayed. Only two hosts have a rank, so that each has a processor."""

    def check_slow_files(self, number):
        name = f"{number}.h5"
        finished = self.halcyon_run(EXAMPLES / "plate", STEPS, hosts=NAMES[:2],
                                    options=("-o", name, "--no-baseline", "--inject", SLOW_FILES_OF_RANK_1))
        self.assertEqual(finished.status, 0, finished)
        report = self.report(self.directory / name)
        self.assertIsNotNone(report["cause"], report["verdict"])
        self.assertEqual(report["cause"]["code"], "file-io", report["cause"])
        self.assertIn("slow file I/O of rank 1 on host-b", report["cause"]["text"])
        hosts = {share["host"]: share["seconds"] for share in report["breakdown"]["hosts"]}
        self.assertGreater(hosts["host-b"], 0.8 * sum(hosts.values()), hosts)

    def test_slow_files_are_attributed_to_the_host(self):
        self.check_in_tries(self.check_slow_files)  # other processes may take more than the delays do


class ABadLink(OnHosts):
    """The link of host-b loses messages."""

    links = {"host-b": "loss=4"}

    @only_open_mpi("ranks of MPICH poll, and leave the process that carries the messages too little of two cores")
    def test_retransmissions_are_counted_on_each_host(self):
        finished = self.halcyon_run(DIES, 100, "finalize")
        self.assertEqual(finished.status, 0, finished)
        counts = dict(zip(NAMES, self.profile().columns["host_tcp_retransmissions"]))
        self.assertGreater(counts["host-b"], 0, counts)


# When the ranks of several parts have ended, srun of Slurm 22.05 sometimes waits for ever for a thread of its PMIx plugin,
# which each part stops. What the ranks wrote is there by then.
ENDED_IF_ENDLESS = ("timeout", "--kill-after=5", "60")
WAS_ENDLESS = (124, 137)  # by SIGTERM, by SIGKILL


class DiedInInit(AssertionError):
    """Beside other load, Open MPI 4.1.4 died of SIGSEGV in MPI_Init over TCP in 7 of 117 jobs of srun without Halcyon."""


@unittest.skipIf(missing(), f"no {', '.join(missing())}")
class UnderSlurm(OnHosts):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = cls.hosts.directory / "slurm"
        place.mkdir()
        cls.cluster = Cluster(place, MPI.slurm_interface, cls.hosts)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def srun(self, *words, options=("-o", "run.h5")):
        return self.command_on(HERE, HALCYON, "run", *options, "--", "srun", "--kill-on-bad-exit", "-N", RANKS,
                               "-n", RANKS, *words, **self.cluster.environment)

    def check_started(self, errors):
        if re.search(r"^srun: error: .*Segmentation fault", errors, re.M):
            raise DiedInInit(errors)

    def test_a_job_on_several_nodes(self):
        self.check_in_tries(self.check_a_job, again_after=DiedInInit)

    def check_a_job(self, _number):
        self.directory = self.hosts.scratch_directory()
        finished = self.run_command(self.srun(EXAMPLES / "halo_c", "10", options=()))
        self.check_started(finished.errors)
        self.assertEqual(finished.status, 0, finished)
        [path] = self.directory.glob("*.h5")
        self.assertRegex(path.name, rf"^halo_c\.{RANKS}p\.\d+\.\d{{8}}T\d{{6}}\.h5$")
        self.assertEqual(len(set(self.hosts_of_ranks(Profile(path)))), RANKS)

    def test_a_heterogeneous_job(self):
        """Its parts are one world, and each is on a host of its own."""
        part, program = ["-N", "1", "-n", "1"], [EXAMPLES / "halo_c", "10"]
        run = [*ENDED_IF_ENDLESS, HALCYON, "run", "-o", "run.h5", "--", "srun"]
        allocated = ["salloc", "--quiet", *part, ":", *part]
        for command in ([*run, *part, *program, ":", *part, *program],
                        [*allocated, *run, "--het-group=0,1", *program],
                        [*allocated, *run, "--het-group=0", *program, ":", "--het-group", "1", *program]):
            with self.subTest(command=command):
                self.check_in_tries(lambda _: self.check_parts_on_two_hosts(command), again_after=DiedInInit)

    def check_parts_on_two_hosts(self, command):
        self.directory = self.hosts.scratch_directory()
        # Into a file: an endless srun, which may outlive its parents, would keep a pipe open.
        finished = self.run_command(self.command_on(HERE, "sh", "-c", '"$@" > said 2>&1', "sh", *command,
                                                    **self.cluster.environment))
        said = (self.directory / "said").read_text()
        self.check_started(said)
        if finished.status not in WAS_ENDLESS:
            self.assertEqual(finished.status, 0, said)
        profile = Profile(self.directory / "run.h5")
        self.assertEqual((profile.attributes["ranks"], profile.attributes["exit_state"]), (2, "finalized"))
        self.assertEqual(len(set(self.hosts_of_ranks(profile))), 2)

    def test_a_job_on_several_nodes_that_is_cancelled(self):
        self.check_in_tries(self.check_a_cancelled_job, again_after=DiedInInit)

    def check_a_cancelled_job(self, _number):
        self.directory = self.hosts.scratch_directory()
        running = subprocess.Popen(self.srun(PROGRAMS / "endless", SEGMENTS), text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        first = running.stdout.readline()
        if not first:  # it has ended
            self.check_started(running.stderr.read())
        self.assertEqual(first, "ready\n")
        self.on(HERE, "scancel", "--signal=TERM", "--user=root", **self.cluster.environment)
        _, errors = running.communicate(timeout=TIME_LIMIT)
        self.assertRegex(errors, RECORDED)
        self.assertGreaterEqual(self.profile().segments, SEGMENTS)


if __name__ == "__main__":
    try:
        Hosts("host-a").end()
    except NoHosts as why:
        halcyon_test.skip(f"no hosts can be made here: {why}")
    halcyon_test.main()
