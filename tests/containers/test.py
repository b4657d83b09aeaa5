"""Programs in containers are recorded by `halcyon exec` in there, and what would go wrong is said before they start.

The containers are bubblewrap's, made of this machine's own files: parts of them are hidden, read-only, or not there.
"""
import json
import shutil
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, HALCYON, LIBRARY, MPI, OTHER_MPI, PYTHON, Profile, check_schema

PROGRAM = [EXAMPLES / "halo_c", "300"]
ALL_FILES = ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
EXEC = [HALCYON, "exec", "--"]


def why_none():
    """Why there can be no container here; None if there can."""
    if shutil.which("bwrap") is None:
        return "no bwrap (package bubblewrap)"
    tried = subprocess.run(["bwrap", *ALL_FILES, "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no container can be made: {tried.stderr.strip()}"


def libraries_of_hdf5():
    lines = subprocess.run(["ldd", HALCYON], capture_output=True, text=True, check=True).stdout.splitlines()
    return [Path(line.split()[2]).resolve() for line in lines if "libhdf5" in line]


class Containers(halcyon_test.Behaviour):

    def launch(self, *options, program=PROGRAM, starter=EXEC):
        """The launch command whose ranks are each in a container, and what starts the program there."""
        return [*MPI.launch(2), "bwrap", *ALL_FILES, *options, *starter, *program]

    def run_in(self, *options, **changes):
        return self.halcyon("run", "-o", "run.h5", "--", *self.launch(*options, **changes))

    def check_recorded(self, *options, **changes):
        bare = self.run_command(self.launch(*options, starter=[]))
        if bare.status != 0:
            self.skipTest(f"the MPI library itself does not run there: {(bare.output + bare.errors).splitlines()[:1]}")
        finished = self.run_in(*options, **changes)
        self.assertEqual(finished.status, 0, finished)
        profile = Profile(self.directory / "run.h5")
        self.assertEqual((profile.attributes["ranks"], profile.attributes["exit_state"]), (2, "finalized"))
        return finished

    def diagnosis(self, *options, status=0, **changes):
        """What `doctor` finds in the container, by subject."""
        finished = self.halcyon("doctor", "--json", "-", "--", *self.launch(*options, **changes))
        self.assertEqual((finished.status, finished.errors), (status, ""), finished)
        report = json.loads(finished.output)
        check_schema(report, "doctor")
        return {finding["subject"]: finding for finding in report["findings"]}

    def check_foreseen(self, words, *options, subject="program", **changes):
        """Both `doctor` and, before the program, `run` say this."""
        self.assertIn(words, self.diagnosis(*options, status=3, **changes)[subject]["finding"])
        finished = self.run_in(*options, **changes)
        self.assertTrue(finished.errors.startswith("halcyon: "), finished)
        self.assertIn(words, finished.errors.splitlines()[0])
        return finished

    # What is recorded

    def test_what_is_in_the_container_is_what_doctor_says(self):
        found = self.diagnosis()
        self.assertEqual(list(found), ["launcher", "program", "recorder", "build", "counter", "clock", "host", "live", "files"])
        self.assertIn(MPI.library, found["program"]["finding"])
        self.assertIn(str(LIBRARY), found["recorder"]["finding"])
        self.assertIn(str(self.directory), found["files"]["finding"])
        self.check_recorded()

    def test_the_recorder_is_loaded_into_the_program_and_not_into_what_makes_the_container(self):
        finished = self.halcyon("run", "--dry-run", "--", *self.launch())
        self.assertNotIn("LD_PRELOAD=/", finished.output)
        finished = self.check_recorded(starter=["sh", "-c", 'echo "first $LD_PRELOAD"; exec "$@"', "sh", *EXEC])
        self.assertEqual(finished.output.splitlines().count("first "), 2, finished)

    def test_a_root_that_is_read_only(self):
        places = [word for place in (self.directory, self.temporary) for word in ("--bind", place, place)]
        self.check_recorded("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", *places)

    def test_without_proc(self):
        self.assertEqual(self.diagnosis("--tmpfs", "/proc")["program"]["state"], "good")
        self.check_recorded("--tmpfs", "/proc")

    @unittest.skipUnless(MPI.has_mpi4py, "no mpi4py for this MPI")
    def test_what_python_opens_is_seen_without_proc(self):
        found = self.diagnosis("--tmpfs", "/proc", program=[PYTHON, "app.py"])
        self.assertRegex(found["program"]["finding"], r"uses /\S*/libmpi")

    def test_without_shared_memory(self):
        nothing = ["--tmpfs", "/dev/shm", "--remount-ro", "/dev/shm"]
        live = self.diagnosis(*nothing)["live"]
        self.assertEqual(live["state"], "problem")
        self.assertIn("/dev/shm", live["finding"])
        self.check_recorded(*nothing)

    def test_without_hdf5_the_command_outside_makes_the_profile(self):
        hidden = [word for library in libraries_of_hdf5() for word in ("--ro-bind", "/dev/null", library)]
        finished = self.check_recorded(*hidden, starter=[])
        self.assertIn("halcyon-write", finished.errors)

    # What is foreseen

    def test_without_hdf5_the_command_does_not_start(self):
        hidden = [word for library in libraries_of_hdf5() for word in ("--ro-bind", "/dev/null", library)]
        finished = self.check_foreseen("libhdf5", *hidden)
        self.assertIn("portable release", finished.errors.splitlines()[0])

    def test_halcyon_is_not_in_the_container(self):
        program = self.directory / "halo_c"
        shutil.copy(PROGRAM[0], program)
        finished = self.check_foreseen("halcyon exec does not start in the ranks", "--tmpfs", BUILD, program=[program])
        self.assertNotEqual(finished.status, 0)

    def test_the_place_of_the_profile_is_not_in_the_container(self):
        finished = self.halcyon("doctor", "--", *self.launch("--chdir", "/", "--tmpfs", self.directory.parent,
                                                              "--remount-ro", self.directory.parent))
        self.assertIn(f"the directory {self.directory} is gone", finished.output)
        self.assertEqual(finished.status, 3)

    def test_the_mpi_in_the_container_is_not_the_launchers(self):
        other = BUILD / f"examples{OTHER_MPI.programs}" / "halo_c"
        found = self.diagnosis(status=3, program=[other])
        self.assertIn("not the launcher's MPI", found["program"]["finding"])

    def test_without_exec_it_is_said_that_nothing_is_seen(self):
        found = self.diagnosis(starter=[])
        self.assertEqual(found["program"]["state"], "note")
        self.assertIn("bwrap starts programs in a container", found["program"]["finding"])
        self.assertIn("halcyon exec", found["program"]["remedy"])
        hidden = ["--tmpfs", LIBRARY.parent]
        finished = self.run_in(*hidden, starter=[])
        self.assertEqual(finished.status, 2, finished)
        for line in (finished.errors.splitlines()[0], finished.errors.splitlines()[-1]):
            self.assertIn("bwrap starts programs in a container", line)

    # Inside

    def test_the_rank_is_asked_by_hand(self):
        finished = self.run_command(["bwrap", *ALL_FILES, HALCYON, "doctor", "--", *EXEC, *PROGRAM])
        self.assertEqual(finished.status, 0, finished)
        self.assertIn(f"{PROGRAM[0]} uses ", finished.output)
        self.assertNotIn("launcher", finished.output)


if __name__ == "__main__":
    if why := why_none():
        halcyon_test.skip(why)
    halcyon_test.main()
