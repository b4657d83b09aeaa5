#!/usr/bin/python3
"""Writes the tables of docs/regulate.md on standard output: two programs that share the machine, one of them regulated,
and what regulation costs where there is no other.

usage: bench/regulation.py [--rounds N] [--jobs 10,25] [--pairs N]

The important program is LAMMPS's melt, the other one a stencil; both have two ranks. Takes some eleven minutes a round
on an otherwise idle machine of two processors. Never passes or fails.
"""
import argparse
import contextlib
import mmap
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from programs import BUILD, RANKS, SOURCE, environment, machine

HALCYON = BUILD / "bin" / "halcyon"
LAUNCH = ["mpirun", "-np", str(RANKS), "--mca", "mpi_yield_when_idle", "1"]  # the programs share the processors
STENCIL = [*LAUNCH, str(BUILD / "examples" / "stencil")]
SIDE = "64"  # of a rank's cube
ENDLESS, SHORT = "100000000", "40000"  # sweeps
LEARNING = 20.0  # seconds: 30 testpoints, and the time until they begin
SETTLING = 30.0  # seconds for which the stencil has run when LAMMPS starts
STEPS_IN_SECOND = 490  # of LAMMPS, about
JOBS = "10,25,60,150"  # seconds
# The live record: header, then the slot of the first rank, its state in the second cache line (docs/live.md).
OFFSET_OF_STATE = 4096 + 64 + 8
SUSPENDED = 1


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:

    def __init__(self, scratch):
        self.scratch = scratch
        self.environment = {**environment(), "XDG_STATE_HOME": str(scratch / "state")}

    def regulated(self, *sweeps):
        return [str(HALCYON), "regulate", "-o", "regulated.h5", "--no-baseline", "--", *STENCIL, *sweeps, SIDE]

    def important(self, steps):
        """Seconds that LAMMPS takes."""
        text = (SOURCE / "examples" / "lj.in").read_text()
        (self.scratch / "lj.in").write_text(re.sub(r"^run .*", f"run {steps}", text, flags=re.M))
        return self.timed([*LAUNCH, "lmp", "-in", "lj.in", "-log", "none", "-screen", "none"])

    def timed(self, command):
        began = time.monotonic()
        subprocess.run(command, cwd=self.scratch, env=self.environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return time.monotonic() - began

    @contextlib.contextmanager
    def beside(self, command, settling):
        """Runs the command until the block ends; its errors are in the list that is yielded, afterwards."""
        (self.scratch / "regulated.h5").unlink(missing_ok=True)
        told = []
        with subprocess.Popen(command, cwd=self.scratch, env=self.environment, text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, start_new_session=True) as process:
            try:
                time.sleep(settling)
                yield told
            finally:
                process.terminate()
                told.append(process.communicate()[1])
        shutil.rmtree(self.scratch / "regulated.h5.parts", ignore_errors=True)

    def reaction(self):
        """Seconds from the start of LAMMPS until the ranks of the stencil are suspended."""
        with self.beside(self.regulated(ENDLESS), 8.0):
            record, = (Path("/dev/shm") / f"halcyon-{os.geteuid()}").iterdir()
            with open(record, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
                began = time.monotonic()
                with subprocess.Popen([*LAUNCH, "lmp", "-in", "lj.in", "-log", "none", "-screen", "none"],
                                      cwd=self.scratch, env=self.environment, stdout=subprocess.DEVNULL) as important:
                    while struct.unpack_from("I", mapped, OFFSET_OF_STATE)[0] != SUSPENDED:
                        if important.poll() is not None:
                            return None
                        time.sleep(0.02)
                    seconds = time.monotonic() - began
                    important.terminate()
        return seconds


def suspended(errors):
    found = re.search(r"suspended (once|\d+ times), ([0-9.]+) s in all", errors)
    if found is None:
        return 0, 0.0
    return 1 if found[1] == "once" else int(found[1].split()[0]), float(found[2])


def contended(bench, jobs, rounds):
    took = {(what, how): [] for what in jobs for how in ("alone", "unregulated", "regulated")}
    suspensions = {what: [] for what in jobs}
    reactions = []
    with bench.beside(bench.regulated(ENDLESS), LEARNING):  # its targets are kept
        pass
    for round_ in range(rounds):
        for what in jobs:
            steps = what * STEPS_IN_SECOND
            say(f"round {round_ + 1}: {what} s")
            took[what, "alone"].append(bench.important(steps))
            if what == jobs[0]:
                with bench.beside([*STENCIL, ENDLESS, SIDE], 3.0):
                    took[what, "unregulated"].append(bench.important(steps))
            with bench.beside(bench.regulated(ENDLESS), SETTLING) as told:
                took[what, "regulated"].append(bench.important(steps))
            suspensions[what].append(suspended(told[0]))
        reactions.append(bench.reaction())
    print("| LAMMPS | alone | beside the stencil | beside the regulated stencil | suspended |\n|---|---|---|---|---|")
    for what in jobs:
        alone = took[what, "alone"]

        def cell(how):
            seconds = took[what, how]
            if not seconds:
                return "–"
            percent = [100 * (b / a - 1) for a, b in zip(alone, seconds)]
            return f"{statistics.median(seconds):.1f} s, {statistics.median(percent):+.0f} % ({min(percent):+.0f} to {max(percent):+.0f})"
        times = statistics.median(count for count, _ in suspensions[what])
        seconds = statistics.median(seconds for _, seconds in suspensions[what])
        print(f"| {what * STEPS_IN_SECOND:,} steps | {statistics.median(alone):.1f} s ({min(alone):.1f} to {max(alone):.1f}) | {cell('unregulated')} "
              f"| {cell('regulated')} | {times:.0f} times, {seconds:.0f} s |")
    print("\nReaction, s from the start of LAMMPS: " +
          ", ".join("none" if seconds is None else f"{seconds:.1f}" for seconds in reactions) + "\n")


def alone(bench, pairs):
    """The stencil by itself: recorded, and regulated with kept targets, by turns."""
    run = [str(HALCYON), "run", "-o", "regulated.h5", "--no-baseline", "--", *STENCIL, SHORT, SIDE]
    took, regulated, still = [], [], []
    for pair in range(pairs):
        say(f"alone: pair {pair + 1} of {pairs}")
        for is_regulated in ((False, True) if pair % 2 == 0 else (True, False)):
            (bench.scratch / "regulated.h5").unlink(missing_ok=True)
            began = time.monotonic()
            finished = subprocess.run(bench.regulated(SHORT) if is_regulated else run, cwd=bench.scratch, text=True,
                                      env=bench.environment, check=True, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE)
            (regulated if is_regulated else took).append(time.monotonic() - began)
            if is_regulated:
                still.append(suspended(finished.stderr)[1])
    percent = sorted(100 * (b / a - 1) for a, b in zip(took, regulated))
    print(f"Alone, {pairs} pairs: {statistics.median(took):.1f} s recorded, regulated {statistics.median(percent):+.1f} % "
          f"({percent[0]:+.1f} to {percent[-1]:+.1f}); suspended for "
          f"{100 * sum(still) / sum(regulated):.2f} % of the time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="of two programs")
    parser.add_argument("--jobs", default=JOBS, help="how long LAMMPS takes alone, about, in s")
    parser.add_argument("--pairs", type=int, default=6, help="of the regulated program alone")
    options = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name))
        contended(bench, [int(job) for job in options.jobs.split(",")], options.rounds)
        if options.pairs > 0:
            alone(bench, options.pairs)


if __name__ == "__main__":
    main()
