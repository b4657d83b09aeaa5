#!/usr/bin/python3
"""Looks for pages that contradict themselves: figures of one report that cannot all be true. Prints each, and how many
of the reports have one.

    contradictions.py DIRECTORY [--report COMMAND]
"""
import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs import BUILD

ROUNDING = 1e-6  # relative
TOLD = 1.0  # percent of the run time: what a page would hardly show
LIMITS = {"green": (0.0, 7.5), "yellow": (7.5, 15.0), "red": (15.0, 100.0)}


def differ(a, b, scale):
    return abs(a - b) > ROUNDING * max(scale, 1e-9)


def contradictions(report):
    """Sentences about one report, as JSON has it."""
    run, percent = report["run_time_seconds"], report["interference_percent"]
    low, high = report["interference_interval_percent"]
    verdict = report["verdict"]
    if percent is None:
        return
    if not low - ROUNDING <= percent <= high + ROUNDING:
        yield f"{percent:.2f} % is not within {low:.2f} to {high:.2f} %"
    if verdict in LIMITS:
        least, most = LIMITS[verdict]
        # What may be the program's own makes a run yellow, however much it is.
        if percent < least - TOLD or (verdict != "yellow" and percent > most + TOLD):
            yield f"{verdict} with {percent:.2f} %"
        if differ(report["undisturbed_time_seconds"], run * (1.0 - percent / 100.0), run):
            yield f"undisturbed {report['undisturbed_time_seconds']:.4g} s of {run:.4g} s with {percent:.2f} %"
    if report["methods"][report["method"]]["interference_percent"] != percent:
        yield "the method's percentage is another one"
    parts = sum(report[f"{name}_percent"] or 0.0 for name in ("instantaneous", "continuous", "speed", "slow_ranks"))
    if parts > percent + TOLD:
        yield f"parts of {parts:.2f} % in {percent:.2f} %"
    breakdown = report["breakdown"]
    if not breakdown:
        return
    excess = breakdown["excess_seconds"]
    if excess > run * percent / 100.0 + 0.01 * TOLD * run:
        yield f"{excess:.4g} s divided of {run * percent / 100.0:.4g} s"
    sums = {"kinds": sum(breakdown["kinds"].values()),
            **{name: sum(one["seconds"] for one in breakdown[name]) for name in ("ranks", "hosts", "windows")}}
    for name, total in sums.items():
        if abs(total - excess) > 1e-3 * max(excess, 1e-6):
            yield f"{name} add up to {total:.4g} s of {excess:.4g} s"
    window = run / len(breakdown["windows"]) if breakdown["windows"] else 0.0
    for one in breakdown["windows"]:
        if one["seconds"] > window * (1.0 + 1e-3):
            yield f"{one['seconds']:.4g} s lost within {window:.4g} s"
    for kind, seconds in report["time_spent_seconds"].items():
        if seconds is not None and seconds < breakdown["kinds"].get(kind, 0.0) - 0.01 * TOLD * run:
            yield f"{breakdown['kinds'][kind]:.4g} s lost in {seconds:.4g} s of {kind}"
    yield from of_phases(report, run, high)
    yield from of_cause(report, excess)


def of_phases(report, run, high):
    phases = report.get("phases")
    if not phases:
        return
    for change in phases["changes"]:
        factor, length = change.get("factor"), change["to_seconds"] - change["from_seconds"]
        if factor and factor > 1.0 and 100.0 * length * (1.0 - 1.0 / factor) / run > high + TOLD:
            yield f"slower by {factor:.3g} for {length:.4g} of {run:.4g} s, of which at most {high:.2f} % was lost"
    if not 0.0 <= phases["stable"]["from_seconds"] <= phases["stable"]["to_seconds"] <= run * (1.0 + ROUNDING):
        yield "the stable part is not within the run"


def of_cause(report, excess):
    cause = report["cause"]
    if not cause:
        return
    windows = [one["seconds"] for one in report["breakdown"]["windows"]]
    for share in re.findall(r"(\d+(?:\.\d+)?) % of the (?:lost|run) time", cause["text"]):
        if float(share) > 100.0:
            yield f"a cause of {share} %"
    if "throughout the run" in cause["text"] and excess > 0.0 and max(windows) > 0.5 * sum(windows):
        yield "throughout the run, and half of it within a twentieth"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--report", default=BUILD / "bin" / "halcyon", metavar="COMMAND")
    options = parser.parse_args()
    files = sorted(options.directory.rglob("*.h5"))

    def found_in(file):
        printed = subprocess.run([options.report, "report", file, "--json", "-"], capture_output=True, text=True)
        return list(contradictions(json.loads(printed.stdout))) if printed.returncode != 2 else None

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(found_in, files))
    for file, sentences in zip(files, found):
        for sentence in sentences or []:
            print(f"{file.relative_to(options.directory)}: {sentence}")
    read = [sentences for sentences in found if sentences is not None]
    print(f"{sum(map(bool, read))} of {len(read)} reports contradict themselves")
    sys.exit(any(read))


if __name__ == "__main__":
    main()
