"""An installation works in any prefix, also after it was moved: by the command, CMake, pkg-config and Lmod."""
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import (BUILD, EXAMPLES, INJECTOR, LIBRARY, MPI, OTHER_MPI, SOURCE, WRITER, Profile, library_of,
                          output_of)

PROGRAM = [EXAMPLES / "halo_c", "10"]
# CMake, pkg-config and Lmod each name the recorder by a variable that ends in this, in their own case.
PRELOAD = "PRELOAD" + MPI.suffix.replace("-", "_").upper()
LMOD = next(Path("/usr/share/lmod").glob("*/init/bash"), None)

CONSUMER = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES NONE)
find_package(Halcyon {version} REQUIRED)
enable_testing()
add_test(NAME by_command COMMAND Halcyon::halcyon run -o by_command.h5 -- {launch} {program})
add_test(NAME by_target COMMAND {launch} {by_target} {program})
add_test(NAME by_variable COMMAND {launch} {by_variable} {program})
set_tests_properties(by_target PROPERTIES ENVIRONMENT HALCYON_OUTPUT=by_target.h5)
set_tests_properties(by_variable PROPERTIES ENVIRONMENT HALCYON_OUTPUT=by_variable.h5)
file(GENERATE OUTPUT injector CONTENT $<TARGET_FILE:Halcyon::injector{suffix}>)
"""


def words(arguments):
    return " ".join(str(argument) for argument in arguments)


class InstallsAnywhere(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="halcyon-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        cls.first = cls.root / "first"
        output_of(["cmake", "--install", BUILD, "--prefix", cls.first])
        cls.prefix = cls.root / "elsewhere" / "halcyon"
        cls.prefix.parent.mkdir()
        cls.first.rename(cls.prefix)

    def found(self, pattern):
        paths = sorted(path for path in self.prefix.rglob(pattern))
        self.assertEqual(len(paths), 1, f"{pattern}: {paths}")
        return paths[0]

    def check(self, finished):
        self.assertEqual(finished.status, 0, finished)
        return finished

    def check_profile(self, name):
        self.assertEqual(Profile(self.directory / name).attributes["ranks"], 2)

    def preloaded_by_hand(self, library):
        self.check(self.run_command([*MPI.launch(2), *MPI.exported("LD_PRELOAD", library),
                                     *MPI.exported("HALCYON_OUTPUT", self.directory / "run.h5"), *PROGRAM]))
        self.check_profile("run.h5")

    def test_the_command_profiles_and_injects(self):
        finished = self.check(self.run_command(
            [self.prefix / "bin/halcyon", "run", "-o", "run.h5", "--inject", "class=all,prob=0.1,mean=1ms", "--",
             *MPI.launch(2), *PROGRAM]))
        self.assertIn("halcyon: ", finished.errors)
        self.check_profile("run.h5")
        self.assertGreater(self.report("run.h5")["injected_percent"], 0)

    def test_the_command_of_one_installation_records_once_beside_the_library_of_another(self):
        for library in filter(Path.exists, (LIBRARY, library_of(OTHER_MPI, "halcyon"))):
            with self.subTest(library.name):
                other = Path(shutil.copy(library, self.directory))
                finished = self.check(self.run_command(
                    [self.prefix / "bin/halcyon", "run", "-o", "run.h5", "--", *MPI.launch(2), *PROGRAM],
                    preload=[other]))
                self.assertNotIn("nothing is recorded", finished.errors)
                self.assertEqual([path.name for path in self.directory.glob("*.h5*")], ["run.h5"])
                (self.directory / "run.h5").unlink()

    def test_the_command_is_found_through_a_link(self):
        (self.directory / "halcyon").symlink_to(self.prefix / "bin/halcyon")
        self.check(self.run_command(["./halcyon", "run", "-o", "run.h5", "--", *MPI.launch(2), *PROGRAM]))
        self.check_profile("run.h5")

    def test_the_writer_of_the_build_tree_is_not_used(self):
        self.found(WRITER.name).unlink()
        self.addCleanup(shutil.copy, WRITER, self.prefix / WRITER.parent.relative_to(BUILD))
        finished = self.run_command([self.prefix / "bin/halcyon", "run", "-o", "run.h5", "--", *MPI.launch(2),
                                     *PROGRAM])
        self.check(finished)
        self.assertIn("libexec/halcyon/halcyon-write: No such file or directory", finished.errors)
        self.check_profile("run.h5")  # which the command has made of the parts

    def test_an_incomplete_installation_is_told(self):
        shutil.copytree(self.prefix, self.directory / "copy")
        next((self.directory / "copy").rglob(LIBRARY.name)).unlink()
        finished = self.run_command(["copy/bin/halcyon", "run", "--", *MPI.launch(2), *PROGRAM])
        self.assertEqual(finished.status, 2, finished)
        self.assertRegex(finished.errors,
                         rf"^halcyon: cannot find {LIBRARY.name} in {self.directory}/copy/")

    def test_a_place_that_the_loader_cannot_preload_from_is_told_before_the_program_starts(self):
        for name in ("with blanks", "with:colon", "with$LIB"):
            with self.subTest(name):
                place = self.directory / name
                place.mkdir()
                for part in ("bin", "lib", "libexec"):
                    shutil.copytree(self.prefix / part, place / part)
                command = place / "bin/halcyon"
                for words in (["run", "--", *MPI.launch(2)], ["exec", "--"]):
                    finished = self.run_command([command, *words, *PROGRAM])
                    self.check_refused(finished, f"{place}/", LIBRARY.name, "blank", "Install Halcyon in another place")
                finished = self.run_command([command, "doctor", "--", *MPI.launch(2), *PROGRAM])
                self.assertEqual(finished.status, 3, finished)
                self.assertIn(f"cannot preload {place}/", finished.output)
                # What needs no library in a rank works there.
                self.check(self.run_command([self.prefix / "bin/halcyon", "run", "-o", "run.h5", "--", *MPI.launch(2),
                                             *PROGRAM]))
                self.check(self.run_command([command, "report", "run.h5"]))
                (self.directory / "run.h5").unlink()

    def test_find_package_gives_the_command_and_the_libraries(self):
        version = re.search(r"project\(halcyon VERSION (\d+\.\d+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        (self.directory / "CMakeLists.txt").write_text(CONSUMER.format(
            version=version, launch=words(MPI.launch(2)), program=words(PROGRAM), suffix=MPI.suffix,
            by_target=words(MPI.exported("LD_PRELOAD", f"$<TARGET_FILE:Halcyon::recorder{MPI.suffix}>")),
            by_variable=words(MPI.exported("LD_PRELOAD", f"${{Halcyon_{PRELOAD}}}"))))
        self.check(self.run_command(["cmake", "-B", ".", f"-DCMAKE_PREFIX_PATH={self.prefix}"]))
        self.check(self.run_command(["ctest", "--output-on-failure"]))
        for name in ("by_command", "by_target", "by_variable"):
            self.check_profile(f"{name}.h5")
        self.assertEqual((self.directory / "injector").read_text(), str(self.found(INJECTOR.name)))

    def test_find_package_refuses_another_version(self):
        (self.directory / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES NONE)\n"
            "find_package(Halcyon 99 REQUIRED)\n")
        finished = self.run_command(["cmake", "-B", ".", f"-DCMAKE_PREFIX_PATH={self.prefix}"])
        self.assertNotEqual(finished.status, 0, finished)
        self.assertIn("HalcyonConfig.cmake, version:", finished.errors)

    @unittest.skipIf(shutil.which("pkg-config") is None, "no pkg-config")
    def test_pkg_config_gives_the_library_and_the_command(self):
        def variable(name):
            return self.check(self.run_command(["pkg-config", f"--variable={name}", "halcyon"],
                                               PKG_CONFIG_PATH=str(self.found("halcyon.pc").parent))).output.strip()
        self.preloaded_by_hand(variable(PRELOAD.lower()))
        self.assertEqual(Path(variable("command")).resolve(), self.prefix / "bin/halcyon")

    @unittest.skipIf(LMOD is None, "no Lmod (package lmod)")
    def test_the_modulefile_loads(self):
        modulefile = self.found("modulefiles/halcyon/*.lua")
        version = modulefile.stem
        finished = self.check(self.run_command(
            ["bash", "-c", f"source {LMOD} && module use {modulefile.parents[1]} && module load halcyon && "
             f"halcyon --version && command -v halcyon && echo $HALCYON_{PRELOAD} && man -w halcyon-run && "
             f"/usr/bin/python3 -c 'import halcyon; print(halcyon.__file__)'"]))
        self.assertEqual(finished.output.splitlines(),
                         [f"halcyon {version}", str(self.prefix / "bin/halcyon"),
                          str(self.found(LIBRARY.name)), str(self.found("halcyon-run.1")),
                          str(self.found("halcyon.py"))])
        self.assertEqual(finished.errors, "")

    def test_no_text_names_the_places_of_before(self):
        for path in self.prefix.rglob("*"):
            # The pages of the documentation show runs as they were. Programs and pictures are no text.
            if not path.is_file() or path.parent.name == "docs" or b"\0" in path.read_bytes():
                continue
            for place in (self.first, BUILD, SOURCE):
                self.assertNotIn(str(place), path.read_text(), path)

    def test_the_demo_is_there_with_its_input(self):
        self.assertEqual(self.found("lj.in").parent, self.found("demo.sh").parent)
        finished = self.run_command([self.found("demo.sh"), "no-such-halcyon"])
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("no-such-halcyon", finished.errors)


if __name__ == "__main__":
    halcyon_test.main()
