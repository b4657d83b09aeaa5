"""Where the sources, the build and the programs under test are."""
import os
from pathlib import Path

from .mpi_family import MPI

SOURCE = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("HALCYON_BUILD_DIR", SOURCE / "build" / "release")).resolve()  # programs run elsewhere


def library_of(family, name):
    """A preloaded library, `halcyon` or `intm`, as it is built for the MPI family."""
    return BUILD / "lib" / f"lib{name}{family.suffix}.so"


LIBRARY = library_of(MPI, "halcyon")
INJECTOR = library_of(MPI, "intm")
HALCYON = BUILD / "bin" / "halcyon"
WRITER = BUILD / "libexec" / "halcyon" / "halcyon-write"
EXAMPLES = BUILD / f"examples{MPI.programs}"
PROGRAMS = BUILD / f"tests{MPI.programs}"
PYTHON = "/usr/bin/python3"  # the one that has Debian's modules
