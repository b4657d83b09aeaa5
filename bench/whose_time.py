#!/usr/bin/python3
"""Prints how well Halcyon tells what a program lost to others from what it did by itself, where its work is not that of
one thread on each rank alike.

usage: bench/whose_time.py [--kind NAME]... [--disturbance NAME]... [--ranks N]... [--tries N]

Runs bench/whose_time of each kind (whose_time.c), quiet, with delays that are sleeps of one of its threads (which no
kernel tells from the program's own), and beside a process that spins on one core now and then. The program's own account
is the truth. *Inside*: the interval, 1.5 points wider at either end, holds it. *Confidently wrong*: green above 15 %, or
red below 7.5 %. *Judged*: not unknown.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from families import BUILD, FAMILIES, environment_of, markdown, say

KINDS = ("equal", "random", "phases", "static", "rotating", "rare", "sleeps", "pool", "blocked", "openmp", "uneven",
         "shared", "fine", "helper", "turns", "both", "device", "polled", "sizes", "looping")
DISTURBANCES = {"quiet": (0, 0), "delays": (14, 9), "hog": (0, 0)}  # steps of 100 that are delayed, by so many ms
STEPS, MICROSECONDS = 900, 2600
TOLERANCE = 1.5  # points
GREEN_BELOW, RED_ABOVE = 7.5, 15.0  # %
TIME_LIMIT = 180  # seconds


@dataclass(frozen=True)
class Run:
    truth: float  # %
    said: float
    low: float
    high: float
    verdict: str

    def is_judged(self):
        return self.verdict != "unknown"

    def is_inside(self):
        return self.low - TOLERANCE <= self.truth <= self.high + TOLERANCE

    def is_confidently_wrong(self):
        return (self.verdict == "green" and self.truth > RED_ABOVE) or (self.verdict == "red" and self.truth < GREEN_BELOW)


class Hog:
    """Spins on one core for a third of the time, in stretches of a tenth of a second to a second."""

    def __init__(self, seed):
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(random.Random(seed),))

    def run(self, chance):
        while not self.ends.wait(chance.uniform(0.2, 2.0)):
            with subprocess.Popen(["taskset", "-c", "1", "sh", "-c", "while :; do :; done"]) as spinning:
                self.ends.wait(chance.uniform(0.1, 1.0))
                spinning.kill()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


class Nobody:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def run(kind, disturbance, ranks, seed, directory):
    family = FAMILIES["mpi"]
    profile = directory / "run.h5"
    profile.unlink(missing_ok=True)
    share, milliseconds = DISTURBANCES[disturbance]
    command = [BUILD / "bin/halcyon", "run", "--no-baseline", "--no-probes", "-o", profile, "--", *family.launch(ranks),
               "--bind-to", "none", BUILD / "bench/whose_time", kind, STEPS, MICROSECONDS, share, milliseconds, seed]
    with Hog(seed) if disturbance == "hog" else Nobody():
        finished = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, timeout=TIME_LIMIT,
                                  env=environment_of(family))
    said = json.loads(subprocess.run([BUILD / "bin/halcyon", "report", "--json", "-", profile], capture_output=True,
                                     text=True, check=True).stdout)
    low, high = said["interference_interval_percent"]
    lost, of_seconds = map(float, finished.stdout.split()[-2:])  # of the steps; the run also calibrates
    return Run(lost * of_seconds / said["run_time_seconds"], said["interference_percent"], low, high, said["verdict"])


def between(values):
    return f"{min(values):.1f} to {max(values):.1f}" if values else "–"


def row_of(kind, disturbance, ranks, runs):
    judged = [one for one in runs if one.is_judged()]
    return [kind, disturbance, str(ranks), between([one.truth for one in runs]), between([one.said for one in judged]),
            f"{sum(one.is_inside() for one in judged)} of {len(judged)}", f"{len(judged)} of {len(runs)}",
            str(sum(one.is_confidently_wrong() for one in runs)),
            f"{statistics.median(one.high - one.low for one in runs):.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--disturbance", action="append", choices=DISTURBANCES)
    parser.add_argument("--ranks", action="append", type=int)
    parser.add_argument("--tries", type=int, default=5)
    options = parser.parse_args()
    cells = [(kind, disturbance, ranks) for kind in options.kind or KINDS
             for disturbance in options.disturbance or DISTURBANCES for ranks in options.ranks or [2]]
    runs = {cell: [] for cell in cells}
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(1, options.tries + 1):
            for cell in cells:  # by turns: what else the machine does hits all alike
                runs[cell].append(run(*cell, seed, Path(directory)))
                say(f"{time.strftime('%H:%M:%S')} {' '.join(map(str, cell))}: {runs[cell][-1]}")
    head = ["work", "disturbed by", "ranks", "lost, %", "said, %", "inside", "judged", "confidently wrong",
            "median width, points"]
    print(markdown([head, *(row_of(*cell, of_cell) for cell, of_cell in runs.items())]))


if __name__ == "__main__":
    main()
