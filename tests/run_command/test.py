"""`halcyon run` and `halcyon exec` record the ranks alone, and return the program's exit status."""
import fcntl
import json
import shutil
import subprocess
import time
import unittest

import halcyon_test
from halcyon_test import (BUILD, EXAMPLES, HALCYON, LIBRARY, MPI, MPICH, OTHER_MPI, PROGRAMS, PYTHON, Profile,
                          needs_python, only_mpich, only_open_mpi)

PROGRAM = EXAMPLES / "halo_c"
BACKGROUND = 2  # seconds that --background takes, half of them before the run and half after it


class RunCommand(halcyon_test.Behaviour):

    def run_with(self, *launch, options=("-o", "run.h5"), **environment):
        return self.halcyon("run", *options, "--", *launch, **environment)

    def profile(self, name="run.h5"):
        return Profile(self.directory / name)

    def test_the_program_runs_as_without_it_and_the_verdict_goes_to_standard_error(self):
        plain = self.mpirun(2, [PROGRAM, "10"], preload=())
        finished = self.run_with(*MPI.launch(2), PROGRAM, "10")
        self.assertEqual((finished.status, finished.output), (plain.status, plain.output), finished)
        self.assertIn("halcyon: ", finished.errors)
        self.assertEqual(self.profile().attributes["command"], f"{' '.join(MPI.launch(2))} {PROGRAM} 10")

    def test_what_the_report_says_can_be_written_at_once(self):
        finished = self.run_with(*MPI.launch(2), PROGRAM, "10", options=("-o", "run.h5", "--json", "run.json"))
        self.assertEqual(finished.status, 0, finished)
        reported = self.halcyon("report", "run.h5", "--json", "-")
        self.assertEqual(json.loads((self.directory / "run.json").read_text()), json.loads(reported.output))
        for options in (("--json", "same", "--html", "same"), ("-o", "new.h5", "--html", "new.h5"), ("--json", "-")):
            refused = self.run_with(*MPI.launch(2), PROGRAM, "10", options=options)
            self.assertEqual((refused.status, refused.output), (2, ""), refused)

    def test_the_default_file_is_named_after_program_ranks_job_and_time(self):
        finished = self.run_with(*MPI.launch(2), PROGRAM, "10", options=(), SLURM_JOB_ID="4711")
        self.assertEqual(finished.status, 0, finished)
        names = [path.name for path in self.directory.glob("*.h5")]
        self.assertEqual(len(names), 1, names)
        self.assertRegex(names[0], r"^halo_c\.2p\.4711\.\d{8}T\d{6}\.h5$")

    def test_the_job_is_named_as_its_batch_system_names_it(self):
        nobody = [f"--unset={name}" for name in ("SLURM_JOB_ID", "FLUX_JOB_ID", "PBS_JOBID", "LSB_JOBID")]
        for name, job in (("FLUX_JOB_ID", "ƒ2Vx7aB"), ("PBS_JOBID", "4711[3].server"), ("LSB_JOBID", "4711")):
            with self.subTest(name=name):
                # Set in the ranks alone, as mpirun of Open MPI 4.1.4 crashes if it is told of a Flux that is not there.
                finished = self.run_with(*MPI.launch(1), "env", *nobody, f"{name}={job}", PROGRAM, "10", options=())
                self.assertEqual(finished.status, 0, finished)
                file = next(self.directory.glob("*.h5"))
                self.assertTrue(file.name.startswith(f"halo_c.1p.{job}."), file)
                file.unlink()

    def test_a_profile_in_a_directory_has_the_default_name(self):
        (self.directory / "there").mkdir()
        for place in ("there", "there/"):
            with self.subTest(place=place):
                finished = self.run_with(*MPI.launch(2), PROGRAM, "10", options=("-o", place))
                self.assertEqual(finished.status, 0, finished)
                self.assertRegex(finished.errors, r"halcyon report there/halo_c\.2p\.\w+\.\d{8}T\d{6}(-2)?\.h5\b")
        self.mpirun(2, [PROGRAM, "10"], HALCYON_OUTPUT="there")
        self.assertEqual(len(list((self.directory / "there").glob("halo_c.2p.*.h5"))), 3)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["there"])

    def test_more_boundary_ranks_than_the_run_has_are_told_at_its_start(self):
        finished = self.run_with(*MPI.launch(2), PROGRAM, "10", options=("-o", "run.h5", "--boundary-ranks", "3"))
        self.assertEqual(finished.status, 0, finished)
        line = "halcyon: --boundary-ranks 3 is more than the 2 ranks of this run; all ranks are used instead\n"
        self.assertTrue(finished.errors.startswith(line), finished)
        self.run_with(*MPI.launch(2), PROGRAM, "10", options=("-o", "plain.h5"))
        self.assertEqual(self.profile().segments, self.profile("plain.h5").segments)

    def test_a_busy_host_is_told_at_its_start_unless_it_is_not_to_be(self):
        hog = subprocess.Popen([PYTHON, "-c", "while True: pass"])
        self.addCleanup(hog.wait)
        self.addCleanup(hog.kill)
        for options, is_told in (((), True), (("--no-progress",), False)):
            command = [HALCYON, "run", *options, "-o", "run.h5", "--", *MPI.launch(1), PROGRAM, "10"]
            finished = subprocess.run([str(word) for word in command], cwd=self.directory, capture_output=True,
                                      text=True, env=self.own_environment(), check=True)
            self.assertEqual(finished.stderr.startswith("halcyon: the host is busy: "), is_told, finished.stderr)

    def test_a_launcher_of_another_mpi_is_told_before_the_program_starts(self):
        program = BUILD / f"examples{OTHER_MPI.programs}" / "halo_c"
        if not program.exists():
            self.skipTest("built for one MPI family only")
        finished = self.run_with(*MPI.launch(2), program, "10", options=("--dry-run",))
        self.assertEqual((finished.status, len(finished.errors.splitlines())), (0, 1), finished)
        self.assertIn("not the launcher's MPI. Start it with the mpirun of its own MPI", finished.errors)

    def test_the_verdict_is_of_the_profile_that_this_run_wrote(self):
        # Another file fits the pattern of the name, and brackets mean something to a shell.
        (self.directory / "zzz[1].h5").write_text("another one's")
        finished = self.run_with(*MPI.launch(2), PROGRAM, "10", options=("-o", "{app}[1].h5"))
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("halcyon report 'halo_c[1].h5'", finished.errors)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["halo_c[1].h5", "zzz[1].h5"])

    def test_a_name_that_was_taken_meanwhile_is_evaded_and_the_verdict_is_still_of_this_run(self):
        code = "from mpi4py import MPI; open('run.h5', 'x').write('taken') if MPI.COMM_WORLD.rank == 0 else None"
        finished = self.run_with(*MPI.launch(2), PYTHON, "-c", code)
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("halcyon report run-2.h5", finished.errors)

    def test_the_command_that_is_killed_leaves_only_what_its_ranks_write(self):
        stop = self.directory / "stop"
        command = [HALCYON, "run", "-o", "run.h5", "--", *MPI.launch(2), PROGRAMS / "dies", stop, "finalize"]
        running = subprocess.Popen([str(word) for word in command], cwd=self.directory, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.own_environment())
        self.addCleanup(stop.touch)
        while not list(self.directory.glob(".halcyon-run-*")):
            self.assertIsNone(running.poll())
        running.kill()
        running.wait()
        stop.touch()
        self.check_nothing_runs_on()
        self.assertEqual(list(self.directory.glob(".halcyon-run-*")), [])

    def test_receipts_of_runs_whose_processes_were_all_killed_are_removed(self):
        abandoned, held = (self.directory / f".halcyon-run-{i}.1.receipt" for i in (1, 2))
        abandoned.touch()
        with held.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # as a run in progress does
            finished = self.run_with(*MPI.launch(2), PROGRAM, "10")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), [held.name, "run.h5"])

    def test_a_name_that_is_taken_has_a_number(self):
        (self.directory / "run.h5").write_text("precious")
        finished = self.run_with(*MPI.launch(2), PROGRAM, "10")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("halcyon report run-2.h5", finished.errors)
        self.assertEqual((self.directory / "run.h5").read_text(), "precious")

    def test_help_of_a_command_is_its_help(self):
        self.assertEqual(self.halcyon("help", "report"), self.halcyon("report", "--help"))
        self.assertEqual(self.halcyon("help"), self.halcyon("--help"))
        self.assertEqual(self.halcyon("help").status, 0)

    def test_a_forgotten_double_dash_is_told(self):
        finished = self.halcyon("run", *MPI.launch(2), PROGRAM)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("behind '--'", finished.errors)
        finished = self.halcyon("exec", PROGRAM)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("behind '--'", finished.errors)

    def test_an_injected_run_can_be_repeated_by_the_seed_in_its_profile(self):
        self.run_with(*MPI.launch(2), PROGRAM, "10",
                      options=("-o", "run.h5", "--inject", "class=all,prob=0.1,mean=1ms"))
        self.assertRegex(self.profile().attributes["inject"], r"^class=all,prob=0.1,mean=1ms seed=\d+$")

    def test_the_background_is_measured_beside_the_run_and_not_in_it(self):
        self.run_with(*MPI.launch(2), PROGRAM, "10")
        plain = self.profile()
        began = time.monotonic()
        finished = self.run_with(*MPI.launch(2), PROGRAM, "10",
                                 options=("-o", "measured.h5", "--background", BACKGROUND))
        elapsed = time.monotonic() - began
        self.assertEqual(finished.status, 0, finished)
        measured = self.profile("measured.h5")
        for when in ("before", "after"):
            quantum, mean = (measured.columns[f"background_{what}_{when}"] for what in ("quantum", "mean"))
            self.assertEqual(len(mean), 2)
            self.assertTrue(all(0 < low <= usual < 1 for low, usual in zip(quantum, mean)), (quantum, mean))
        self.assertEqual(measured.segments, plain.segments)
        self.assertEqual([measured.totals(rank) for rank in range(2)], [plain.totals(rank) for rank in range(2)])
        self.assertLess(measured.attributes["run_time_seconds"], elapsed - BACKGROUND)
        self.assertIsInstance(self.report("measured.h5")["background_percent"], float)
        self.assertIsNone(self.report("run.h5")["background_percent"])

    def test_the_programs_exit_status_is_given_back(self):
        code = "from mpi4py import MPI; import sys; MPI.COMM_WORLD.Barrier(); MPI.Finalize(); sys.exit(7)"
        self.assertEqual(self.run_with(*MPI.launch(1), PYTHON, "-c", code).status, 7)

    def test_an_abort_is_given_back_and_the_missing_profile_is_said(self):
        code = "from mpi4py import MPI; MPI.COMM_WORLD.Abort(9)"
        finished = self.run_with(*MPI.launch(1), PYTHON, "-c", code)
        self.assertIn(finished.status, MPI.statuses_of_abort(9), finished)
        self.assertIn(f"halcyon: no profile was written: the launch command ended with status {finished.status}; "
                      "to check the command: halcyon doctor -- ", finished.errors)

    def test_several_programs_of_one_job_are_all_recorded(self):
        finished = self.run_with(*MPI.launch(1), PROGRAM, "10", ":", "-np", "1", PROGRAM, "10")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    def test_each_program_of_a_job_may_be_another(self):
        other = EXAMPLES / ("halo_f08" if MPI.has_fortran else "halo_c")
        finished = self.run_with(*MPI.launch(1), PROGRAM, "10", ":", "-np", "1", other, "10")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    @unittest.skipUnless(MPI.has_app_files, "this launcher has no --app that works")
    def test_programs_in_a_file_of_open_mpi(self):
        (self.directory / "programs").write_text(f"# a line a program\n-np 1 {PROGRAM} 10\n\n"
                                                 f"-np 1 -x MINE=1 /bin/sh shows 10 # the second\n")
        (self.directory / "shows").write_text(f"echo $MINE $LD_PRELOAD; exec {PROGRAM} 10\n")
        finished = self.run_with(*MPI.launcher, "--app", "programs")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn(f"1 {LIBRARY}\n", finished.output)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    @only_open_mpi("MPICH's launcher has no --app")
    def test_an_option_of_the_program_that_is_called_app_is_the_programs(self):
        (self.directory / "programs").write_text("-np 1 hostname\n")
        finished = self.run_with(*MPI.launch(1), "/bin/echo", "--app", "programs", options=("--dry-run",))
        self.assertTrue(finished.output.endswith(" -np 1 /bin/echo --app programs\n"), finished)
        # "echo" might be the value of the option before it.
        (self.directory / "text").write_text("no programs\n")
        finished = self.run_with(*MPI.launch(1, "--oversubscribe"), "echo", "--app", "text", options=("--dry-run",))
        self.assertTrue(finished.output.endswith(" --oversubscribe echo --app text\n"), finished)

    @only_mpich("Hydra is MPICH's launcher")
    def test_programs_in_a_file_of_hydra(self):
        (self.directory / "programs").write_text(f"-n 1 {PROGRAM} 10{MPI.joins_programs}\n-n 1 {PROGRAM} 10\n")
        finished = self.run_with(*MPI.launcher, "-configfile", "programs")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(self.profile().attributes["ranks"], 2)

    def test_the_dry_run_says_what_would_run_and_runs_nothing(self):
        launch = [*MPI.launch(1), PROGRAM, "10", ":", "-np", "1", "sh", "-c", f"exec {PROGRAM} $0", "10"]
        options = ("-o", "it's $HOME.h5", "--inject", "class=all,prob=0.1,mean=1ms", "--dry-run")
        dry = self.run_with(*launch, options=options)
        self.assertEqual((dry.status, dry.errors), (0, ""), dry)
        self.assertEqual(list(self.directory.iterdir()), [])
        pasted = self.run_command(["sh", "-c", dry.output])
        self.assertEqual((pasted.status, pasted.errors), (0, ""), pasted)
        profile = self.profile("it's $HOME.h5")
        self.assertEqual(profile.attributes["ranks"], 2)
        self.assertIn("class=all,prob=0.1,mean=1ms seed=", profile.attributes["inject"])

    @unittest.skipUnless(MPI.is_debians, "srun does not say which version its ranks use")
    def test_srun_exports_to_each_program_what_the_user_exports_to_it_and_the_recorder(self):
        ours = "HALCYON_OUTPUT,HALCYON_LIVE,HALCYON_LIVE_DIR,HALCYON_COMMAND,HALCYON_ALL_RANKS"
        cases = (("-n2 ./a --export=B", {}, f"--export=ALL,LD_PRELOAD={LIBRARY} -n2 ./a --export=B"),
                 ("-n 2 --export=B ./a", {}, f"--export=B,LD_PRELOAD={LIBRARY},{ours} -n 2 ./a"),
                 ("-lJ sh --quiet --export NONE ./a", {}, f"--export=LD_PRELOAD={LIBRARY},{ours} -lJ sh --quiet ./a"),
                 ("--job-name sh --export=NONE -- ./a", {},
                  f"--export=LD_PRELOAD={LIBRARY},{ours} --job-name sh -- ./a"),
                 ("./a", {"SLURM_EXPORT_ENV": "B"}, f"--export=B,LD_PRELOAD={LIBRARY},{ours} ./a"),
                 ("./a", {"LD_PRELOAD": "libm.so.6"}, f"--export=ALL,LD_PRELOAD={LIBRARY}:libm.so.6 ./a"),
                 ("--export=LD_PRELOAD=x,ALL,B=1 ./a", {}, f"--export=ALL,B=1,LD_PRELOAD={LIBRARY}:x ./a"),
                 ("-n1 --export=B ./a : -n2 ./b", {}, f"--export=B,LD_PRELOAD={LIBRARY},{ours} -n1 ./a : "
                                                      f"--export=ALL,LD_PRELOAD={LIBRARY} -n2 ./b"))
        for words, environment, expected in cases:
            with self.subTest(words=words):
                interface = {"SLURM_MPI_TYPE": MPI.slurm_interface}
                finished = self.run_with("srun", *words.split(), options=("--dry-run",), **interface, **environment)
                self.assertEqual(finished.status, 0, finished)
                _, _, command = finished.output.partition(" srun --disable-status ")
                self.assertEqual(command, expected + "\n")

    @needs_python
    def test_the_users_own_variables_still_reach_the_ranks(self):
        code = "from mpi4py import MPI; from os import environ as e; print(e['MINE'], e['OURS'], e['LD_PRELOAD'])"
        options = [*MPI.exported("MINE", "1 2"), *MPI.pass_on("OURS")]
        finished = self.run_with(*MPI.launch(1, *options), PYTHON, "-c", code, OURS="3;4")
        self.assertEqual(finished.output, f"1 2 3;4 {LIBRARY}\n", finished)

    @needs_python
    def test_the_users_own_preload_is_kept_behind_ours(self):
        code = "from mpi4py import MPI; import os; print(os.environ['LD_PRELOAD'])"
        for way in MPI.ways_to_export("LD_PRELOAD", "libm.so.6"):
            with self.subTest(way=way):
                finished = self.run_with(*MPI.launch(1, *way), PYTHON, "-c", code)
                self.assertEqual(finished.output, f"{LIBRARY}:libm.so.6\n", finished)
                (self.directory / "run.h5").unlink()

    @only_open_mpi("MPICH's launcher does not tell a rank that its job has other programs")
    def test_one_program_of_several_preloaded_by_hand_stands_aside_and_never_hangs(self):
        finished = self.run_command([*MPI.launch(1), PROGRAM, "10", ":", "-np", "2",
                                     *MPI.exported("LD_PRELOAD", LIBRARY), PROGRAM, "10"])
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("several programs", finished.errors)

    @needs_python
    def test_arguments_that_look_like_ours_belong_to_the_program(self):
        code = "from mpi4py import MPI; import sys; print(sys.argv[1:])"
        finished = self.run_with(*MPI.launch(1), PYTHON, "-c", code, "--help", "-o", "--", "")
        self.assertEqual(finished.output, "['--help', '-o', '--', '']\n", finished)

    def test_exec_is_the_rank_side_under_any_launcher(self):
        finished = self.run_command([*MPI.launch(2), HALCYON, "exec", "-o", "run.h5", "--counter", "none",
                                     "--", PROGRAM, "10"])
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(self.profile().attributes["counter"], "none")

    @unittest.skipUnless(MPI.starts_without_its_launcher, "the library asks the launcher that the variable names")
    def test_exec_asks_the_program_and_not_the_launcher_whose_mpi_it_has(self):
        # A launcher may start programs of either family.
        finished = self.halcyon("exec", "-o", "run.h5", "--", PROGRAM, "10", **{OTHER_MPI.rank_variable: "0"})
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(self.profile().attributes["ranks"], 1)

    @only_open_mpi("it is about what was built for Open MPI alone")
    def test_exec_where_nothing_was_built_for_mpich(self):
        for name in ("bin", "lib", "libexec"):
            shutil.copytree(BUILD / name, self.directory / name,
                            ignore=shutil.ignore_patterns(f"*{MPICH.suffix}.so", "unit_*"))
        code = "from mpi4py import MPI; MPI.COMM_WORLD.Barrier()"  # linked with no MPI itself
        finished = self.run_command(["bin/halcyon", "exec", "-o", "run.h5", "--", PYTHON, "-c", code],
                                    **{MPICH.rank_variable: "0"})
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(self.profile().attributes["ranks"], 1)

    def test_exec_of_a_missing_program_is_said_in_one_line(self):
        finished = self.halcyon("exec", "--", "./nothing")
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("./nothing", finished.errors)

    @needs_python
    def test_a_relative_output_stays_where_the_run_was_started(self):
        code = "from mpi4py import MPI; import os; os.chdir('/')"
        finished = self.mpirun(1, [PYTHON, "-c", code], HALCYON_OUTPUT="run.h5")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(self.profile().attributes["ranks"], 1)

    def test_the_library_alone_never_overwrites_and_says_where_the_profile_went(self):
        (self.directory / "run.h5").write_text("precious")
        finished = self.mpirun(2, [PROGRAM, "10"], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((self.directory / "run.h5").read_text(), "precious")
        self.assertIn("run-2.h5", finished.errors)
        self.assertEqual(self.profile("run-2.h5").attributes["ranks"], 2)


if __name__ == "__main__":
    halcyon_test.main()
