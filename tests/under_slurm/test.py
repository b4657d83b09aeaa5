"""Jobs of a real Slurm: srun under `halcyon run`, batch scripts, several programs in one job, and cancelled jobs."""
import os
import signal
import shutil
import subprocess
import tempfile
import unittest

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, HALCYON, LIBRARY, MPI, PROGRAMS, PYTHON, SOURCE, Profile
from halcyon_test.slurm_cluster import Cluster, missing

PROGRAM = EXAMPLES / "halo_c"
INTERFACE = f"--mpi={MPI.slurm_interface}"
BARRIERS = 1000
TIME_LIMIT = 100  # seconds of the whole behaviour, to end what hangs while Slurm can still be stopped
ENDLESS = [PROGRAMS / "endless", BARRIERS]  # is ready after so many barriers, and goes on until a signal ends it


def joined(words):
    return " ".join(str(word) for word in words)


def give_up(*_):
    raise TimeoutError(f"not done after {TIME_LIMIT} s, or told to end")


class UnderSlurm(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        for number in (signal.SIGALRM, signal.SIGTERM):
            signal.signal(number, give_up)
        signal.alarm(TIME_LIMIT)
        place = tempfile.mkdtemp(prefix="halcyon-slurm-")
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        cls.cluster = Cluster(place, MPI.slurm_interface)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def run_command(self, command, preload=(), **environment):
        path = f"{BUILD / 'bin'}:{os.environ['PATH']}"  # batch scripts have the environment of their submitter
        return super().run_command(command, preload, **{"PATH": path, **self.cluster.environment, **environment})

    def run_with(self, *launch, options=("-o", "run.h5"), **environment):
        return self.halcyon("run", *options, "--", *launch, **environment)

    def started(self, *command):
        """The command that runs ENDLESS, as a process whose ranks are ready."""
        environment = self.own_environment(**self.cluster.environment)
        process = subprocess.Popen([str(word) for word in command], cwd=self.directory, env=environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def submitted(self, *words, **environment):
        """Submits a batch job; its number, and the file from which its output comes."""
        output = self.directory / "job.out"
        os.mkfifo(output)
        submitted = self.run_command(["sbatch", "--parsable", "--ntasks=2", f"--output={output}", *words],
                                     **environment)
        self.assertEqual(submitted.status, 0, submitted)
        file = output.open(encoding="utf-8")  # waits for the job to start
        self.addCleanup(file.close)
        return submitted.output.strip(), file

    def profile(self, name="run.h5"):
        return Profile(self.directory / name)

    def only_profile(self):
        names = [path.name for path in self.directory.glob("*.h5")]
        self.assertEqual(len(names), 1, names)
        return names[0]

    def check_kept(self, *exit_states):
        kept = self.profile()
        self.assertIn(kept.attributes["exit_state"], exit_states)
        self.assertGreaterEqual(kept.segments, BARRIERS)

    # srun

    def test_srun_runs_as_without_us_and_the_job_is_in_the_files_name(self):
        plain = self.run_command(["srun", "-n", "2", PROGRAM, "10"])
        finished = self.run_with("srun", "-n", "2", PROGRAM, "10", options=())
        self.assertEqual((finished.status, finished.output), (plain.status, plain.output), finished)
        self.assertRegex(self.only_profile(), r"^halo_c\.2p\.[0-9]+\.\d{8}T\d{6}\.h5$")
        profile = self.profile(self.only_profile())
        self.assertEqual(profile.attributes["ranks"], 2)
        self.assertEqual(profile.attributes["command"], f"srun -n 2 {PROGRAM} 10")

    def test_srun_itself_is_not_preloaded(self):
        prolog = self.directory / "prolog"
        prolog.write_text(f"#!/bin/sh\necho \"srun $LD_PRELOAD\" > {self.directory}/seen\n")
        prolog.chmod(0o755)
        finished = self.run_with("srun", INTERFACE, "-n", "1", f"--prolog={prolog}", "sh", "-c",
                                 f"echo $LD_PRELOAD; {PROGRAM} 10", LD_PRELOAD="")
        self.assertEqual(finished.output.splitlines()[0], str(LIBRARY), finished)
        self.assertEqual((self.directory / "seen").read_text(), "srun \n")

    def test_the_programs_exit_status_is_given_back(self):
        code = "from mpi4py import MPI; import sys; MPI.COMM_WORLD.Barrier(); MPI.Finalize(); sys.exit(7)"
        # Which MPI a script has is told by the interface between Slurm and ranks, here the one of slurm.conf.
        finished = self.run_with("srun", "-n", "2", PYTHON, "-c", code)
        self.assertEqual(finished.status, 7, finished)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    def test_what_the_user_exports_reaches_the_ranks_and_no_more(self):
        show = f"echo $MINE $OURS $LD_PRELOAD; exec {PROGRAM} 10"
        for option, expected in ((["--export=ALL,MINE=1"], f"1 2 {LIBRARY}"),
                                 (["--export=MINE=1,LD_PRELOAD=libm.so.6"], f"1 {LIBRARY}:libm.so.6"),
                                 (["--export", "NONE"], f"{LIBRARY}")):
            with self.subTest(option=option):
                # Nothing in a script tells which MPI it has, so srun must be told.
                finished = self.run_with("srun", INTERFACE, *option, "-n", "1", "/bin/sh", "-c", show, OURS="2")
                self.assertEqual((finished.status, finished.output.splitlines()[0]), (0, expected), finished)
                (self.directory / "run.h5").unlink()

    def test_the_callers_own_preload_is_kept_behind_ours(self):
        finished = self.run_with("srun", INTERFACE, "-n", "1", "sh", "-c", f"echo $LD_PRELOAD; {PROGRAM} 10",
                                 LD_PRELOAD="libm.so.6")
        self.assertEqual(finished.output.splitlines()[0], f"{LIBRARY}:libm.so.6", finished)

    def test_exec_takes_the_library_for_the_programs_mpi(self):
        finished = self.run_command(["srun", "--quiet", "-n", "2", HALCYON, "exec", "-o", "run.h5", "--",
                                     PROGRAM, "10"])
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    # Several programs of one job

    def test_multi_prog(self):
        (self.directory / "programs").write_text(f"# rank program\n0 {PROGRAM} 10\n1 {EXAMPLES / 'halo_f08'} 10\n")
        finished = self.run_with("srun", "-n", "2", "--multi-prog", "programs")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    @unittest.skipIf(MPI.slurm_interface == "pmix",
                     "Slurm's PMIx does not run twice on one machine, as two nodes on it would need")
    def test_a_heterogeneous_job(self):
        part = ["-p", "both", "-n", "1", PROGRAM, "10"]
        finished = self.run_with("srun", *part, ":", *part)
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    # Batch jobs

    def test_the_batch_script_of_the_documentation(self):
        job, output = self.submitted(SOURCE / "examples" / "halcyon.sbatch", PROGRAM, "10")
        text = output.read()
        self.assertRegex(text, r"(?m)^heat ")
        self.assertRegex(text, r"halcyon report ")
        self.assertRegex(self.only_profile(), rf"^halo_c\.2p\.{job}\.\d{{8}}T\d{{6}}\.h5$")

    def test_srun_with_the_rank_side_in_a_batch_script(self):
        job, output = self.submitted("--wrap", f"srun halcyon exec -- {PROGRAM} 10")
        self.assertEqual(len(output.read().splitlines()), 1)
        self.assertRegex(self.only_profile(), rf"^halo_c\.2p\.{job}\.")

    def test_mpirun_in_a_batch_script(self):
        job, output = self.submitted("--wrap", f"halcyon run -- {joined(MPI.launch(2))} {PROGRAM} 10")
        self.assertRegex(output.read(), r"halcyon report ")
        self.assertRegex(self.only_profile(), rf"^halo_c\.2p\.{job}\.")
        self.assertEqual(self.profile(self.only_profile()).attributes["ranks"], 2)

    # Jobs that are ended

    def test_a_job_that_is_cancelled(self):
        # As at a time limit, all get SIGTERM at once and SIGKILL later. The command sends SIGINT, which may be first.
        job, output = self.submitted("--wrap", "exec halcyon run -o run.h5 -- srun " + joined(ENDLESS))
        self.assertEqual(output.readline(), "ready\n")
        self.assertEqual(self.run_command(["scancel", job]).status, 0)
        text = output.read()
        self.assertRegex(text, r"(?m)^halcyon: run.h5: \d+ segments of 2 of 2 ranks, until the run ended", text)
        self.check_kept("signal 15", "signal 2")

    def test_a_warning_before_the_time_limit(self):
        # The ranks alone get it, as with `sbatch --signal=TERM@60`.
        job, output = self.submitted("--wrap", "srun halcyon exec -o run.h5 -- " + joined(ENDLESS))
        self.assertEqual(output.readline(), "ready\n")
        self.assertEqual(self.run_command(["scancel", "--signal=TERM", job]).status, 0)
        self.assertIn("halcyon recover", output.read())
        recovered = self.halcyon("recover", "run.h5.parts")
        self.assertEqual((recovered.status, recovered.errors), (0, ""), recovered)
        self.check_kept("signal 15")

    def test_sigterm_to_the_command_alone(self):
        # srun would kill the ranks at once.
        process = self.started(HALCYON, "run", "-o", "run.h5", "--", "srun", "-n", "2", *ENDLESS)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
        self.assertRegex(errors, r"(?m)^halcyon: run.h5: \d+ segments of 2 of 2 ranks, until the run ended", errors)
        self.check_kept("signal 2")

    # Without running

    def test_the_dry_run_can_be_pasted_into_a_shell(self):
        finished = self.run_with("srun", "--quiet", "-n", "2", PROGRAM, "10",
                                 options=("-o", "it's $HOME.h5", "--dry-run"))
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(list(self.directory.iterdir()), [])
        pasted = self.run_command(["sh", "-c", finished.output])
        self.assertEqual((pasted.status, pasted.errors), (0, ""), pasted)
        self.assertEqual(self.profile("it's $HOME.h5").attributes["command"], f"srun --quiet -n 2 {PROGRAM} 10")


if __name__ == "__main__":
    if absent := missing():
        halcyon_test.skip(f"no {', '.join(absent)}")
    halcyon_test.main()
