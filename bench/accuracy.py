#!/usr/bin/python3
"""Writes docs/accuracy.md: how near the estimates come to the truth, on synthetic runs and on real programs.

usage: bench/accuracy.py [--runs DIR] [--disturbed DIR]

Takes some 15 minutes. The directory build/accuracy keeps results, and what is there already is not computed again. The
figures of real programs are those that bench/disturbed.py has measured (build/disturbed). Never passes or fails.
"""
import argparse
import subprocess
import sys
from datetime import date
from pathlib import Path

import disturbed
from programs import BUILD, FURTHER_PROGRAMS, PROGRAMS, RANKS, SOURCE, machine

PAGE = SOURCE / "docs" / "accuracy.md"


def on_synthetic_runs(runs, what, *options):
    """The output of `bench/accuracy --set WHAT`, from now or from an earlier time."""
    tables = runs / f"{what}.md"
    if not tables.exists():
        print(f"synthetic runs: {tables}", file=sys.stderr)
        finished = subprocess.run([BUILD / "bench" / "accuracy", "--set", what, *options], stdout=subprocess.PIPE, text=True,
                                  check=True)
        tables.write_text(finished.stdout)
    return tables.read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=SOURCE / "build" / "accuracy", help="directory that keeps results")
    parser.add_argument("--disturbed", type=Path, default=SOURCE / "build" / "disturbed", help="directory of bench/disturbed.py")
    arguments = parser.parse_args()
    runs = arguments.runs.resolve()
    runs.mkdir(parents=True, exist_ok=True)

    synthetic = on_synthetic_runs(runs, "tables")
    laws = on_synthetic_runs(runs, "laws", "--cases", "30")
    calibration = on_synthetic_runs(runs, "calibration", "--cases", "20")
    real = list(disturbed.table(arguments.disturbed.resolve(), PROGRAMS + FURTHER_PROGRAMS, is_made=False))

    page = [
        "# How near the estimates come",
        "",
        f"Made by `bench/accuracy.py` on {date.today()}: {machine()}, a virtual machine whose neighbours are not known.",
        "*Accuracy* is 1 − |P(true) − P(estimated)|, with P the probability of a highly disturbed run (method.md); runs without a verdict",
        "count as unknown and enter no other figure.",
        "",
        "## Synthetic runs",
        "",
        "Truth is known exactly. Every run is drawn anew: 200, 500 or 1500 segments in a group; jitter none, normal, lognormal or gamma, 1 to 5 %;",
        "delays normal (standard deviation a fifth of the mean), exponential, lognormal (σ = 1) or Pareto (exponent 1.5, cut at 50 means); slowdown 1 to 45 %.",
        "The estimator's constants were chosen on runs with other laws (method.md). *Green though red*: judged below 7.5 %, truly above 15 %.",
        "`compound` is the default for what these tables show: as quiet as the others where nothing happened, and near the truth where they see little.",
        synthetic.rstrip(),
        "",
        "## Laws of many kinds",
        "",
        "Programs and machines of other kinds, `bench/laws.cpp`: 200 to 5000 segments a group, 1 to 6 groups. First those on which an earlier default failed, then others.",
        "*Red though undisturbed* and *green though red* count confident errors.",
        laws.rstrip(),
        "",
        "The laws on which the intervals were calibrated, and constants chosen (method.md, *Discrepancy*):",
        calibration.rstrip(),
        "",
        "## Real programs",
        "",
        f"`halcyon validate`, {RANKS} ranks, CPU time as the compute feature, by `bench/disturbed.py`. For each program: runs with delays injected from 0 to 45 % of",
        "the time and from 0.05 hits a segment upwards; runs beside real disturbers of processor, memory and disk, each periodically, in bursts, in part of the run and",
        "throughout; runs on two hosts beside a busy network. In between are quiet runs. Estimates know of no other run, but for the rows *with known runs*: what `halcyon run` says from the third run of a series on, when the runs before it are known. *Difference p90*: nine of ten differ by less, in points.",
        "",
        "This machine does not keep still: by itself the same program takes up to 1.7 times as long from one run to the next, and switches between speeds within a run. Two truths",
        "are shown. *By pairs*, a run is held against its quiet neighbours, as if these were undisturbed. *By parts*, all runs of a series are cut into a hundred",
        "parts of the same segments, and in each part the tenth of the runs that were fastest tell how long it takes undisturbed; a quiet run that is slow for most of",
        "its time is then known to be disturbed. *Known to*: how far the choice of the twentieth or the fifth, in place of the tenth, moves the truth, in points.",
        "*Interval holds*: the truth, as well as it is known. What a disturber does *throughout* the run strikes all segments alike; one run alone cannot know it.",
        "",
        *real,
        "",
    ]
    PAGE.write_text("\n".join(page))
    print(f"written: {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
