"""The Spack recipe has the form that Spack expects, and names what CMakeLists.txt asks for. The test needs no Spack."""
import re
import runpy
import sys
import types
import unittest

from halcyon_test import SOURCE

CMAKE = (SOURCE / "CMakeLists.txt").read_text()
SPACK_NAMES = {"MPI": "openmpi", "PkgConfig": "pkgconfig", "Eigen3": "eigen", "Boost": "boost", "CLI11": "cli11",
               "fmt": "fmt", "nlohmann_json": "nlohmann-json", "HDF5": "hdf5", "PAPI": "papi",
               "LIBDW": "elfutils", "RE2": "re2", "ZLIB": "zlib-api"}


class Recorded(types.ModuleType):
    """Stands in for spack.package, and keeps the arguments of the recipe's directives."""

    def __init__(self):
        super().__init__("spack.package")
        self.calls = []
        for directive in ("license", "version", "depends_on", "generator"):
            setattr(self, directive, lambda *words, _name=directive, **more: self.calls.append((_name, words, more)))
        self.CMakePackage = type("CMakePackage", (), {
            "define": staticmethod(lambda name, value: (name, value)),
            "spec": {"python": types.SimpleNamespace(command=types.SimpleNamespace(path="/usr/bin/python3"))}})
        self.join_path = "/".join

    def first_words(self, directive):
        return [words[0] for name, words, _ in self.calls if name == directive]


class SpackRecipe(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.spack = Recorded()
        sys.modules["spack"] = types.ModuleType("spack")
        sys.modules["spack.package"] = cls.spack
        cls.recipe = runpy.run_path(str(SOURCE / "packaging/spack/package.py"))["Halcyon"]

    def test_every_package_of_the_build_is_a_dependency(self):
        asked = set(re.findall(r"^(?:find_package|pkg_search_module|pkg_check_modules)\((\w+)", CMAKE, re.M))
        asked -= {"Threads"}  # which libc provides
        self.assertEqual(asked, set(SPACK_NAMES))
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
