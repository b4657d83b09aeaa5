"""Programs that are built with a sanitizer run under `halcyon run` as they do without it, and are recorded; where one
cannot, `halcyon doctor` says why."""
import json
import shutil
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, LIBRARY, MPI, PROGRAMS, Profile

SOURCE = Path(__file__).parent / "checked.c"
SANITIZERS = ("address", "thread")
SEGMENTS = 100 + 1
# What MPI itself leaks is not looked at.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0"}
WRAPPER_OF_COMPILER = {"Open MPI": ("mpicc.openmpi", "OMPI_CC"), "MPICH": ("mpicc.mpich", "MPICH_CC")}


def program(sanitizer):
    path = PROGRAMS / f"checked_{sanitizer}"
    if not path.exists():
        raise unittest.SkipTest(f"the compiler has no {sanitizer} sanitizer")
    return path


def runtime(path):
    """The name of the runtime that the program is linked with."""
    names = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout.split()
    return next(name for name in names if name.startswith(("libasan", "libtsan")))


class SanitizedPrograms(halcyon_test.Behaviour):

    def run_it(self, *launch, options=()):
        return self.halcyon("run", "--no-probes", "--no-baseline", "-o", "run.h5", *options, "--", *launch, **OPTIONS)

    def check_recorded(self, finished):
        self.assertEqual(finished.status, 0, finished)
        self.assertNotIn("Sanitizer", finished.errors)
        profile = Profile(self.directory / "run.h5")
        self.assertEqual((profile.segments, profile.attributes["exit_state"]), (SEGMENTS, "finalized"))
        (self.directory / "run.h5").unlink()

    def test_a_program_linked_with_the_runtime(self):
        for sanitizer in SANITIZERS:
            with self.subTest(sanitizer):
                plain = self.run_command([*MPI.launch(2), program(sanitizer), "well"], **OPTIONS)
                if plain.status != 0:
                    self.skipTest(f"this MPI cannot be used with it: {plain.errors}")
                self.check_recorded(self.run_it(*MPI.launch(2), program(sanitizer), "well"))
                self.check_recorded(self.run_it(*MPI.launch(1), program(sanitizer), "well", ":", "-np", "1",
                                                program(sanitizer), "well"))
                self.check_recorded(self.run_command([*MPI.launch(2), HALCYON, "exec", "-o", "run.h5", "--",
                                                      program(sanitizer), "well"], **OPTIONS))

    def test_the_sanitizer_still_finds_what_is_wrong(self):
        finished = self.run_it(*MPI.launch(1), program("address"), "overflow")
        self.assertNotEqual(finished.status, 0, finished)
        self.assertIn("heap-buffer-overflow", finished.errors)

    def test_the_users_own_preload_of_the_runtime_comes_first_too(self):
        sanitized = program("address")
        for way in MPI.ways_to_export("LD_PRELOAD", runtime(sanitized)):
            self.check_recorded(self.run_it(*MPI.launch(2), *way, "env", sanitized, "well"))

    def test_the_runtime_gets_into_no_other_program(self):
        sanitized = program("address")
        other = ["-np", "1", EXAMPLES / "halo_c", "10"]
        for launch in ([*MPI.launch(1), "env", sanitized], [*MPI.launch(1), sanitized, ":", *other],
                       [*MPI.launcher, *other, ":", "-np", "1", sanitized]):
            dry = self.run_it(*launch, options=("--dry-run",))
            self.assertEqual(dry.status, 0, dry)
            self.assertIn(str(LIBRARY), dry.output)
            self.assertNotIn("libasan", dry.output.replace(str(sanitized), ""))

    def test_doctor_says_what_is_preloaded_first_and_where_it_cannot_be(self):
        sanitized = program("address")
        for status, launch in ((0, [sanitized]), (3, ["env", sanitized]),
                               (3, [sanitized, ":", "-np", "1", EXAMPLES / "halo_c"]),
                               (0, [*MPI.exported("LD_PRELOAD", runtime(sanitized)), "env", sanitized])):
            finished = self.halcyon("doctor", "--json", "-", "--", *MPI.launch(1), *launch)
            self.assertEqual(finished.status, status, finished)
            found = {finding["subject"]: finding for finding in json.loads(finished.output)["findings"]}["program"]
            if launch == [sanitized]:
                self.assertIn(f"{runtime(sanitized)} is preloaded first", found["finding"])
            if status != 0:
                self.assertIn(f"{sanitized} ends if {runtime(sanitized)} does not come before the recorder",
                              found["finding"])
                self.assertIn(f"LD_PRELOAD={runtime(sanitized)}", found["remedy"])

    @unittest.skipUnless(MPI.is_debians and shutil.which("clang"), "no clang for this MPI")
    def test_a_program_that_holds_the_runtime(self):
        wrapper, variable = WRAPPER_OF_COMPILER[MPI.implementation]
        for sanitizer in SANITIZERS:
            with self.subTest(sanitizer):
                path = self.directory / f"held_{sanitizer}"
                made = self.run_command([wrapper, f"-fsanitize={sanitizer}", SOURCE, "-o", path], **{variable: "clang"})
                plain = self.run_command([*MPI.launch(2), path, "well"], **OPTIONS) if made.status == 0 else made
                if plain.status != 0:
                    self.skipTest(plain.errors)
                self.check_recorded(self.run_it(*MPI.launch(2), path, "well"))


if __name__ == "__main__":
    halcyon_test.main()
