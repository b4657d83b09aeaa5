"""Commands: the environment that they run in, and what they leave behind."""
import os
import subprocess

from .mpi_family import MPI

TIME_LIMIT = 240  # seconds, far above what any command takes: it ends what hangs before ctest (300 s) ends the test


class Finished:
    """Status and output of a command that has ended."""

    def __init__(self, result):
        self.status = result.returncode
        self.output = result.stdout
        self.errors = result.stderr

    def __eq__(self, other):
        return (self.status, self.output, self.errors) == (other.status, other.output, other.errors)

    def __repr__(self):
        return f"exit status {self.status}\n--- stdout\n{self.output}\n--- stderr\n{self.errors}"


def clean_environment():
    """The environment without the tester's own settings, and with what the MPI family needs."""
    settings = ("HALCYON_", "INTM_", "LD_PRELOAD", "PYTHONPATH")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(settings)}, **MPI.environment}


def output_of(command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
