#!/usr/bin/python3
"""Prints the tables of docs/scale.md: recovering, reading and merging the records of many ranks.

usage: bench/scale.py [--most-ranks N] [--directory DIR]

Parts and simulated ranks are made up (bench/many_ranks.cpp). CPU seconds are user and system time, which a busy machine
changes least; each is the least of three runs. Takes some ten minutes and 5 GB of disk for 100 000 ranks. Never passes or
fails.
"""
import argparse
import json
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

from programs import BUILD, environment, machine

HALCYON = BUILD / "bin" / "halcyon"
MANY_RANKS = BUILD / "bench" / "many_ranks"
REPEATS = 3
DESCRIPTORS = 256
SEGMENTS = 1000
READERS = [["report"], ["info"], ["report", "--json", "-"], ["report", "--html", "page.html"]]


def cost(command, directory):
    """CPU seconds and resident MiB of a command, which may have few files open."""
    finished = subprocess.run(["/usr/bin/time", "-f", "%U %S %M", "nice", *[str(word) for word in command]],
                              env=environment(), cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)))
    user, system, kib = finished.stderr.splitlines()[-1].split()
    return float(user) + float(system), int(kib) / 1024


def least_cost(command, directory, before=lambda: None):
    costs = []
    for _ in range(REPEATS):
        before()
        costs.append(cost(command, directory))
    return min(seconds for seconds, _ in costs), max(mib for _, mib in costs)


def space_of(path):
    return sum(file.stat().st_blocks * 512 for file in path.iterdir())


def recovering(directory, all_ranks):
    print("| ranks | files | on disk | recover, CPU s | MiB | "
          + " | ".join(f"`{' '.join(words)}`, CPU s | MiB" for words in READERS) + " |")
    print("|---|---|---|---|---|" + "---|---|" * len(READERS))
    for ranks in all_ranks:
        parts, profile = directory / f"{ranks}.h5.parts", directory / f"{ranks}.h5"
        subprocess.run([MANY_RANKS, "parts", str(ranks), str(SEGMENTS), parts], check=True)
        seconds, mib = least_cost([HALCYON, "recover", parts], directory, lambda: profile.unlink(missing_ok=True))
        cells = [f"{ranks}", f"{len(list(parts.iterdir()))}", f"{space_of(parts) / 1e9:.2f} GB", f"{seconds:.2f}",
                 f"{mib:.0f}"]
        shutil.rmtree(parts)
        for words in READERS:
            seconds, mib = least_cost([HALCYON, *words, profile], directory)
            cells += [f"{seconds:.2f}", f"{mib:.0f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


def merging(all_ranks, all_segments):
    print("| ranks | segments | rank 0, CPU ms | rank 0, KiB | another rank, CPU ms (mean) | another rank, KiB |")
    print("|---|---|---|---|---|---|")
    for segments in all_segments:
        for ranks in all_ranks:
            runs = [json.loads(subprocess.run(["nice", MANY_RANKS, "merge", str(ranks), str(segments)], check=True,
                                              capture_output=True, text=True).stdout) for _ in range(REPEATS)]
            least = {key: min(run[key] for run in runs) for key in runs[0]}
            print(f"| {ranks} | {segments} | {1e3 * least['root_seconds']:.1f} | {least['root_bytes'] / 1024:.0f} | "
                  f"{1e3 * least['mean_seconds']:.2f} | {least['other_bytes'] / 1024:.0f} |", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--most-ranks", type=int, default=100_000, metavar="N")
    options.add_argument("--directory", type=Path, metavar="DIR", help="where parts are written; default: a temporary one")
    chosen = options.parse_args()
    print(machine().rpartition(",")[0] + "\n")
    with tempfile.TemporaryDirectory(prefix="halcyon-scale-", dir=chosen.directory) as directory:
        recovering(Path(directory), [ranks for ranks in (1000, 10_000, 100_000) if ranks <= chosen.most_ranks])
    print()
    merging([ranks for ranks in (16, 64, 256, 1024, 4096) if ranks <= chosen.most_ranks], [100, 1000])
    print()
    merging([16, 64], [10_000, 100_000])


if __name__ == "__main__":
    main()
