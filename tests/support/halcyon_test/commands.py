"""Commands: the environment that they run in, and what they leave behind."""
import os
import re
import subprocess

from .mpi_family import MPI

TIME_LIMIT = 240  # seconds, far above what any command takes: it ends what hangs before ctest (300 s) ends the test
# On a busy machine, merging takes so long that it shows its progress.
PROGRESS_OF_MERGING = re.compile(r"^halcyon: the program has ended; merging .*\n", re.M)
BUSY_HOST = re.compile(r"^halcyon: the host is busy: .*\n", re.M)  # as it is while tests run side by side


# MPICH's hwloc may load OpenCL, and LLVM with it, which handles signals that would end the program.
WITHOUT_OPENCL = {"HWLOC_COMPONENTS": "-opencl"}


class Finished:
    """Status and output of a command that has ended. The progress of merging is left out, and who else uses the host."""

    def __init__(self, result):
        self.status = result.returncode
        self.output = result.stdout
        self.errors = BUSY_HOST.sub("", PROGRESS_OF_MERGING.sub("", result.stderr))

    def __eq__(self, other):
        return (self.status, self.output, self.errors) == (other.status, other.output, other.errors)

    def __repr__(self):
        return f"exit status {self.status}\n--- stdout\n{self.output}\n--- stderr\n{self.errors}"


def clean_environment(state, temporary, live):
    """The environment without the tester's own settings, and with what the MPI family needs. What commands keep goes
    into directory `state`, and live records into `live`. What they leave behind goes into `temporary`: an mpirun of
    Open MPI 5 fails where one with the same process ID was killed and left its files in TMPDIR."""
    settings = ("HALCYON_", "INTM_", "LD_PRELOAD", "PYTHONPATH")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(settings)}, **MPI.environment,
            "XDG_STATE_HOME": str(state), "TMPDIR": str(temporary), "HALCYON_LIVE_DIR": str(live)}


def output_of(command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
