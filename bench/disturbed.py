#!/usr/bin/python3
"""How near the estimates come on real programs, disturbed on purpose: a Markdown table on standard output.

usage: bench/disturbed.py [--runs DIR] [PROGRAM...]

Runs `halcyon validate` for the series of programs.py: injected delays, real disturbers on one host, and a busy network
between two hosts, with quiet runs in between. DIR (default build/disturbed) keeps the runs, and what is there already is
not run again. Never passes or fails.

There are two truths. *By pairs*: a run is compared with its quiet neighbours, as if these were undisturbed. *By parts*:
all runs of a series do the same segments in the same order. These are cut into a hundred parts. The fastest tenth of the
runs in a part tells how long the part takes undisturbed: a machine that is slow for most of each run still shows its full
speed in every part of some run.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
from math import exp
from pathlib import Path

import h5py

from programs import BUILD, FURTHER_PROGRAMS, PROGRAMS, RANKS, SERIES, SOURCE, environment, machine, prepare

PARTS = 100
UNDISTURBED = 0.1  # quantile over the runs
AS_WELL = (0.05, 0.2)  # two other quantiles, which tell how well the truth is known


def validated(directory, program, options, is_made):
    if not (directory / "validation.json").exists():
        if not is_made:
            return None
        shutil.rmtree(directory, ignore_errors=True)
        scratch = directory.with_name(directory.name + ".inputs")
        prepare(program, scratch)
        print(directory, file=sys.stderr)
        finished = subprocess.run([BUILD / "bin" / "halcyon", "validate", "-o", directory, *options, "--anyway", "--",
                                   "mpirun", "-np", str(RANKS), *program.command],
                                  cwd=scratch, env=environment(), stdout=subprocess.DEVNULL, check=False)
        if finished.returncode != 0 and not (directory / "validation.json").exists():
            return None  # the command has printed why
    return json.loads((directory / "validation.json").read_text())


def quantile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def seconds_of_parts(profile):
    with h5py.File(profile, "r") as content:
        durations = content["duration"][:]
    ends = [part * len(durations) // PARTS for part in range(PARTS + 1)]
    return len(durations), [float(sum(durations[a:b])) for a, b in zip(ends, ends[1:])]


def estimated(profile):
    """This build's estimate from the run alone: verdict, percent, interval."""
    finished = subprocess.run([BUILD / "bin" / "halcyon", "report", profile, "--json", "-"], stdout=subprocess.PIPE, check=True)
    report = json.loads(finished.stdout)
    return report["verdict"], report["interference_percent"], report["interference_interval_percent"]


def estimated_with_known(profiles):
    """The same for each run, as `halcyon run` would have estimated it with the earlier ones known."""
    finished = subprocess.run([BUILD / "bench" / "known_series", *profiles], stdout=subprocess.PIPE, text=True, check=True)
    for row in finished.stdout.splitlines():
        verdict, *numbers = row.split()
        percent, low, high = map(float, numbers)
        yield verdict, percent, (low, high)


def probability_high(percent):
    return 1 / (1 + exp(-0.35 * (percent - 11.25)))  # docs/method.md, "Verdict"


def scored(validation, directory):
    """Yields for each run: the run, its truths in percent with their uncertainty, and the estimates without and with
    the earlier runs known."""
    runs = [(run, directory / run["profile"]) for run in validation["runs"]]
    parts = [seconds_of_parts(profile) for _, profile in runs]
    of_same_work = len({segments for segments, _ in parts}) == 1
    undisturbed = {share: sum(quantile(of_part, share) for of_part in zip(*(seconds for _, seconds in parts)))
                   for share in (UNDISTURBED, *AS_WELL)}
    with_known = estimated_with_known([profile for _, profile in runs])
    for (run, profile), (_, seconds), known in zip(runs, parts, with_known):
        truths = {}
        if pairs := run["truths"]["paired"]:
            truths["pairs"] = (pairs["percent"], pairs["uncertainty_points"] or 0.0)
        if of_same_work:
            low, high = (100 * undisturbed[share] / sum(seconds) for share in AS_WELL)
            truths["parts"] = (100 * (1 - undisturbed[UNDISTURBED] / sum(seconds)), (high - low) / 2)
        yield run, truths, estimated(profile), known


def by_themselves(runs):
    return [(run, truths, estimate) for run, truths, estimate, _ in runs]


def from_the_third(runs):
    """The estimates with at least two known runs."""
    return [(run, truths, known) for run, truths, _, known in runs if run["run"] > 2]


def columns(runs, truth):
    """Accuracy, difference and interval of the judged runs against one truth."""
    scores = [(truths[truth], percent, interval) for _, truths, (verdict, percent, interval) in runs
              if truth in truths and verdict != "unknown"]
    if not scores:
        return ["–"] * 4
    accuracy = [1 - abs(probability_high(true) - probability_high(percent)) for (true, _), percent, _ in scores]
    apart = [abs(true - percent) for (true, _), percent, _ in scores]
    held = sum(low - known <= true <= high + known for (true, known), _, (low, high) in scores)
    known = statistics.median(known for (_, known), _, _ in scores)
    return [f"{known:.1f}", f"{statistics.median(accuracy):.3f} / {min(accuracy):.2f}", f"{quantile(apart, 0.9):.1f}",
            f"{100 * held / len(scores):.0f}"]


def line(what, where, runs):
    judged = sum(verdict != "unknown" for _, _, (verdict, _, _) in runs)
    quiet = [(truths, estimate) for run, truths, estimate in runs if run["kind"] == "quiet"]
    red = [truths.get("parts", truths.get("pairs"))[0] for truths, (verdict, _, _) in quiet if verdict == "red"]
    of_quiet = [truths["parts"][0] for truths, _ in quiet if "parts" in truths]
    cells = [what, where, f"{judged} of {len(runs)}", *columns(runs, "parts"), *columns(runs, "pairs"),
             f"{min(of_quiet):.0f}–{max(of_quiet):.0f}" if of_quiet else "–",
             f"{len(red)} of {len(quiet)}" + (f" (truly {min(red):.0f}–{max(red):.0f})" if red else "")]
    return "| " + " | ".join(cells) + " |"


def table(directory, programs, is_made=True):
    """Yields lines of Markdown: one row per program and series, then one per series, then one for all. Missing runs are
    made if `is_made`, else left out."""
    yield ("| program | series | judged | by parts: known to | accuracy, median / least | difference p90 | interval holds % "
           "| by pairs: known to | accuracy, median / least | difference p90 | interval holds % | quiet runs, by parts % "
           "| red on quiet runs |")
    yield "|---" * 13 + "|"
    of_series = {name: [] for name in SERIES}
    for program in programs:
        for name, options in SERIES.items():
            of_program = directory / f"{program.name}-{name.replace(' ', '-')}"
            validation = validated(of_program, program, options, is_made)
            if validation is None:
                continue
            runs = list(scored(validation, of_program))
            of_series[name] += runs
            yield line(program.what, name, by_themselves(runs))
    of_series["all"] = [run for runs in of_series.values() for run in runs]
    for name, runs in of_series.items():
        if runs:
            yield line("**all programs**", name, by_themselves(runs))
    for name, runs in of_series.items():
        if runs:
            yield line("**all programs, with known runs**", name, from_the_third(runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=SOURCE / "build" / "disturbed", help="directory that keeps the runs")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="only these programs. Default: all")
    arguments = parser.parse_args()
    runs = arguments.runs.resolve()
    runs.mkdir(parents=True, exist_ok=True)
    print(f"{machine()}.\n")
    chosen = [program for program in PROGRAMS + FURTHER_PROGRAMS if not arguments.programs or program.name in arguments.programs]
    for row in table(runs, chosen):
        print(row, flush=True)


if __name__ == "__main__":
    main()
