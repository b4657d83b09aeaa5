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


def of_real_programs(measured):
    """The lines on real programs: when they were measured, and the table."""
    if measured.is_dir():
        return [f"Measured until {date.today()}, with the estimator of this state.", "",
                *disturbed.table(measured, PROGRAMS + FURTHER_PROGRAMS, is_made=False)]
    page = PAGE.read_text()
    return page[page.index("Measured until "):].rstrip().split("\n")


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
    failures = on_synthetic_runs(runs, "failures", "--cases", "20")
    attack = on_synthetic_runs(runs, "attack", "--cases", "20")
    real = of_real_programs(arguments.disturbed.resolve())

    page = [
        "# How accurate the estimates are", "",
        "For those who want to know how far a verdict can be trusted, and on what kinds of programs and machines.",
        "",
        f"Made by `bench/accuracy.py` on {date.today()}: {machine()}, a virtual machine whose neighbours are not known.",
        "*Accuracy* is 1 − |P(true) − P(estimated)|, with P the probability of a highly disturbed run",
        "([method.md](method.md#verdict)). Runs without a verdict count as unknown and are in no other figure.",
        "",
        "## Synthetic runs",
        "",
        "The truth is known exactly. Each run is generated with random",
        "",
        "- numbers of segments: 200, 500 or 1500 in a group,",
        "- jitter: none, or normal, lognormal or gamma jitter of 1 to 5 %,",
        "- delays: normal (standard deviation a fifth of the mean), exponential, lognormal (σ = 1) or",
        "  Pareto (exponent 1.5, cut at 50 means),",
        "- slowdown: 1 to 45 %.",
        "",
        "The constants of the estimator were chosen with runs of [other laws](method.md#the-posterior). *Green",
        "though red* means estimated below 7.5 %, but truly above 15 %.",
        "",
        "These tables are the reason why `compound` is the default: without disturbance it reports as little as the",
        "other methods, and with disturbance it is near the truth where they see little.",
        synthetic.rstrip(),
        "",
        "## Laws of many kinds",
        "",
        "These are programs and machines of other kinds (`bench/laws.cpp`), with 200 to 5000 segments in a group",
        "and 1 to 6 groups. An earlier default method failed with the first ones. *Red though undisturbed* and *green",
        "though red* count confident errors.",
        laws.rstrip(),
        "",
        "The intervals were calibrated and constants were chosen with these laws ([method.md](method.md#discrepancy)):",
        calibration.rstrip(),
        "",
        "## Laws on which the estimate fails, or failed",
        "",
        "Readers found these (`bench/failure_laws.cpp`). No constant was fitted to them, but four led to changes of the",
        "method: cold caches, threads that spin by instructions, what a hypervisor stole, and work of each k-th segment.",
        "Where the interval holds seldom, durations cannot tell: CPU time or instructions that a delay makes grow look",
        "like more work, and work of the program that nothing counts looks like delays.",
        failures.rstrip(),
        "",
        "## Laws of an attack",
        "",
        "Somebody else made these after the method (`bench/attack_laws.cpp`), to find where it fails. One mend came of",
        "them: two kinds of work that durations do not tell apart had more evidence than their prior. Several have no",
        "answer in one run: work that nothing counts and that is not known to recur, equal delays in each segment.",
        attack.rstrip(),
        "",
        "## Real programs",
        "",
        f"`halcyon validate`, {RANKS} ranks, CPU time as the compute feature, by `bench/disturbed.py`. For each",
        "program there are",
        "",
        "- runs with injected delays, from 0 to 45 % of the time and with 0.05 or more hits per segment,",
        "- runs beside real disturbers of processor, memory and disk, each periodically, in bursts, in part of the",
        "  run and throughout,",
        "- runs on two hosts beside a busy network,",
        "- quiet runs in between.",
        "",
        "Each estimate uses one run only, except in the rows *with known runs*. These rows show the answers of",
        "`halcyon run` from the third run of a series on, when the previous runs are known. *Difference p90*: nine of",
        "ten runs differ by less, in points.",
        "",
        "The speed of this machine changes: without a disturber, the same program takes up to 1.7 times as long in one",
        "run as in the next, and its speed changes within a run. Therefore two truths are shown:",
        "",
        "- *By pairs*: a run is compared with its quiet neighbours, as if these were undisturbed.",
        "- *By parts*: all runs of a series are cut into a hundred parts of the same segments. In each part, the",
        "  fastest tenth of the runs gives the undisturbed time. So a quiet run that is slow for most of its time counts",
        "  as disturbed.",
        "",
        "*Known to* says how much the truth changes, in points, with the fastest twentieth or fifth instead of the",
        "tenth. *Interval holds* means that the interval contains the truth, within the uncertainty of the truth. A",
        "disturber that works *throughout* the run affects all segments alike; one run alone cannot show this.",
        "",
        *real,
        "",
    ]
    PAGE.write_text("\n".join(page))
    print(f"written: {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
