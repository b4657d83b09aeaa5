#!/usr/bin/python3
"""Prints what Halcyon says of real ranks that are slow, or have more work, or both.

usage: bench/peers.py [--tries N]

Rank 0 of `unequal` (tests/compares_ranks) has so many times the work of rank 1. On the core of rank 1 another process
spins, with this or that priority, or none does. Ranks that wait in MPI keep their cores, as they do by default. The
steps have a known length by the CPU clock. *Lost* is what the run took longer than the median of the runs without another
process. *Good*: what is said to follow from the slow rank is within 3 points of that, or its interval holds it. *Blamed*:
the machine is made responsible for the work of rank 0.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

from families import BUILD, FAMILIES, markdown, say

STEPS, MICROSECONDS = 2500, 500
WORK = (1.0, 1.3, 1.6, 2.0, 2.5)
HOGS = {"none": None, "priority 8 below": 8, "priority 4 below": 4, "the same priority": 0}
POINTS = 3.0
TIME_LIMIT = 120  # seconds


def run(work, niceness, directory):
    """The run time, the seconds that are said to be lost to the slow rank with their interval, whether the machine is
    blamed, and the interference that is said, in %."""
    profile = directory / "run.h5"
    profile.unlink(missing_ok=True)
    command = [BUILD / "bin/halcyon", "run", "--no-baseline", "-o", profile, "--", "mpirun", "-np", "2", "--bind-to",
               "core", BUILD / "tests/unequal", STEPS, MICROSECONDS, work, 0]
    hog = [] if niceness is None else [subprocess.Popen(["taskset", "-c", "1", "nice", "-n", str(niceness), "sh", "-c",
                                                         "while :; do :; done"])]
    try:
        subprocess.run(list(map(str, command)), capture_output=True, check=True, timeout=TIME_LIMIT,
                       env={**os.environ, **FAMILIES["mpi"].environment})
    finally:
        for process in hog:
            process.kill()
            process.wait()
    report = json.loads(subprocess.run([BUILD / "bin/halcyon", "report", "--json", "-", profile], capture_output=True,
                                       text=True, check=True).stdout)
    slow = [rank for rank in report["peers"]["slower"] if rank["whose"] == "machine"]
    said = sum(rank["lost_seconds"] for rank in slow)
    low, high = (sum(rank["lost_interval_seconds"][end] for rank in slow) for end in (0, 1))
    blamed = any(rank["whose"] == "machine" for rank in report["peers"]["more_work"]) or any(
        rank["rank"] == 0 for rank in slow)
    return report["run_time_seconds"], said, low, high, blamed, report["interference_percent"]


def between(values):
    return f"{min(values):.1f} to {max(values):.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=20)
    options = parser.parse_args()
    cells = [(work, hog) for work in WORK for hog in HOGS]
    runs = {cell: [] for cell in cells}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(options.tries):
            random.Random(number).shuffle(cells)
            for work, hog in cells:
                runs[work, hog].append(run(work, HOGS[hog], Path(directory)))
            say(f"{number + 1} of {options.tries}")
    quiet = {work: statistics.median(one[0] for one in runs[work, "none"]) for work in WORK}
    rows = []
    for (work, hog), of_cell in sorted(runs.items()):
        lost = [100 * (1 - quiet[work] / one[0]) for one in of_cell]
        said, low, high = ([100 * one[which] / one[0] for one in of_cell] for which in (1, 2, 3))
        good = sum(abs(a - b) <= POINTS or c <= a <= d for a, b, c, d in zip(lost, said, low, high))
        rows.append([f"{work:.1f}", hog, between(lost), between(said), f"{good} of {len(of_cell)}",
                     str(sum(one[4] for one in of_cell)), f"{statistics.median(one[5] for one in of_cell):.1f}"])
    head = ["work of rank 0", "another process on the core of rank 1", "lost, %", "said of the slow rank, %", "good",
            "blamed", "interference said, median %"]
    print(markdown([head, *rows]))


if __name__ == "__main__":
    main()
