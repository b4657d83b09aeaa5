#!/usr/bin/env python3
"""Apache Otava (PyPI: apache-otava) on the measured times of simulated sites, as a Markdown table for docs/site.md.

usage: bench/otava_on_sites.py DIR [--every N]

DIR holds what `simulated_site --series DIR` wrote. Each series is that of one work, as measured, with Otava's own
defaults (window 50, p 0.001, any magnitude). A change is found if one is told within two days of it. --every N: only
each N-th work. Never passes or fails.
"""

import argparse
import collections
import csv
import pathlib

from otava.analysis import compute_change_points

NEAR_DAYS = 2.0
SIZES = (0.01, 0.02, 0.03, 0.05, 0.1001)


def told_days(days, seconds):
    points, _ = compute_change_points(seconds)
    return [0.5 * (days[point.index - 1] + days[point.index]) for point in points if point.index > 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    series = collections.defaultdict(list)
    with open(arguments.directory / "series.csv", newline="") as file:
        for law, site, work, day, seconds in csv.reader(file):
            if int(work) % arguments.every == 0:
                series[law, site, work].append((float(day), float(seconds)))
    truth = collections.defaultdict(list)
    with open(arguments.directory / "truth.csv", newline="") as file:
        for law, site, work, kind, day, size, rate in csv.reader(file):
            truth[law, site, work].append((kind, float(day), abs(float(size)), float(rate)))

    print("| site | found within two days %, 1–2 % | 2–3 % | 3–5 % | 5–10 % | told at a change of the machine % | told where nothing changed, a work and year |")
    print("|---|---|---|---|---|---|---|")
    for law in dict.fromkeys(key[0] for key in series):
        found = [[] for _ in SIZES[1:]]
        of_machine = []
        false = 0
        years = 0.0
        for key, values in series.items():
            if key[0] != law:
                continue
            days = [day for day, _ in values]
            told = told_days(days, [seconds for _, seconds in values])
            years += (days[-1] - days[0]) / 365.25
            for kind, day, size, _ in truth[key]:
                is_told = any(abs(one - day) <= NEAR_DAYS for one in told)
                if kind == "machine":
                    of_machine.append(is_told)
                    continue
                for index in range(len(found)):
                    if SIZES[index] <= size < SIZES[index + 1]:
                        found[index].append(is_told)
            # Runs are rare in some works: a change may be told a run or two beside its place.
            false += sum(all(abs(one - day) > 5 * NEAR_DAYS for _, day, _, _ in truth[key]) for one in told)
        cells = [f"{100 * sum(one) / len(one):.0f} of {len(one)}" if one else "–" for one in found + [of_machine]]
        print(f"| {law} | {' | '.join(cells)} | {false / years:.1f} |", flush=True)


if __name__ == "__main__":
    main()
