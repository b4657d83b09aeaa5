"""halcyon doctor says in a few lines whether a launch command would be recorded, and what to do if not."""
import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, LIBRARY, MPI, OTHER_MPI, PYTHON, check_schema

PROGRAM = EXAMPLES / "halo_c"
MOST_LINES = 14


class Doctor(halcyon_test.Behaviour):

    def findings(self, *launch, status=0, **environment):
        """What the command says of each subject. It must start nothing and print no error."""
        words = ["--", *launch] if launch else []
        finished = self.halcyon("doctor", "--json", "-", *words, **environment)
        self.assertEqual((finished.status, finished.errors), (status, ""), finished)
        report = json.loads(finished.output)
        check_schema(report, "doctor")
        self.assertEqual(report["records"], status == 0)
        text = self.halcyon("doctor", *words, **environment)
        self.assertEqual(text.status, status)
        self.assertLessEqual(len(text.output.splitlines()), MOST_LINES)
        self.assertEqual(list(self.directory.iterdir()), [])
        return {finding["subject"]: finding for finding in report["findings"]}

    def test_a_dash_after_json_is_what_it_is_for_other_commands(self):
        def told(*words):  # what is free and who uses the host changes
            document = json.loads(self.halcyon("doctor", *words).output)
            document["findings"] = [(one["subject"], one["state"]) for one in document["findings"]]
            return document
        self.assertEqual(told("--json", "-"), told("--json"))

    def test_a_program_that_can_be_recorded(self):
        found = self.findings(*MPI.launch(2), PROGRAM)
        self.assertIn(MPI.library, found["program"]["finding"])
        self.assertIn(str(LIBRARY), found["recorder"]["finding"])
        for subject in ("launcher", "program", "recorder", "live", "files"):
            self.assertEqual(found[subject]["state"], "good", found)

    def test_the_machine_alone(self):
        self.assertEqual(list(self.findings()), ["build", "counter", "clock", "host", "live", "files"])

    def test_a_machine_without_hardware_counters_is_told_what_is_counted_instead(self):
        counter = self.findings()["counter"]
        if counter["state"] == "good":
            self.skipTest("this machine has hardware counters")
        self.assertIn("CPU time", counter["finding"])
        self.assertRegex(counter["finding"], "this user may not read|this machine shows no|PAPI cannot use")

    def test_a_program_of_another_mpi(self):
        program = BUILD / f"examples{OTHER_MPI.programs}" / "halo_c"
        found = self.findings(*MPI.launch(2), program, status=3)
        self.assertIn("not the launcher's MPI", found["program"]["finding"])

    @halcyon_test.only_open_mpi("only its launcher refuses root")
    @unittest.skipUnless(os.geteuid() == 0, "not root")
    def test_root_without_leave(self):
        found = self.findings(*MPI.launch(2), PROGRAM, status=3, OMPI_ALLOW_RUN_AS_ROOT="0")
        self.assertIn("starts nothing as root", found["launcher"]["finding"])
        launch = [MPI.launcher[0], "--allow-run-as-root", *MPI.launch(2)[1:]]
        self.findings(*launch, PROGRAM, OMPI_ALLOW_RUN_AS_ROOT="0")

    def test_a_static_program(self):
        found = self.findings(*MPI.launch(2), BUILD / "tests" / "static_program", status=3)
        self.assertIn("statically", found["program"]["finding"])

    def test_a_program_of_another_libc_is_not_started(self):
        # As one of musl, whose loader knows no way to say what a program needs but starting it.
        scratch = self.scratch_directory()
        content = Path(shutil.which("touch")).read_bytes()
        loader = re.search(rb"/lib[^\0]*/ld-linux[^\0]*\0", content)[0]
        (scratch / "of_musl").write_bytes(content.replace(loader, b"ld-musl".ljust(len(loader), b"\0")))
        (scratch / "ld-musl").write_text("#!/bin/sh\ntouch started\n")
        for name in ("of_musl", "ld-musl"):
            (scratch / name).chmod(0o755)
        path = f"{scratch}:{os.environ['PATH']}"
        said = f"{scratch}/of_musl is not of glibc (its loader is ld-musl), and would end"
        found = self.findings(*MPI.launch(2), scratch / "of_musl", status=3, PATH=path)
        self.assertIn(said, found["program"]["finding"])
        for words in (("run", "--", *MPI.launch(2)), ("exec", "--")):
            refused = self.halcyon(*words, scratch / "of_musl", PATH=path)
            self.assertEqual((refused.status, refused.output), (2, ""), refused)
            self.assertIn(said, refused.errors)
        self.assertEqual(list(self.directory.iterdir()), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file to another user")
    def test_a_program_that_runs_as_another_user(self):
        program = self.scratch_directory() / "other"
        shutil.copy(EXAMPLES / "halo_c", program)
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        found = self.findings(*MPI.launch(2), program, status=3)
        self.assertIn(f"{program} runs with other rights than its user's (set-user-id", found["program"]["finding"])

    def test_a_static_program_behind_a_wrapper(self):
        found = self.findings(*MPI.launch(2), "env", "A=1", BUILD / "tests" / "static_program", status=3)
        self.assertIn("statically", found["program"]["finding"])

    def test_no_mpi_at_all(self):
        for launcher in ("mpirun", "srun"):
            found = self.findings(launcher, "-np", "2", "./app", status=3, PATH=os.devnull)
            self.assertIn(f"there is no program '{launcher}'", found["launcher"]["finding"])
            self.assertIn("Load the module", found["launcher"]["remedy"])

    def test_a_program_that_is_not_there_or_cannot_be_executed(self):
        directory = self.scratch_directory()
        (directory / "text").write_text("no program\n")
        for name, words in (("absent", "does not exist"), ("text", "cannot be executed")):
            found = self.findings(*MPI.launch(2), directory / name, "sort", status=3)
            self.assertIn(f"{directory / name} {words}", found["program"]["finding"])

    def test_a_compiled_program_without_mpi(self):
        found = self.findings(*MPI.launch(2), "cat", status=3)
        self.assertIn("no MPI library, and is not seen to open one", found["program"]["finding"])

    def test_a_wrapper_whose_program_is_not_seen(self):
        self.assertEqual(self.findings(*MPI.launch(2), "env", "A=1", "sh", "-c", "true")["program"]["state"], "note")

    def test_python_without_mpi4py(self):
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", self.temporary], check=True)
        found = self.findings(*MPI.launch(2), self.temporary / "bin" / "python3", "app.py", PYTHONPATH="")
        self.assertIn("cannot import mpi4py", found["program"]["finding"])
        self.assertEqual(found["program"]["state"], "note")  # it may open MPI with ctypes

    def test_libraries_that_the_loader_does_not_find(self):
        program = BUILD / "tests" / "program_without_its_library"
        found = self.findings(*MPI.launch(2), program, status=3)
        self.assertIn("libmpi.so.20, which the loader does not find", found["program"]["finding"])

    def test_a_library_that_the_ranks_find_by_the_path_that_the_launcher_gives_them(self):
        program = BUILD / "tests" / "program_without_its_library"
        path = BUILD / "tests" / "foreign" / "open_mpi_2"
        for options in MPI.ways_to_export("LD_LIBRARY_PATH", str(path)):
            found = self.findings(*MPI.launch(2), *options, program, status=3)
            self.assertIn(f"uses {path}/libmpi.so.20", found["program"]["finding"])

    def test_the_second_program_of_a_job_of_another_mpi(self):
        other = BUILD / f"examples{OTHER_MPI.programs}" / "halo_c"
        found = self.findings(*MPI.launch(1), PROGRAM, ":", "-np", "1", other, status=3)
        self.assertIn(f"{other} uses", found["program"]["finding"])

    def test_the_programs_that_a_file_lists(self):
        other = BUILD / f"examples{OTHER_MPI.programs}" / "halo_c"
        programs = self.scratch_directory() / "programs"
        programs.write_text(f"# two programs\n-np 1 {PROGRAM}\n-np 1 {other}\n")
        found = self.findings(*MPI.launcher, MPI.option_of_program_file, programs, status=3)
        self.assertIn(f"{other} uses", found["program"]["finding"])

    def test_a_programs_own_option_that_is_called_like_the_launchers(self):
        absent = self.scratch_directory() / "absent"
        found = self.findings(*MPI.launch(2), PROGRAM, MPI.option_of_program_file, absent)
        self.assertIn(f"{PROGRAM} uses", found["program"]["finding"])

    def test_a_version_whose_handles_are_not_known(self):
        fake = BUILD / "tests" / "foreign" / ("open_mpi_2" if MPI.implementation == "Open MPI" else "mpich_13")
        found = self.findings(*MPI.launch(1), fake / "program", status=3)
        self.assertIn("whose handles Halcyon does not know", found["program"]["finding"])

    def test_a_program_whose_name_begins_like_pythons_is_not_started(self):
        script = self.scratch_directory() / "python_job.sh"
        script.write_text("#!/bin/sh\ntouch started\n")
        script.chmod(0o755)
        self.findings(*MPI.launch(2), script)

    def test_a_directory_that_is_gone(self):
        finished = self.run_command(["sh", "-c", f"mkdir x && cd x && rmdir ../x && {BUILD}/bin/halcyon doctor --json -"])
        files = json.loads(finished.output)["findings"][-1]
        self.assertEqual((finished.status, files["state"]), (3, "problem"), finished)
        self.assertIn("-o FILE", files["remedy"])


if __name__ == "__main__":
    halcyon_test.main()
