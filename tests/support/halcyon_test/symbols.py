"""Symbols: what a program needs, what a library exports, and what the preloaded libraries wrap."""
from .commands import output_of
from .mpi_family import MPI
from .places import PYTHON, SOURCE


def exported_by(library):
    """Names of the symbols that a shared library defines for others."""
    symbols = output_of(["nm", "-D", "--defined-only", "--format=just-symbols", library]).split()
    return {symbol.split("@")[0] for symbol in symbols}


def needed_by(program):
    """Names of the symbols that a program or library takes from others."""
    symbols = output_of(["nm", "-D", "-u", "--format=just-symbols", program]).split()
    return {symbol.split("@")[0] for symbol in symbols}


def wrapped_functions():
    """Names of the functions that the preloaded libraries wrap, as their generator lists them."""
    generator = SOURCE / "libprofile" / "interpose" / "generate.py"
    return set(output_of([PYTHON, generator, "list", MPI.functions]).split())
