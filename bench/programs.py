"""The real programs that the scripts in this directory measure, and how they are started."""
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
BUILD = SOURCE / "build" / "release"
PACKAGED = Path("/usr/share/lammps/examples")
RANKS = 2
PYTHON = "/usr/bin/python3"  # it has Debian's modules


def lammps(script):
    return ["lmp", "-in", str(script), "-log", "none", "-screen", "none"]


@dataclass
class Program:
    name: str
    what: str
    command: list          # of a rank
    inputs: Path = None    # copied; the program starts there
    longer: tuple = None   # steps of the packaged input, and the number that replaces them: runs must be so long that a
                           # change of the machine's speed for a second does not look like injected delays


PROGRAMS = [
    Program("melt", "LAMMPS, Lennard-Jones melt, `examples/lj.in`", lammps("lj.in"), SOURCE / "examples"),
    Program("peptide", "LAMMPS, packaged `peptide`, 900 steps", lammps("in.peptide"), PACKAGED / "peptide", (300, 900)),
    Program("crack", "LAMMPS, packaged `crack`, 20 000 steps", lammps("in.crack"), PACKAGED / "crack", (5000, 20000)),
    Program("shear", "LAMMPS, packaged `shear`, 6000 steps", lammps("in.shear"), PACKAGED / "shear", (3000, 6000)),
    Program("cg", "conjugate gradients on three grids, `examples/cg.cpp`", [str(BUILD / "examples" / "cg")]),
]

# The estimator was not built on these: none of its constants was chosen by their results.
FURTHER_PROGRAMS = [
    Program("stencil", "7-point stencil larger than the caches, `examples/stencil.cpp`", [str(BUILD / "examples" / "stencil")]),
    Program("checkpoint", "writes with fsync and MPI-IO, `examples/checkpoint.cpp`", [str(BUILD / "examples" / "checkpoint")]),
    Program("power", "power method in Python, arrays, `examples/power.py`", [PYTHON, str(BUILD / "examples" / "power.py")]),
    Program("objects", "power method in Python, pickled objects, `examples/power.py`",
            [PYTHON, str(BUILD / "examples" / "power.py"), "600", "objects"]),
    Program("abinit", "ABINIT, two atoms of silicon over bands, `examples/si.abi` (Debian: abinit)", ["abinit", "si.abi"],
            SOURCE / "examples"),
]

# The options of `halcyon validate`. Each disturber has all schedules. With the network among the disturbers, all runs are
# on two hosts; so the network has its own series.
SCHEDULES = ("periodic:1s,1s", "bursts", "part", "throughout")


def beside(*kinds):
    return ["--levels", "1", "--runs", "1", *(word for kind in kinds for when in SCHEDULES
                                              for word in ("--disturb", f"{kind}:{when}"))]


SERIES = {"injected delays": ["--levels", "6", "--runs", "1"],
          "on one host": beside("cpu", "memory", "disk"),
          "on two hosts": beside("network")}


def environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def machine():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return (f"{os.cpu_count()} virtual cores ({model.group(1) if model else 'unknown'}), "
            f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB, Linux {os.uname().release}, "
            f"{RANKS} ranks")


def prepare(program, scratch):
    """Makes the directory to start the program in. It has copies of the inputs, since programs write beside them."""
    shutil.rmtree(scratch, ignore_errors=True)
    if program.inputs is None:
        scratch.mkdir(parents=True)
        return
    shutil.copytree(program.inputs, scratch)
    if program.longer is None:
        return
    script = scratch / f"in.{program.name}"
    steps, more = program.longer
    text, count = re.subn(rf"^(run\s+){steps}$", rf"\g<1>{more}", script.read_text(), flags=re.M)
    if count != 1:
        sys.exit(f"{program.inputs / script.name} has no 'run {steps}'")
    script.write_text(text)
