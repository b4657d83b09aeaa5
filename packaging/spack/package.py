# Recipe for Spack 1.0 or later. Put this file into a repository of recipes as packages/halcyon/package.py. Halcyon has no
# public address: `spack dev-build halcyon@main` builds a source tree. A release (packaging/portable/release) has this
# file with a line for its version, whose sources Spack takes from the directory where it is called.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Halcyon(CMakePackage):
    """Says how much of the run time of an MPI program came from outside, from a single run."""

    git = "file:///path/to/halcyon"
    manual_download = True

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("eigen@3.4:", type="build")
    depends_on("boost@1.74: +math", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("xxhash@0.8:", type="build")
    depends_on("fmt@9:")
    depends_on("re2@2022-06-01:")
    depends_on("hdf5@1.10: +hl~mpi")
    depends_on("papi@7:")
    depends_on("elfutils@0.188:")
    depends_on("zlib-api")
    depends_on("sqlite@3.35:")
    depends_on("postgresql@12:")
    depends_on("openmpi@4.1")

    generator("ninja")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/halcyon-{version}.tar.xz"

    def cmake_args(self):
        return [
            self.define("HALCYON_BUILD_TESTS", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("HALCYON_PYTHON", self.spec["python"].command.path),
        ]

    def setup_run_environment(self, env):
        env.set("HALCYON_PRELOAD", join_path(self.prefix.lib, "halcyon", "libhalcyon.so"))
