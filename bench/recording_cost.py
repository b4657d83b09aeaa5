#!/usr/bin/python3
"""Measures what recording costs a whole program, by pairs of runs with and without libhalcyon.so.

usage: bench/recording_cost.py [--pairs N] -- mpirun -np 2 ./app arguments

Prints the median run time without recording, and how much longer the recorded run of a pair took: the median over pairs,
with a 95 % interval that assumes no distribution (order statistics of the pairs). Which run of a pair comes first is
random. Never passes or fails.
"""
import argparse
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from programs import BUILD, environment

LIBRARY = BUILD / "lib" / "libhalcyon.so"


@dataclass
class Dilation:
    plain_seconds: float     # median
    recorded_seconds: float  # median
    percent: float           # median over pairs
    low: float
    high: float
    pairs: int

    def __str__(self):
        return (f"{self.percent:+.2f} % ({self.low:+.2f} to {self.high:+.2f}), {self.pairs} pairs, "
                f"{self.plain_seconds:.2f} s without")


def interval_of_median(values, confidence=0.95):
    """The narrowest pair of order statistics that contains the median with at least this confidence; the whole range, if
    there are too few values."""
    values = sorted(values)
    n = len(values)
    for k in range(n // 2, 0, -1):
        missed = 2 * sum(math.comb(n, i) for i in range(k)) / 2**n
        if 1 - missed >= confidence:
            return values[k - 1], values[n - k]
    return values[0], values[-1]


def seconds(command, directory, preload):
    """Wall time of one run, including its start and MPI_Finalize."""
    words = [str(word) for word in command]
    profile = Path(directory) / "bench-compare.h5"
    profile.unlink(missing_ok=True)
    if preload:
        words[1:1] = ["-x", f"LD_PRELOAD={LIBRARY}", "-x", f"HALCYON_OUTPUT={profile}"]
    began = time.monotonic()
    subprocess.run(words, cwd=directory, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    took = time.monotonic() - began
    if preload and not profile.exists():
        sys.exit(f"{' '.join(words)}: no profile was written")
    profile.unlink(missing_ok=True)
    return took


def compare(command, directory, pairs, progress=lambda text: None):
    order = random.Random(1)
    seconds(command, directory, False)  # warms the caches of the file system
    plain, recorded = [], []
    for pair in range(pairs):
        for preload in order.sample([False, True], 2):
            (recorded if preload else plain).append(seconds(command, directory, preload))
        progress(f"pair {pair + 1} of {pairs}")
    percents = [100 * (b - a) / a for a, b in zip(plain, recorded)]
    return Dilation(statistics.median(plain), statistics.median(recorded), statistics.median(percents),
                    *interval_of_median(percents), pairs)


def show(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="Example: bench/recording_cost.py -- mpirun -np 2 ./app")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("command", nargs="+", help="Open MPI's mpirun and the program")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        dilation = compare(arguments.command, directory, arguments.pairs, show)
    show("")
    print(f"recorded: {dilation}")


if __name__ == "__main__":
    main()
