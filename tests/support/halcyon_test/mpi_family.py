"""The MPI families that Halcyon is built for, and all in which their launchers and libraries differ for a test.

`MPI` is the family under test, chosen by HALCYON_TEST_MPI: a name of `FAMILIES`. `OTHER_MPI` has other handles.
Open MPI 4 and MPICH 4 are Debian's; the others are wheels that cmake/install-packages.sh installs into `WHEELS`.
"""
import functools
import os
import signal
import unittest
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .hosts import ENTER

MPI4PY_OF_MPICH = Path(__file__).resolve().parents[1] / "mpich"  # Debian builds mpi4py for Open MPI only
BUILDS = Path(os.environ.get("HALCYON_BUILD_DIR", Path(__file__).resolve().parents[3] / "build/release")).parent
WHEELS = BUILDS.resolve() / "wheels"


@dataclass(frozen=True)
class MpiFamily:
    name: str
    implementation: str  # whose launcher and behaviour it has: Open MPI or MPICH
    interface: str  # what messages call its handles
    suffix: str  # of Halcyon's libraries
    programs: str  # suffix of the directories of examples and test programs
    library: str  # the file name of the MPI library that these programs load
    launcher: tuple[str, ...]  # the launch command; the number of ranks and the program follow
    environment: dict[str, str]  # variables that launcher and programs need in a test

    # Options of the launcher
    on_hosts: Callable[[str], list[str]]  # the ranks run on these hosts, `NAME,NAME`, by turns
    ways_to_export: Callable[[str, str], list[list[str]]]  # each sets a variable of all ranks
    pass_on: Callable[[str], list[str]]  # the ranks get the launcher's own variable of this name
    option_of_program_file: str  # it names a file that lists the programs
    yield_when_idle: tuple[str, ...]  # ranks that wait leave the processor to others
    slow_to_kill: tuple[str, ...]  # after SIGTERM, the ranks have five seconds until SIGKILL

    # Exit statuses of the launcher
    statuses_of_signal: Callable[[int], set[int]]  # where this signal ended a rank
    statuses_of_exit: Callable[[int], set[int]]  # where one rank exited with this status and the others were waiting

    statuses_of_abort: Callable[[int], set[int]]  # where MPI_Abort had this error code

    rank_variable: str  # the launcher sets it in each rank
    slurm_interface: str  # srun's --mpi for Debian's build of the library
    kills_other_ranks: bool  # at once where one has ended: they may keep only what they had spilled before
    # A rank whose peer has ended calls _exit at once, over TCP always, else now and then. It keeps only what it had
    # spilled before.
    exits_without_its_peer: bool
    handled_signals: frozenset[int]  # the library answers them, so that they end no run
    functions: str  # those that are wrapped, as parts of the tables (libprofile/interpose/generate.py)
    has_large_counts: bool  # functions that end in _c
    has_sessions: bool
    has_init_beside_sessions: bool = True
    # Statuses of a launcher that dies itself now and then, without the library as well.
    launcher_deaths: frozenset[int] = frozenset()
    has_fortran: bool = True
    checks_arguments: bool = True
    returns_errors: bool = True  # where the program has set MPI_ERRORS_RETURN
    reports_faults: bool = True  # it, or UCX below it, says where a fault was
    passes_variables_on: bool = True  # to the children of MPI_Comm_spawn
    has_python: bool = True  # mpi4py, or tests/mpich in its place
    has_mpi4py: bool = True
    joins_programs: str = " :"  # at the end of a line of Hydra's -configfile
    has_app_files: bool = True  # mpirun --app; 5.0 reads them no more (open-mpi/ompi#12375)
    runs_every_call: bool = True
    starts_without_its_launcher: bool = True  # where the variables of another launcher are set
    runs_older_programs: bool = False  # the programs are built for an older version of the library

    @property
    def is_debians(self):
        return self in (OPEN_MPI, MPICH)

    def launch(self, ranks, *options):
        """The launch command up to the program."""
        return [*self.launcher, "-np", str(ranks), *options]

    def exported(self, name, value):
        """Options of the launcher that set a variable of all ranks."""
        return self.ways_to_export(name, str(value))[0]


OPEN_MPI = MpiFamily(
    name="Open MPI",
    implementation="Open MPI",
    interface="Open MPI",
    suffix="",
    programs="",
    library="libmpi.so.40",
    launcher=("mpirun", "--oversubscribe"),
    environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    # Only these layers: others would find a way past the hosts' network.
    on_hosts=lambda hosts: ["--host", hosts, "--map-by", "node", "--mca", "plm_rsh_agent", str(ENTER),
                            "--mca", "pml", "ob1", "--mca", "btl", "tcp,vader,self"],
    ways_to_export=lambda name, value: [["-x", f"{name}={value}"]],
    pass_on=lambda name: ["-x", name],
    option_of_program_file="--app",
    yield_when_idle=("--mca", "mpi_yield_when_idle", "1"),
    # By default one, and less by each rank that ends meanwhile.
    slow_to_kill=("--mca", "odls_base_sigkill_timeout", "5"),
    statuses_of_signal=lambda number: {128 + number},
    statuses_of_exit=lambda status: {status},
    statuses_of_abort=lambda code: {code},
    rank_variable="PMIX_RANK",
    slurm_interface="pmix",
    kills_other_ranks=False,
    exits_without_its_peer=False,
    handled_signals=frozenset(),
    functions="3,mpix,posix",
    has_large_counts=False,
    has_sessions=False)

MPICH = MpiFamily(
    name="MPICH",
    implementation="MPICH",
    interface="MPICH",
    suffix="-mpich",
    programs="-mpich",
    library="libmpich.so.12",
    launcher=("mpirun.mpich",),
    environment={"PYTHONPATH": str(MPI4PY_OF_MPICH)},
    on_hosts=lambda hosts: ["-hosts", hosts, "-launcher", "ssh", "-launcher-exec", str(ENTER)],
    ways_to_export=lambda name, value: [["-genv", name, value], ["-genv", f"{name}={value}"], ["-env", name, value]],
    pass_on=lambda name: [],  # Hydra passes on all
    option_of_program_file="-configfile",
    yield_when_idle=(),
    slow_to_kill=(),
    # Hydra kills the other ranks and returns all statuses that it saw, joined bit by bit.
    statuses_of_signal=lambda number: {number, number | signal.SIGKILL},
    statuses_of_exit=lambda status: {status, signal.SIGKILL, status | signal.SIGKILL},
    statuses_of_abort=lambda code: {code, 1},  # 1 now and then, bare as well: twice in 40 runs on a busy machine
    rank_variable="PMI_RANK",
    slurm_interface="pmi2",
    kills_other_ranks=True,
    exits_without_its_peer=False,
    handled_signals=frozenset({signal.SIGUSR1}),
    # Of a command that ends at once, on a busy machine: 23 of 250 runs without the library, 17 of 250 with it.
    launcher_deaths=frozenset({-signal.SIGPIPE}),
    functions="3,4,large,posix",
    has_mpi4py=False,
    has_app_files=False,
    has_large_counts=True,
    has_sessions=True)



def of_wheel(family, wheel, launcher, **changes):
    """A family whose MPI library comes from a wheel. Programs that are built for `family` also run with it."""
    place = WHEELS / wheel
    environment = {**family.environment, "LD_LIBRARY_PATH": str(place / "lib"), "PYTHONPATH": str(WHEELS / "mpi4py"),
                   **changes.pop("environment", {})}
    return replace(family, launcher=(str(place / "bin" / launcher), *family.launcher[1:]), environment=environment,
                   has_mpi4py=True, reports_faults=family.implementation == "Open MPI", **changes)


OPEN_MPI_5 = of_wheel(OPEN_MPI, "openmpi5", "mpirun", name="Open MPI 5", suffix="-openmpi5", programs="-openmpi5",
                      environment={"OMPI_MCA_osc": "^ucx"},  # it says on standard error that it fails
                      functions="3,4,posix", has_sessions=True, has_fortran=False, has_app_files=False,
                      exits_without_its_peer=True,
                      passes_variables_on=False)  # those of -x, to children (open-mpi/ompi#13399)
MPICH_5 = of_wheel(MPICH, "mpich5", "mpiexec", name="MPICH 5", suffix="-mpich5", functions="3,4,4.1,large,posix",
                   checks_arguments=False, starts_without_its_launcher=False, runs_older_programs=True)
INTEL_MPI = of_wheel(MPICH, "intel", "mpiexec", name="Intel MPI", suffix="-mpich5", functions="3,4,4.1,large,posix",
                     environment={"I_MPI_ROOT": str(WHEELS / "intel")}, joins_programs="",
                     # It returns that of the rank that was signalled, or of one that it killed thereafter.
                     statuses_of_signal=lambda number: {128 + number, 128 + signal.SIGKILL},
                     has_init_beside_sessions=False, runs_every_call=False, runs_older_programs=True)
ABI = {"suffix": "-abi", "programs": "-abi", "library": "libmpi_abi.so.1", "interface": "the standard ABI",
       "has_fortran": False, "has_python": False, "has_mpi4py": False, "starts_without_its_launcher": False,
       "runs_older_programs": False}
STANDARD_ABI = replace(MPICH_5, name="MPICH 5 with the standard ABI", **ABI)
INTEL_ABI = replace(INTEL_MPI, name="Intel MPI with the standard ABI", returns_errors=False, **ABI)

FAMILIES = {"mpi": OPEN_MPI, "mpich": MPICH, "openmpi5": OPEN_MPI_5, "mpich5": MPICH_5, "intel": INTEL_MPI,
            "abi": STANDARD_ABI, "intel-abi": INTEL_ABI}
MPI = FAMILIES[os.environ.get("HALCYON_TEST_MPI", "mpi")]
OTHER_MPI = OPEN_MPI if MPI.implementation == "MPICH" else MPICH

# Decorators of tests, which take the reason.
only_open_mpi = functools.partial(unittest.skipIf, MPI.implementation != "Open MPI")
only_mpich = functools.partial(unittest.skipIf, MPI.implementation != "MPICH")
# A decorator of tests.
needs_python = unittest.skipUnless(MPI.has_python, "mpi4py has no build for this MPI")
