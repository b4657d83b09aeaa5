#!/usr/bin/python3
"""Prints the tables of docs/families.md: which behaviours each MPI family shows, and what recording costs there.

usage: bench/families.py [--without NAME]... [--cost-only | --behaviours-only] [--before BUILD]

Behaviours are those that tests/CMakeLists.txt registers with EVERY_MPI. The cost is measured by turns without the
recorder, with it, and, if --before names another build directory, with that of an earlier state, on one rank. The least
time of each counts: whatever else runs on the machine only adds to it.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HALCYON_BUILD_DIR", SOURCE / "build/release")).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
from halcyon_test.mpi_family import FAMILIES  # noqa: E402

TURNS = 15
CALLS = {"send": 1_000_000, "segments": 100_000, "poll": 200_000, "poll-30ns": 200_000}  # some 20 ms
TIME_LIMIT = 900  # seconds; of a behaviour


def say(text):
    print(text, file=sys.stderr, flush=True)


def environment_of(family):
    return {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", "HALCYON_BUILD_DIR": str(BUILD), **family.environment}


# -- behaviours

def behaviours():
    lines = (SOURCE / "tests/CMakeLists.txt").read_text()
    return re.findall(r"^halcyon_behaviour\((\w+) [^)]*EVERY_MPI", lines, re.M)


def outcome(behaviour, name, family):
    """What a cell of the table says of a behaviour."""
    try:
        finished = subprocess.run([SOURCE / "tests/run", behaviour], capture_output=True, text=True, check=False,
                                  env={**environment_of(family), "HALCYON_TEST_MPI": name}, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return "**hangs**"
    said = finished.stdout + finished.stderr
    if reason := re.search(r"^skipped: (.*)$", said, re.M):
        return f"skipped: {reason[1]}"
    ran = int((re.search(r"^Ran (\d+) test", said, re.M) or [0, 0])[1])
    counts = {what: int(number) for what, number in re.findall(r"(failures|errors|skipped)=(\d+)", said.splitlines()[-1])}
    failed, skipped = counts.get("failures", 0) + counts.get("errors", 0), counts.get("skipped", 0)
    return ", ".join([str(ran - failed - skipped), *([f"{skipped} skipped"] if skipped else []),
                      *([f"**{failed} failed**"] if failed else [])])


def table_of_behaviours(without):
    rows = [["behaviour", *(family.name for family in FAMILIES.values())]]
    for behaviour in behaviours():
        if behaviour in without:
            continue
        rows.append([behaviour])
        for name, family in FAMILIES.items():
            rows[-1].append(outcome(behaviour, name, family))
            say(f"{behaviour} with {family.name}: {rows[-1][-1]}")
    return rows


# -- cost

def nanoseconds(family, what, build):
    """Of a call, recorded by the library of this build, or without a library."""
    words = family.launch(1)
    if build is not None:
        settings = {"LD_PRELOAD": build / "lib" / f"libhalcyon{family.suffix}.so", "HALCYON_OUTPUT": "/dev/null/none.h5",
                    "HALCYON_BOUNDARY_RANKS": 1, "HALCYON_COUNTER": "cpu"}
        for name, value in settings.items():
            words += family.exported(name, value)
    program = BUILD / f"bench{family.programs}" / "calls"
    finished = subprocess.run([*words, str(program), what, str(CALLS[what])], capture_output=True, text=True,
                              check=True, env={**environment_of(family), "OMPI_MCA_mpi_yield_when_idle": "0"})
    return json.loads(next(line for line in finished.stdout.splitlines() if line.startswith('{"')))["ns"]


def table_of_costs(before):
    builds = [None, *([before] if before else []), BUILD]
    rows = [["added to", *(family.name for family in FAMILIES.values())]]
    for what, label in (("send", "a point-to-point call, with CPU time"), ("segments", "a boundary, all features"),
                        ("poll", "a poll that finds nothing"), ("poll-30ns", "a poll after 30 ns of work")):
        rows.append([label])
        for family in FAMILIES.values():
            turns = [[nanoseconds(family, what, build) for build in builds] for _ in range(TURNS)]
            bare, *recorded = (min(times) for times in zip(*turns))
            *old, new = (f"{time - bare:.1f} ns" for time in recorded)
            rows[-1].append("".join(f"{each} before, " for each in old) + f"{new} of {bare:.1f}")
            say(f"{label} with {family.name}: {rows[-1][-1]}")
    return rows


def markdown(rows):
    head, *others = rows
    lines = [head, ["---"] * len(head), *others]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", action="append", default=[], help="leave a behaviour out")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--cost-only", action="store_true")
    which.add_argument("--behaviours-only", action="store_true")
    parser.add_argument("--before", type=Path, metavar="BUILD", help="also measure the recorder of this build directory")
    arguments = parser.parse_args()
    if not arguments.behaviours_only:
        print(markdown(table_of_costs(arguments.before)) + "\n")
    if not arguments.cost_only:
        print(markdown(table_of_behaviours(arguments.without)))


if __name__ == "__main__":
    main()
