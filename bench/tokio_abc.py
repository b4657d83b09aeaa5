#!/usr/bin/env python3
"""What others moved on the same file system, beside what benchmarks of it lost: a Markdown table for docs/who.md.

usage: bench/tokio_abc.py DIR

DIR holds the unpacked summaries/*.csv of NERSC's TOKIO-ABC (github.com/NERSC/tokio-abcutils): benchmarks that ran once a
day for a year, with the bytes that they and all others moved meanwhile. A cell is one benchmark with the same ranks and
bytes on one file system. Its runs in their order take the place of the slices of one run, and there is one suspect:
all others on that file system, with the bytes a second that they moved. What a run lost is the time of its slowest
rank beyond that of the fastest twentieth of its cell.

To see how often an innocent one is accused, the others are replaced with those on a file system of another centre or
machine at the time of the run that is nearest. Never passes or fails.
"""
import argparse
import bisect
import collections
import csv
import os
import pathlib
import statistics
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("HALCYON_BUILD_DIR", SOURCE / "build/release"))
FEWEST_RUNS = 200
FAST = 0.05
MEBIBYTE = 1 << 20
Run = collections.namedtuple("Run", "begin seconds others")


def rows_of(file):
    with open(file, newline="") as lines:
        reader = csv.reader(lines)
        header = next(reader)
        for values in reader:
            # The numbers of the rows have no name in some of the files.
            yield dict(zip(header if len(values) == len(header) else ["", *header], values))


def number(row, name):
    try:
        return float(row[name])
    except (KeyError, ValueError):
        return float("nan")


def runs_of(directory):
    """The runs of each cell, and of each file system, in the order of time."""
    cells = collections.defaultdict(list)
    systems = collections.defaultdict(list)
    for file in sorted(directory.glob("*.csv")):
        machine = file.name.split("-")[0]
        for row in rows_of(file):
            written, read = (number(row, f"darshan_tot_bytes_{way}_posix") for way in ("written", "read"))
            moved = sum(number(row, f"fs_tot_bytes_{way}") for way in ("written", "read"))
            wall, rate = number(row, "darshan_walltime"), number(row, "darshan_agg_perf_by_slowest_posix")
            begin = number(row, "_datetime_start")
            if not (wall > 0 and rate > 0 and moved > 0 and begin > 0 and written + read > 0):
                continue  # nothing is known of the others, or of the run
            own = written + read
            way = "write" if written > read else "read"
            system = (machine, row["_file_system"])
            run = Run(begin, own / MEBIBYTE / rate, max(0.0, moved - own) / wall)
            application = pathlib.PurePath(row["darshan_app"]).name
            size = float(f"{own:.2g}")  # some keep a few bytes of results
            cells[(*system, application, way, row["darshan_nprocs"].split(".")[0], size)].append(run)
            systems[system].append(run)
    for runs in (*cells.values(), *systems.values()):
        runs.sort()
    return {cell: runs for cell, runs in sorted(cells.items()) if len(runs) >= FEWEST_RUNS}, systems


def lost(runs):
    fast = sorted(run.seconds for run in runs)[int(FAST * len(runs))]
    return [max(0.0, run.seconds - fast) for run in runs]


def moved_elsewhere(runs, others):
    begins = [run.begin for run in others]

    def nearest(time):
        at = bisect.bisect(begins, time)
        return min(others[max(0, at - 1):at + 1], key=lambda run: abs(run.begin - time))
    return [nearest(run.begin).others for run in runs]


def accused(scenes):
    """For each (loss, demand): the share explained with its interval, and the chance; or None."""
    lines = "".join(f"{name} {' '.join(map(repr, values))}\n"
                    for scene in scenes for name, values in zip(("loss", "demand"), scene))
    said = subprocess.run([BUILD / "bench/culprits_of_series"], input=lines, capture_output=True, text=True, check=True)
    for (loss, _), line in zip(scenes, said.stdout.splitlines(), strict=True):
        if line == "none":
            yield None
            continue
        _, chance, *seconds = map(float, line.split())
        yield [100.0 * value / sum(loss) for value in seconds], chance


def rank_correlation(one, other):
    def ranks(values):
        order = sorted(range(len(values)), key=values.__getitem__)
        return [rank for _, rank in sorted(zip(order, range(len(values))))]
    return statistics.correlation(ranks(one), ranks(other))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    cells, systems = runs_of(parser.parse_args().directory)
    scenes = [(lost(runs), [run.others for run in runs]) for runs in cells.values()]
    print("| file system | benchmark | runs | lost, % of the time | rank correlation with what others moved | "
          "they explain of the loss, % |\n|---|---|---|---|---|---|")
    explained = list(accused(scenes))
    for (cell, runs), (loss, demand), told in zip(cells.items(), scenes, explained):
        part = "none is accused" if told is None else "{:.0f} ({:.0f} to {:.0f})".format(*told[0])
        print(f"| {cell[0]} {cell[1]} | {cell[2]} {cell[3]}, {cell[4]} ranks, {cell[5] / 1e12:.2g} TB | {len(runs)} | "
              f"{100 * sum(loss) / sum(run.seconds for run in runs):.0f} | {rank_correlation(loss, demand):.2f} | {part} |")
    elsewhere = [(lost(runs), moved_elsewhere(runs, others)) for cell, runs in cells.items()
                 for system, others in systems.items() if system[0] != cell[0] and len(others) >= FEWEST_RUNS]
    false = sum(told is not None for told in accused(elsewhere))
    print(f"\nothers accused in {sum(told is not None for told in explained)} of {len(cells)} cells; "
          f"those of another machine, who are innocent, in {false} of {len(elsewhere)}")


if __name__ == "__main__":
    main()
