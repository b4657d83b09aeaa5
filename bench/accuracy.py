#!/usr/bin/python3
"""Writes docs/accuracy.md: how near the estimates come to the truth, on synthetic runs and on real programs.

usage: bench/accuracy.py [--runs DIR]

Takes some 20 minutes on a machine that has nothing else to do. DIR (default build/accuracy) keeps what was measured; what
is there already is not made again. Never passes or fails.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
from datetime import date
from pathlib import Path

from programs import BUILD, PROGRAMS, RANKS, SOURCE, environment, machine, prepare

PAGE = SOURCE / "docs" / "accuracy.md"
DISTURBER = "cpu:periodic:150ms,350ms"


def on_synthetic_runs(runs, what, *options):
    """What `bench/accuracy --set WHAT` prints; made now, or kept from an earlier time."""
    tables = runs / f"{what}.md"
    if not tables.exists():
        print(f"synthetic runs: {tables}", file=sys.stderr)
        finished = subprocess.run([BUILD / "bench" / "accuracy", "--set", what, *options], stdout=subprocess.PIPE, text=True,
                                  check=True)
        tables.write_text(finished.stdout)
    return tables.read_text()


def validated(runs, program):
    """The tables that `halcyon validate` writes; made now, or kept from an earlier time."""
    name = program.name
    tables = runs / f"{name}.md"
    if not tables.exists():
        shutil.rmtree(runs / name, ignore_errors=True)
        scratch = runs / f"{name}.inputs"
        prepare(program, scratch)
        print(f"{name}: {tables}", file=sys.stderr)
        subprocess.run([BUILD / "bin" / "halcyon", "validate", "-o", runs / name, "--levels", "6", "--runs", "3", "--disturb",
                        DISTURBER, "--anyway", "--", "mpirun", "-np", str(RANKS), *program.command],
                       cwd=scratch, env=environment(), stdout=subprocess.DEVNULL, check=True)
        shutil.copy(runs / name / "validation.md", tables)
    return tables.read_text(), json.loads((runs / name / "validation.json").read_text())


# What estimates are held against first; both leave the medians where they are.
TRUTHS = {"measured": "measured", "at_equal_speed": "at equal speed"}


def summary_line(what, validation):
    background = validation["background_percent"]
    cells = [what, f"{background:.1f}" if background is not None else "–"]
    for truth in TRUTHS:
        quiet = [run["truths"][truth]["percent"] for run in validation["runs"] if run["kind"] == "quiet"]
        cells.append(f"{min(quiet):.1f}–{max(quiet):.1f}")
    for truth in TRUTHS:
        for method in validation["methods"].values():
            of = method[truth]
            judged = f" ({of['judged']} of {len(validation['runs'])})" if of["judged"] < len(validation["runs"]) else ""
            cells.append(f"{of['accuracy']['median']:.3f} / {of['accuracy']['min']:.2f}{judged}")
    return "| " + " | ".join(cells) + " |"


def together(method, truth, validations):
    """One sentence over all programs."""
    scores = [run["methods"][method]["against"][truth] for validation in validations for run in validation["runs"]]
    judged = [score for score in scores if score]
    accuracy = [score["accuracy"] for score in judged]
    points = sorted(score["difference_points"] for score in judged)
    held = sum(score["in_interval"] for score in judged)
    return (f"{TRUTHS[truth]}: {len(judged)} of {len(scores)} runs judged, accuracy median {statistics.median(accuracy):.3f}, "
            f"least {min(accuracy):.2f}, {sum(a < 0.85 for a in accuracy)} below 0.85; difference median "
            f"{statistics.median(points):.1f} points, nine in ten below {points[int(0.9 * len(points))]:.1f}; "
            f"the 90 % interval holds {held}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=SOURCE / "build" / "accuracy", help="where what was measured is kept")
    runs = parser.parse_args().runs.resolve()
    runs.mkdir(parents=True, exist_ok=True)

    synthetic = on_synthetic_runs(runs, "tables")
    laws = on_synthetic_runs(runs, "laws", "--cases", "20")
    calibration = on_synthetic_runs(runs, "calibration", "--cases", "20")
    real = [(program.what, *validated(runs, program)) for program in PROGRAMS]
    methods = list(real[0][2]["methods"])
    validations = [validation for *_, validation in real]

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
        f"`{methods[0]}` is the default for what these tables show: as quiet as the others where nothing happened, and near the truth where they see little.",
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
        f"`halcyon validate --levels 6 --runs 3 --disturb {DISTURBER}`, {RANKS} ranks, CPU time as the compute feature: for each",
        "program 12 quiet runs, 15 with delays",
        "injected from 0 to 45 % of the time and from 0.05 hits a segment upwards, 3 beside a process that burns one core in bursts. *Measured* is a",
        "run's time above the fastest of all runs, in percent of its own, with nothing removed. *At equal speed* counts all times in units of the CPU time",
        "that the run computed for (validate.md): on this machine the same computation takes some percent more or less CPU time from one run to the next, which",
        "no estimate from one run can know. The columns of methods show accuracy, median / least, and how many runs were judged, where not all.",
        "",
        f"| program | background % | {' | '.join(f'quiet runs {label} %' for label in TRUTHS.values())} "
        f"| {' | '.join(f'`{m}`, {label}' for label in TRUTHS.values() for m in methods)} |",
        "|---|---|" + "---|" * (len(TRUTHS) * (1 + len(methods))),
        *[summary_line(what, validation) for what, _, validation in real],
        "",
        f"All together, `{methods[0]}`",
        "",
        *[f"- {together(methods[0], truth, validations)}." for truth in TRUTHS],
        "",
    ]
    for what, tables, _ in real:
        page += [f"### {what}", "", tables.strip(), ""]
    PAGE.write_text("\n".join(page))
    print(f"written: {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
