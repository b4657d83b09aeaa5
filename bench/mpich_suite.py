#!/usr/bin/python3
"""Runs MPICH's own tests bare and recorded, and prints those whose outcome differs.

usage: bench/mpich_suite.py FAMILY DIR [--only SUBDIR]... [--ranks N] [--memory GB] [--time-limit S] [--log FILE]

DIR is test/mpi of MPICH's sources, configured and built with the MPI library of the family, a name of
tests/support/halcyon_test/mpi_family.py. Each line of a testlist is one test. Its outcome is what its launcher returned
and whether it said "No Errors". A test whose two outcomes differ is run again by turns, since some tests also fail
bare now and then. The log has a line of JSON for each test; with a log of an earlier run, only the others are run.
"""
import argparse
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HALCYON_BUILD_DIR", SOURCE / "build/release")).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
from halcyon_test.mpi_family import FAMILIES  # noqa: E402

AGAIN = 4  # pairs of runs of a test whose outcomes differ
TO_YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1", "I_MPI_THREAD_YIELD": "3"}


@dataclass(frozen=True)
class Test:
    directory: Path
    program: str
    ranks: int
    gigabytes: float = 0  # that its testlist says it needs
    arguments: tuple = ()
    environment: tuple = ()

    def name(self, top):
        words = [str(self.directory.relative_to(top) / self.program), str(self.ranks), *self.arguments, *self.environment]
        return " ".join(words)


@dataclass
class Result:
    name: str
    bare: list = field(default_factory=list)
    recorded: list = field(default_factory=list)
    profiles: int = 0  # of the recorded runs
    said: list = field(default_factory=list)  # by Halcyon


def tests_in(directory):
    """The tests of a directory and those below it that its testlist names."""
    for line in (directory / "testlist").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if (directory / words[0]).is_dir():
            if (directory / words[0] / "testlist").exists():
                yield from tests_in(directory / words[0])
            continue
        if not os.access(directory / words[0], os.X_OK):
            continue
        options = [word.partition("=") for word in words[2:]]
        yield Test(directory, words[0], int(words[1]) if len(words) > 1 else 2,
                   max((float(value) for name, _, value in options if name == "mem"), default=0),
                   tuple(value for name, _, value in options if name == "arg"),
                   tuple(value for name, _, value in options if name == "env"))


def outcome_of(finished):
    """A word or two for the status and output."""
    status, output = finished
    if status is None:
        return "hangs"
    if "No Errors" in output and status == 0:
        return "passed"
    return f"status {status}" + (", No Errors" if "No Errors" in output else "")


def run(command, directory, environment, time_limit):
    """(status or None, output) of a command, which is killed with all that it started when the time is over."""
    process = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output = process.communicate(timeout=time_limit)[0]
        status = process.returncode
    except subprocess.TimeoutExpired:
        end_with_ranks(process)
        output, status = process.communicate()[0], None
    return status, output.decode(errors="replace")


def end_with_ranks(process):
    """Launchers put each rank into a session of its own."""
    pids = [process.pid]
    for parent in pids:  # which grows
        children = Path(f"/proc/{parent}/task/{parent}/children")
        pids += [int(pid) for pid in children.read_text().split()] if children.exists() else []
    for pid in reversed(pids):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Suite:
    """Runs tests with one family."""

    def __init__(self, family, time_limit):
        self.family, self.time_limit = family, time_limit
        self.library = BUILD / "lib" / f"libhalcyon{family.suffix}.so"
        self.environment = {**os.environ, **TO_YIELD, **family.environment}

    def run(self, test, directory=None):
        """Runs a test, recorded into a directory if there is one."""
        words = self.family.launch(test.ranks)
        if directory is not None:
            for name, value in (("LD_PRELOAD", self.library), ("HALCYON_OUTPUT", directory / "run.h5")):
                words += self.family.exported(name, value)
        environment = {**self.environment, **dict(text.split("=", 1) for text in test.environment if "=" in text)}
        return run([*words, f"./{test.program}", *test.arguments], test.directory, environment, self.time_limit)

    def add_pair(self, test, result):
        result.bare.append(outcome_of(self.run(test)))
        # Ranks of a test that hangs may still write while they are ended.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            finished = self.run(test, Path(directory))
            result.profiles += (Path(directory) / "run.h5").exists()
        result.recorded.append(outcome_of(finished))
        result.said += [line for line in finished[1].splitlines() if "halcyon" in line]

    def result_of(self, test, name):
        result = Result(name)
        self.add_pair(test, result)
        if result.bare != result.recorded:
            for _ in range(AGAIN):
                self.add_pair(test, result)
        return result


def say(result):
    both = result.bare[0] if result.bare == result.recorded else f"bare {result.bare}, recorded {result.recorded}"
    print(f"{result.name}: {both}", file=sys.stderr, flush=True)


def summary(results):
    """Lines of text; a test differs where it never had one of its recorded outcomes bare."""
    first = collections.Counter(result.bare[0] for result in results)
    differ = [result for result in results if result.bare != result.recorded]
    lines = [f"{len(results)} tests; bare: " + ", ".join(f"{count} {what}" for what, count in first.most_common()),
             f"same outcome recorded: {len(results) - len(differ)}"]
    for result in differ:
        new = set(result.recorded) - set(result.bare)
        lines.append(f"{'DIFFERS' if new else 'varies'}: {result.name}: bare {', '.join(result.bare)}; "
                     f"recorded {', '.join(result.recorded)}")
    passed = [result for result in results if "passed" in result.recorded]
    without = [result for result in passed if result.profiles == 0]
    lines.append(f"passed and left no profile: {len(without)}")
    lines += [f"  {result.name}: {result.said[0] if result.said else 'silent'}" for result in without]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", action="append", help="a directory of DIR; by default those of its testlist")
    parser.add_argument("--ranks", type=int, default=8, help="leave tests of more ranks out")
    parser.add_argument("--memory", type=float, default=8, help="GB; leave tests out that need more")
    parser.add_argument("--time-limit", type=float, default=60, help="seconds; a test that takes longer hangs")
    parser.add_argument("--log", type=Path, default=Path("mpich_suite.log"))
    arguments = parser.parse_args()
    top = arguments.directory.resolve()
    results = [Result(**json.loads(line)) for line in arguments.log.read_text().splitlines()] if arguments.log.exists() else []
    known = {result.name for result in results}
    suite = Suite(FAMILIES[arguments.family], arguments.time_limit)
    left_out = 0
    with arguments.log.open("a") as log:
        for directory in [top / name for name in arguments.only] if arguments.only else [top]:
            for test in tests_in(directory):
                name = test.name(top)
                if test.ranks > arguments.ranks or test.gigabytes > arguments.memory:
                    left_out += 1
                elif name not in known:
                    known.add(name)
                    results.append(suite.result_of(test, name))
                    log.write(json.dumps(asdict(results[-1])) + "\n")
                    log.flush()
                    say(results[-1])
    print("\n".join([*summary(results), f"left out, since they need more than {arguments.ranks} ranks or "
                     f"{arguments.memory:g} GB: {left_out}"]))


if __name__ == "__main__":
    main()
