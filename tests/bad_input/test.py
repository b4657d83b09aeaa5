"""Bad input of every kind: one clear line names what is wrong and where, and the exit status is that of the design."""
import os
import random

import halcyon_test
from halcyon_test import EXAMPLES, MPI, PYTHON, editing

NEVER_RUN = ("--", *MPI.launcher, "echo", "ran")
NEWER_SCHEMA = 1000
FILE_SIZE_LIMIT = 8192  # bytes; a profile has more
# A limit that is set after MPI has started makes the writer fail as a full disk does.
LIMITS_FILES = f"""
from mpi4py import MPI
import resource
for _ in range(100):
    MPI.COMM_WORLD.Barrier()
resource.setrlimit(resource.RLIMIT_FSIZE, ({FILE_SIZE_LIMIT}, {FILE_SIZE_LIMIT}))
"""
NEVER_FINALIZES = """
import mpi4py
mpi4py.rc.finalize = False
from mpi4py import MPI
"""


class BadInput(halcyon_test.Behaviour):

    def profile(self):
        self.record(2, [EXAMPLES / "halo_c", "10"])
        return self.directory / "run.h5"

    def test_a_missing_file_is_named(self):
        for command in ("report", "info", "recover"):
            self.check_refused(self.halcyon(command, "absent.h5"), "absent.h5", "No such file")

    def test_a_text_file_is_no_profile(self):
        (self.directory / "notes.h5").write_text("not a profile")
        for command in ("report", "info"):
            self.check_refused(self.halcyon(command, "notes.h5"), "notes.h5", "not a profile")

    def test_a_foreign_hdf5_file_is_no_profile(self):
        import h5py
        with h5py.File(self.directory / "foreign.h5", "w") as file:
            file["x"] = [1, 2, 3]
        self.check_refused(self.halcyon("report", "foreign.h5"), "foreign.h5", "not a Halcyon profile")

    def test_a_newer_schema_is_refused_by_number(self):
        path = self.profile()
        with editing(path) as file:
            file.attrs["schema_version"] = NEWER_SCHEMA
        self.check_refused(self.halcyon("report", path), path, f"schema version {NEWER_SCHEMA}")

    def test_a_truncated_profile_is_refused(self):
        path = self.profile()
        os.truncate(path, path.stat().st_size // 2)
        self.check_refused(self.halcyon("report", path), path)

    def test_a_profile_with_bytes_changed_is_read_or_refused_in_one_line(self):
        # HDF5 itself crashes on some of these and loops on others.
        path = self.profile()
        whole = path.read_bytes()
        chance = random.Random(1)
        outcomes = set()
        for _ in range(60):
            damaged = bytearray(whole)
            for _ in range(chance.choice((1, 4, 16))):
                at = chance.randrange(chance.choice((4096, len(damaged))))
                damaged[at] = chance.choice((0, 0x7f, 0xff, chance.randrange(256)))
            path.write_bytes(damaged)
            finished = self.halcyon("info", "--json", "-", path)
            outcomes.add(finished.status)
            if finished.status == 0:
                self.assertEqual(finished.errors, "", finished)
            else:
                self.check_refused(finished, path)
        self.assertEqual(len(outcomes), 2)

    def test_a_profile_with_columns_of_other_lengths_is_refused(self):
        path = self.profile()
        with editing(path) as file:
            del file["duration"]
            file["duration"] = [1.0]
        self.check_refused(self.halcyon("report", path), path, "duration")

    def test_a_profile_whose_segments_last_longer_than_the_run_is_refused(self):
        path = self.profile()
        with editing(path) as file:
            file.attrs["run_time_seconds"] = 0.1 * file["duration"][:].sum()
        self.check_refused(self.halcyon("report", path), path, "longer than the run")

    def test_a_profile_with_empty_columns_is_refused(self):
        for column, index in (("sites", "site"), ("compute_bins", "compute")):
            path = self.profile()
            with editing(path) as file:
                kind = file[column].dtype
                file.pop(index, None)  # absent where there is one bin only
                del file[column]
                file.create_dataset(column, (0,), dtype=kind)
            self.check_refused(self.halcyon("report", path), path, column, "empty")
            path.unlink()

    def test_json_never_replaces_a_profile(self):
        path = self.profile()
        before = path.read_bytes()
        self.check_refused(self.halcyon("report", "--json", path, path), path, "never overwritten")
        self.assertEqual(path.read_bytes(), before)

    def test_a_bad_option_is_named(self):
        self.check_refused(self.halcyon("report", "--fail-on", "blue", "x.h5"), "--fail-on")
        self.check_refused(self.halcyon("report", "--method", "magic", "x.h5"), "--method")
        self.check_refused(self.halcyon("report"), "FILE", "halcyon report --help")
        self.check_refused(self.halcyon("nonsense"), "nonsense", "halcyon --help")
        self.check_refused(self.halcyon())

    def test_a_bad_spec_is_refused_before_anything_runs(self):
        self.check_refused(self.halcyon("run", "--inject", "class=p2p,prob=7,mean=1ms", *NEVER_RUN), "prob=7")

    def test_a_bad_background_is_refused_before_anything_runs(self):
        self.check_refused(self.halcyon("run", "--background", "long", *NEVER_RUN), "--background", "long")

    def test_an_unwritable_output_is_refused_before_anything_runs(self):
        self.check_refused(self.halcyon("run", "-o", "nowhere/run.h5", *NEVER_RUN), "nowhere does not exist")
        self.check_refused(self.halcyon("run", "-o", "nowhere/", *NEVER_RUN), "nowhere does not exist")
        self.check_refused(self.halcyon("compose", "-o", ".", "a.h5", "b.h5"), "it is a directory: name a file in it")

    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read_or_runs(self):
        (self.directory / "file").touch()
        profile = self.directory / "precious.h5"
        profile.write_bytes(b"\x89HDF\r\n\x1a\n")
        for option, commands in (("--html", ("run", "report", "regulate", "repeat", "search", "map")),
                                 ("--json", ("report", "compare", "watch")), ("--csv", ("report",)),
                                 ("--json", ("repeat", "search", "map")), ("--csv", ("repeat",)),
                                 ("--openmetrics", ("watch",)), ("--output", ("baselines export",))):
            for command in commands:
                with self.subTest(command=command, option=option):
                    for path, why in ((".", "it is a directory"), ("no/file", "no does not exist"),
                                      ("file/file", "file is not a directory"), (profile, "never overwritten")):
                        self.check_refused(self.halcyon(*command.split(), option, path), option, path, why)
        self.check_refused(self.halcyon("report", "--html", "-", "x.h5"), "--html", "'-' is no file")

    def test_a_device_may_lie_in_a_directory_that_takes_no_new_files(self):
        finished = self.halcyon("report", "--html", "/proc/self/fd/1", "absent.h5")
        self.check_refused(finished, "absent.h5: No such file")

    def test_what_is_not_there_is_told_so(self):
        self.check_refused(self.halcyon("repeat", "--resume", "nowhere", *NEVER_RUN), "nowhere does not exist")
        self.check_refused(self.halcyon("baselines", "import", "nowhere"), "cannot open nowhere: No such file")

    def test_a_mistyped_word_is_told_with_what_was_meant(self):
        self.check_refused(self.halcyon("reprot", "run.h5"), "reprot", "Did you mean: report?")
        self.check_refused(self.halcyon("report", "--htlm", "page.html", "run.h5"), "--htlm", "Did you mean: --html?")
        self.check_refused(self.halcyon("run", "--ouptut=run.h5", *NEVER_RUN), "Did you mean: --output?")
        finished = self.halcyon("frobnicate")
        self.check_refused(finished, "frobnicate")
        self.assertNotIn("Did you mean", finished.errors)
        self.check_refused(self.halcyon("help", "comprae"), "comprae", "Did you mean: compare?")

    def test_an_unknown_launcher_is_told_what_to_type(self):
        self.check_refused(self.halcyon("run", "--", "echo", "ran"), "'echo' is linked with no MPI library", "echo … halcyon exec")
        self.check_refused(self.halcyon("run", "--", EXAMPLES / "plate", "9"),
                           f"Did you mean: halcyon run -- mpirun -np N {EXAMPLES / 'plate'} 9")
        self.check_refused(self.halcyon("run", "--", "mpirunn", "./app"), "no program 'mpirunn'. Did you mean: mpirun?")
        self.check_refused(self.halcyon("run", "--", "-np", "4", "echo"),
                           "Did you mean: halcyon run -- mpirun -np 4 echo")
        self.check_refused(self.halcyon("run", "--", "bash", "-c", "mpirun echo"), "'bash'",
                           "Put 'halcyon run --' before the mpirun")
        script = self.directory / "job"
        for shell in ("/bin/bash -e", "/usr/bin/env sh"):
            script.write_text(f"#!{shell}\ncd here\nmpirun -np 2 ./app\n")
            script.chmod(0o755)
            self.check_refused(self.halcyon("run", "--", "./job"), "'./job'", "Put 'halcyon run --' before the mpirun")
        script.write_text("#!/bin/sh\nexec ./app\n")
        self.check_refused(self.halcyon("run", "--", "./job"), "Did you mean: halcyon run -- mpirun -np N ./job")
        self.check_refused(self.halcyon("run", "--", "aprun", "-n", "4", "./app"), "aprun … halcyon exec -- ./app")
        self.check_refused(self.halcyon("run", "--", "./nothing"), "no program './nothing'")
        script.chmod(0o644)
        self.check_refused(self.halcyon("run", "--", "./job"), "'./job' is not executable: chmod +x")
        self.check_refused(self.halcyon("run", "--", "timeout", "4", "srun", "-n", "2", "./app"), "'timeout'",
                           "Did you mean: timeout 4 halcyon run -- srun -n 2 ./app\n")

    def test_a_launcher_that_is_not_behind_the_dashes_of_a_command_is_told_what_to_type(self):
        for typed, meant in (
                ("run mpirun -np 2 ./app --html", "halcyon run -- mpirun -np 2 ./app --html"),
                ("run -o run.h5 timeout -k 1 4 mpirun -n 2 ./app -o x",
                 "timeout -k 1 4 halcyon run -o run.h5 -- mpirun -n 2 ./app -o x"),
                ("repeat --runs 3 env A=1 srun -n 2 ./app", "env A=1 halcyon repeat --runs 3 -- srun -n 2 ./app"),
                ("doctor /opt/mpi/bin/mpiexec -n 2 ./app", "halcyon doctor -- /opt/mpi/bin/mpiexec -n 2 ./app"),
                ("disturb cpu mpirun -np 2 ./app", "halcyon disturb cpu -- mpirun -np 2 ./app"),
                ("-- mpirun -np 2 ./app", "halcyon run -- mpirun -np 2 ./app"),
                ("mpirun -np 2 ./app", "halcyon run -- mpirun -np 2 ./app"),
                ("timeout 4 mpirun -np 2 ./app", "timeout 4 halcyon run -- mpirun -np 2 ./app"),
                ("-o run.h5 -- mpirun -np 2 ./app", "halcyon run -o run.h5 -- mpirun -np 2 ./app"),
                ("rnu -o run.h5 -- mpirun -np 2 ./app", "halcyon run -o run.h5 -- mpirun -np 2 ./app")):
            with self.subTest(typed=typed):
                self.check_refused(self.halcyon(*typed.split()), f". Did you mean: {meant}")

    def test_an_output_that_vanishes_leaves_the_program_alone_and_is_said_in_one_line(self):
        plain = self.mpirun(2, [EXAMPLES / "halo_c", "10"], preload=())
        finished = self.mpirun(2, [EXAMPLES / "halo_c", "10"], HALCYON_OUTPUT="/nowhere/at/all/run.h5")
        self.assertEqual((finished.status, finished.output), (plain.status, plain.output), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("/nowhere/at/all/run.h5", finished.errors)

    def test_a_warning_does_not_hide_where_the_profile_is(self):
        finished = self.mpirun(2, [EXAMPLES / "halo_c", "10"], HALCYON_OUTPUT="/nowhere/at/all/run.h5",
                               HALCYON_COUNTER="papi:NO_SUCH_EVENT")
        warning, outcome = finished.errors.splitlines()
        self.assertIn("papi:NO_SUCH_EVENT", warning)
        self.assertIn("/nowhere/at/all/run.h5", outcome)

    def test_a_full_disk_leaves_the_program_alone_and_is_said_in_one_line(self):
        finished = self.mpirun(2, [PYTHON, "-c", LIMITS_FILES], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("run.h5", finished.errors)
        self.assertEqual([path.name for path in self.directory.iterdir()], [])

    def test_a_program_that_is_no_mpi_program_gives_no_profile_and_says_so(self):
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(1), "true")
        self.check_refused(finished, "no profile")

    def test_a_program_without_finalize_is_told(self):
        finished = self.mpirun(1, [PYTHON, "-c", NEVER_FINALIZES], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertIn("without MPI_Finalize", finished.errors)


if __name__ == "__main__":
    halcyon_test.main()
