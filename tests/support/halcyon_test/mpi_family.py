"""The MPI families that Halcyon is built for, and all in which their launchers and libraries differ for a test.

`MPI` is the family under test: Open MPI, or MPICH with HALCYON_TEST_MPI=mpich. `OTHER_MPI` is one that is not.
"""
import functools
import os
import signal
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MPI4PY_OF_MPICH = Path(__file__).resolve().parents[1] / "mpich"  # Debian builds mpi4py for Open MPI only


@dataclass(frozen=True)
class MpiFamily:
    name: str
    suffix: str  # of what is built once for each family
    launcher: tuple[str, ...]  # the launch command; the number of ranks and the program follow
    environment: dict[str, str]  # variables that launcher and programs need in a test

    # Options of the launcher
    ways_to_export: Callable[[str, str], list[list[str]]]  # each sets a variable of all ranks
    pass_on: Callable[[str], list[str]]  # the ranks get the launcher's own variable of this name
    yield_when_idle: tuple[str, ...]  # ranks that wait leave the processor to others
    slow_to_kill: tuple[str, ...]  # after SIGTERM, the ranks have five seconds until SIGKILL

    # Exit statuses of the launcher
    status_of_signal: Callable[[int], int]  # where this signal ended a rank
    statuses_of_exit: Callable[[int], set[int]]  # where one rank exited with this status and the others were waiting

    rank_variable: str  # the launcher sets it in each rank
    slurm_interface: str  # srun's --mpi for Debian's build of the library
    kills_other_ranks: bool  # at once where one has ended: they may keep only what they had spilled before
    handled_signals: frozenset[int]  # the library answers them, so that they end no run
    has_large_counts: bool  # functions that end in _c
    has_sessions: bool

    def launch(self, ranks, *options):
        """The launch command up to the program."""
        return [*self.launcher, "-np", str(ranks), *options]

    def exported(self, name, value):
        """Options of the launcher that set a variable of all ranks."""
        return self.ways_to_export(name, str(value))[0]


OPEN_MPI = MpiFamily(
    name="Open MPI",
    suffix="",
    launcher=("mpirun", "--oversubscribe"),
    environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    ways_to_export=lambda name, value: [["-x", f"{name}={value}"]],
    pass_on=lambda name: ["-x", name],
    yield_when_idle=("--mca", "mpi_yield_when_idle", "1"),
    slow_to_kill=("--mca", "odls_base_sigkill_timeout", "5"),  # by default one
    status_of_signal=lambda number: 128 + number,
    statuses_of_exit=lambda status: {status},
    rank_variable="PMIX_RANK",
    slurm_interface="pmix",
    kills_other_ranks=False,
    handled_signals=frozenset(),
    has_large_counts=False,
    has_sessions=False)

MPICH = MpiFamily(
    name="MPICH",
    suffix="-mpich",
    launcher=("mpirun.mpich",),
    environment={"PYTHONPATH": str(MPI4PY_OF_MPICH)},
    ways_to_export=lambda name, value: [["-genv", name, value], ["-genv", f"{name}={value}"], ["-env", name, value]],
    pass_on=lambda name: [],  # Hydra passes on all
    yield_when_idle=(),
    slow_to_kill=(),
    status_of_signal=lambda number: number,
    # Hydra kills the ranks that wait, and returns all statuses that it saw, joined bit by bit.
    statuses_of_exit=lambda status: {status, signal.SIGKILL, status | signal.SIGKILL},
    rank_variable="PMI_RANK",
    slurm_interface="pmi2",
    kills_other_ranks=True,
    handled_signals=frozenset({signal.SIGUSR1}),
    has_large_counts=True,
    has_sessions=True)

MPI = MPICH if os.environ.get("HALCYON_TEST_MPI") == "mpich" else OPEN_MPI
OTHER_MPI = OPEN_MPI if MPI is MPICH else MPICH

# Decorators of tests, which take the reason.
only_open_mpi = functools.partial(unittest.skipIf, MPI is not OPEN_MPI)
only_mpich = functools.partial(unittest.skipIf, MPI is not MPICH)
