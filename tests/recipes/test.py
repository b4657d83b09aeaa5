"""The recipes have the forms that Spack and EasyBuild expect, and name what CMakeLists.txt asks for, and a release its
sources. The test needs neither of them; with EasyBuild (`eb` in PATH) it reads the recipe, too.
"""
import hashlib
import re
import runpy
import shutil
import sys
import tempfile
import types
import unittest
from pathlib import Path

from halcyon_test import SOURCE, output_of

sys.path.insert(0, str(SOURCE / "packaging/portable"))
from recipes import write_recipes  # noqa: E402

CMAKE = (SOURCE / "CMakeLists.txt").read_text()
SPACK_NAMES = {"MPI": "openmpi", "PkgConfig": "pkgconfig", "Eigen3": "eigen", "Boost": "boost", "CLI11": "cli11",
               "fmt": "fmt", "nlohmann_json": "nlohmann-json", "HDF5": "hdf5", "PAPI": "papi",
               "LIBDW": "elfutils", "LIBELF": "elfutils", "RE2": "re2", "ZLIB": "zlib-api", "SQLITE": "sqlite",
               "POSTGRESQL": "postgresql"}


EASYBUILD_NAMES = {"PkgConfig": "pkgconf", "Eigen3": "Eigen", "LIBDW": "elfutils", "LIBELF": "elfutils", "ZLIB": "zlib",
                   "SQLITE": "SQLite", "POSTGRESQL": "PostgreSQL"}
VERSION = re.search(r"project\(halcyon VERSION ([\d.]+)", CMAKE)[1]
CHECKSUM = hashlib.sha256(b"sources").hexdigest()


def asked():
    """What CMakeLists.txt looks for, but for the threads of libc."""
    return set(re.findall(r"^(?:find_package|pkg_search_module|pkg_check_modules|halcyon_optional)\((\w+)", CMAKE,
                          re.M)) - {"Threads"}


class Recorded(types.ModuleType):
    """Stands in for spack.package, and keeps the arguments of the recipe's directives."""

    def __init__(self):
        super().__init__("spack.package")
        self.calls = []
        for directive in ("license", "version", "depends_on"):
            setattr(self, directive, lambda *words, _name=directive, **more: self.calls.append((_name, words, more)))
        self.join_path = "/".join
        self.cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
        self.cmake.generator = lambda *words: self.calls.append(("generator", words, {}))
        self.cmake.CMakePackage = type("CMakePackage", (), {
            "define": staticmethod(lambda name, value: (name, value)),
            "spec": {"python": types.SimpleNamespace(command=types.SimpleNamespace(path="/usr/bin/python3"))}})
        for module in (self, self.cmake):
            for at in range(len(module.__name__.split("."))):
                name = ".".join(module.__name__.split(".")[:at + 1])
                sys.modules[name] = module if name == module.__name__ else types.ModuleType(name)

    def first_words(self, directive):
        return [words[0] for name, words, _ in self.calls if name == directive]


class SpackRecipe(unittest.TestCase):

    def setUp(self):
        self.spack = Recorded()
        self.recipe = runpy.run_path(str(SOURCE / "packaging/spack/package.py"))["Halcyon"]

    def test_every_package_of_the_build_is_a_dependency(self):
        self.assertEqual(asked(), set(SPACK_NAMES))
        dependencies = {re.match(r"[\w-]+", spec)[0] for spec in self.spack.first_words("depends_on")}
        self.assertLessEqual(set(SPACK_NAMES.values()), dependencies)

    def test_versions_are_those_that_cmake_asks_for(self):
        least = dict(re.findall(r"^find_package\((\w+) ([\d.]+)", CMAKE, re.M))
        least["cmake"] = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", CMAKE)[1]
        specs = self.spack.first_words("depends_on")
        for name, version in least.items():
            self.assertTrue(any(spec.startswith(f"{SPACK_NAMES.get(name, name)}@{version}:") for spec in specs), name)

    def test_the_arguments_are_options_of_the_build(self):
        for name, _ in self.recipe().cmake_args():
            if not name.startswith("CMAKE_"):
                self.assertRegex(CMAKE, rf"(?m)^(option|find_program)\({name}\b")

    def test_that_of_a_release_names_its_sources_too(self):
        with tempfile.TemporaryDirectory() as place:
            spack, _ = write_recipes(Path(place), VERSION, CHECKSUM)
            of_release = Recorded()
            recipe = runpy.run_path(str(spack))["Halcyon"]
        versions = {words[0]: more for name, words, more in of_release.calls if name == "version"}
        self.assertEqual(versions, {"main": {"branch": "main"}, VERSION: {"sha256": CHECKSUM}})
        self.assertTrue(recipe().url_for_version(VERSION).endswith(f"/halcyon-{VERSION}.tar.xz"))


class EasyBuildRecipe(unittest.TestCase):

    def setUp(self):
        place = Path(tempfile.mkdtemp(prefix="halcyon-"))
        self.addCleanup(shutil.rmtree, place)
        _, self.file = write_recipes(place, VERSION, CHECKSUM)
        self.recipe = runpy.run_path(str(self.file))

    def test_its_name_is_the_one_that_easybuild_looks_for(self):
        toolchain = self.recipe["toolchain"]
        self.assertEqual(self.file.name, "{name}-{version}-{of}-{at}.eb".format(
            name=self.recipe["name"], version=VERSION, of=toolchain["name"], at=toolchain["version"]))

    def test_it_names_the_sources_of_the_release(self):
        self.assertEqual((self.recipe["version"], self.recipe["checksums"]), (VERSION, [CHECKSUM]))
        self.assertEqual(self.recipe["sources"], ["halcyon-%(version)s.tar.xz"])

    def test_every_package_of_the_build_is_a_dependency(self):
        named = {name for name, *_ in self.recipe["dependencies"] + self.recipe["builddependencies"]}
        # MPI is in the toolchain.
        self.assertLessEqual({EASYBUILD_NAMES.get(name, name) for name in asked() - {"MPI"}}, named)

    @unittest.skipIf(shutil.which("eb") is None, "no EasyBuild (PyPI: easybuild)")
    def test_easybuild_has_recipes_for_all_that_it_needs(self):
        said = output_of(["eb", "--dry-run", "--robot", "--detect-loaded-modules=ignore",
                          "--allow-use-as-root-and-accept-consequences", self.file])
        self.assertRegex(said, rf"(?m)^ \* \[ \] .*/{re.escape(self.file.name)} ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
