"""The Debian package installs into a clean Debian and runs the demo there, and lintian finds no fault with it."""
import atexit
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, output_of

CPACK = ["cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake"]
MAKER = "A Packager <packager@example.org>"
# CPack calls ldconfig for any library below /usr/lib, also for those that are only preloaded. The command and the
# writer load Debian's HDF5 whatever LD_LIBRARY_PATH a program needs.
TOLERATED = "maintscript-calls-ldconfig,custom-library-search-path"


class Maker(halcyon_test.Behaviour):

    def test_a_package_that_nobody_made_is_refused(self):
        finished = self.run_command([*CPACK, "-B", self.directory])
        self.assertNotEqual(finished.status, 0, finished)
        self.assertIn("set CPACK_PACKAGE_CONTACT", " ".join(finished.errors.split()))
        self.assertEqual(list(self.directory.glob("*.deb")), [])


class DebianPackage(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        work = Path(tempfile.mkdtemp(prefix="halcyon-"))
        atexit.register(shutil.rmtree, work, ignore_errors=True)
        output_of([*CPACK, "-B", work / "package", "-D", f"CPACK_PACKAGE_CONTACT={MAKER}"])
        cls.package, = (work / "package").glob("*.deb")
        try:
            debian = halcyon_test.Debian(work / "root", "lammps")
        except halcyon_test.NoDebian as reason:
            halcyon_test.skip(reason)
        shutil.copy(cls.package, debian.root)
        cls.enter = debian.enter
        cls.enter("apt-get", "install", "-y", "-qq", f"/{cls.package.name}", "openmpi-bin")

    def test_it_runs_the_demo(self):
        # On a busy machine, ranks that wait must leave the processor to others.
        output = self.enter("sh", "-c", "cd /tmp && /usr/share/doc/halcyon/examples/demo.sh",
                            OMPI_MCA_mpi_yield_when_idle="1")
        self.assertEqual(len(re.findall(r"^  coverage ", output, re.M)), 2, output)
        profiles = re.search(r"^The profiles are in (/tmp/\S+)$", output, re.M)[1]
        disturbed = json.loads(self.enter("halcyon", "report", "--json", "-", f"{profiles}/disturbed.h5"))
        self.assertGreater(disturbed["injected_percent"], 0)

    def test_the_command_says_its_version(self):
        version = output_of(["dpkg-deb", "--field", self.package, "Version"]).strip()
        self.assertEqual(self.enter("halcyon", "--version"), f"halcyon {version}\n")

    def test_it_says_who_made_it(self):
        self.assertEqual(output_of(["dpkg-deb", "--field", self.package, "Maintainer"]).strip(), MAKER)
        self.assertIn(f" -- {MAKER}  ", self.enter("zcat", "/usr/share/doc/halcyon/changelog.gz"))

    def test_it_needs_no_mpi_and_recommends_one(self):
        self.assertNotRegex(output_of(["dpkg-deb", "--field", self.package, "Depends"]), "mpi")
        self.assertIn("openmpi-bin", output_of(["dpkg-deb", "--field", self.package, "Recommends"]))

    def test_pages_and_completions_lie_where_debian_looks(self):
        files = self.enter("dpkg", "-L", "halcyon").splitlines()
        for file in ("/usr/bin/halcyon", "/usr/share/man/man1/halcyon.1.gz", "/usr/share/man/man1/halcyon-run.1.gz",
                     "/usr/share/bash-completion/completions/halcyon", "/usr/share/zsh/vendor-completions/_halcyon",
                     "/usr/share/fish/vendor_completions.d/halcyon.fish", "/usr/share/doc/halcyon/copyright"):
            self.assertIn(file, files)

    def test_removed_it_leaves_nothing(self):
        self.addCleanup(self.enter, "dpkg", "--install", f"/{self.package.name}")
        self.enter("dpkg", "--purge", "halcyon")
        self.assertEqual(self.enter("find", "/usr", "/etc", "/var/lib/dpkg/info", "-iname", "*halcyon*"), "")

    @unittest.skipIf(shutil.which("lintian") is None, "no lintian")
    def test_lintian_has_nothing_against_it(self):
        finished = self.run_command(["lintian", "--allow-root", "--suppress-tags", TOLERATED, self.package])
        self.assertEqual((finished.status, finished.output), (0, ""), finished)


if __name__ == "__main__":
    for program in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
        if shutil.which(program) is None:
            halcyon_test.skip(f"no {program}")
    halcyon_test.main()
