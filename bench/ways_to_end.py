#!/usr/bin/python3
"""Prints the table of docs/recover.md: what is kept of a run, by the way in which it ends and the MPI library.

usage: bench/ways_to_end.py [--family NAME]... [--way WORD]... [--tries N]

Every processor is kept busy by a process that spins, and more ranks run than there are processors. Each run is made a
few times, and the least that was kept counts.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import h5py
from families import BUILD, SOURCE, environment_of, markdown, say

sys.path.insert(0, str(SOURCE / "tests/support"))
from halcyon_test.mpi_family import FAMILIES  # noqa: E402

RANKS = 4
SEGMENTS = 200
SIGNAL_STACK = 8192  # bytes
TIME_LIMIT = 60  # seconds


@dataclass(frozen=True)
class Way:
    label: str
    words: tuple  # of tests/never_loses_a_run/dies.c
    handlers: bool = False  # with a library that handles signals since MPI_Init
    launcher_signal: int = 0  # comes to the command when all ranks wait


WAYS = [
    Way("MPI_Abort, by one rank", ("abort", 1)),
    Way("an error of MPI under MPI_ERRORS_ARE_FATAL, on one rank", ("fatal", 1)),
    Way("`exit`, by one rank", ("exit", 1)),
    Way("`_exit`, by one rank", ("_exit", 1)),
    Way("`quick_exit`, by one rank", ("quick_exit", 1)),
    Way("`exec` of another program, by one rank", ("exec", 1)),
    Way("`exec` of another program, by all ranks", ("exec",)),
    Way("`main` returns without MPI_Finalize, on all ranks", ("return",)),
    Way("SIGSEGV on one rank", ("segv", 1)),
    Way("stack overflow on one rank", ("overflow", 1)),
    Way("SIGSEGV on one rank, whose signal stack has 8 KiB", (f"small_stack:{SIGNAL_STACK}", 1)),
    Way("SIGABRT on one rank", (f"signal:{signal.SIGABRT.value}", 1)),
    Way("SIGTERM to one rank", (f"signal:{signal.SIGTERM.value}", 1)),
    Way("SIGTERM to one rank, which a library handles since MPI_Init", (f"signal:{signal.SIGTERM.value}", 1), True),
    Way("SIGXCPU to all ranks", (f"signal:{signal.SIGXCPU.value}",)),
    Way("SIGTERM to the launcher", ("waits",), launcher_signal=signal.SIGTERM),
    Way("SIGINT to the launcher", ("waits",), launcher_signal=signal.SIGINT),
    Way("SIGKILL to one rank", ("killed", 1)),
    Way("no descriptors left at MPI_Finalize", ("opens",)),
]


def spinners():
    command = [sys.executable, "-c", "while True: pass"]
    return [subprocess.Popen(command) for _ in range(os.cpu_count())]


def run(way, family, directory):
    """Makes the run, and returns the path of its profile."""
    profile = directory / "run.h5"
    program = [str(BUILD / f"tests{family.programs}" / "dies"), str(SEGMENTS), *map(str, way.words)]
    if way.handlers:
        preload = [BUILD / "lib" / f"libhalcyon{family.suffix}.so", BUILD / f"tests{family.programs}" / "libhandlers.so"]
        program = ["env", "LD_PRELOAD=" + ":".join(map(str, preload)), *program]
    command = [BUILD / "bin/halcyon", "run", "--no-probes", "-o", profile, "--", *family.launch(RANKS), *program]
    with subprocess.Popen(command, text=True, env=environment_of(family), cwd=directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            if way.launcher_signal:
                if any("ready" in line for line in iter(process.stderr.readline, "")):
                    process.send_signal(way.launcher_signal)
            process.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            process.terminate()  # MPICH 5's launcher often hangs when a rank has called exec
            try:
                process.communicate(timeout=TIME_LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
    return profile


def kept(profile):
    """Segments and ranks that a profile has."""
    if not profile.exists():
        return 0, 0
    with h5py.File(profile) as file:
        ranks = sum(time >= 0 for time in file["rank_run_time"][()])
        return min(len(file["duration"]) if "duration" in file else 0, SEGMENTS), int(ranks)


def cell(way, family, tries):
    least = SEGMENTS, RANKS
    for _ in range(tries):
        with tempfile.TemporaryDirectory(prefix="halcyon-") as directory:
            least = min(least, kept(run(way, family, Path(directory))), key=lambda found: found[0] * found[1])
    if least == (SEGMENTS, RANKS):
        return "all"
    return f"{least[0]} of {SEGMENTS} segments, {least[1]} of {RANKS} ranks"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", choices=FAMILIES, default=[], help="only these families")
    parser.add_argument("--way", action="append", default=[], help="only ways whose label has this in it")
    parser.add_argument("--tries", type=int, default=3)
    arguments = parser.parse_args()
    families = {name: family for name, family in FAMILIES.items() if not arguments.family or name in arguments.family}
    rows = [["how the run ends", *(family.name for family in families.values())]]
    spinning = spinners()
    try:
        for way in WAYS:
            if arguments.way and not any(re.search(word, way.label) for word in arguments.way):
                continue
            rows.append([way.label])
            for family in families.values():
                rows[-1].append(cell(way, family, arguments.tries))
                say(f"{way.label}, {family.name}: {rows[-1][-1]}")
    finally:
        for process in spinning:
            process.kill()
    print(markdown(rows))


if __name__ == "__main__":
    main()
