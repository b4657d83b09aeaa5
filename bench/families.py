#!/usr/bin/python3
"""Prints the tables of docs/families.md: which behaviours each MPI family shows, and what recording costs there.

usage: bench/families.py [--without NAME]... [--cost-only | --behaviours-only]

Behaviours are those that tests/CMakeLists.txt registers with EVERY_MPI. The cost is measured with and without the
recorder by turns, on one rank.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HALCYON_BUILD_DIR", SOURCE / "build/release")).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
from halcyon_test.mpi_family import FAMILIES  # noqa: E402

PAIRS = 7
CALLS = {"send": 10_000_000, "segments": 1_000_000, "poll": 10_000_000, "poll-30ns": 10_000_000}
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

def nanoseconds(family, what, recorded):
    words = family.launch(1)
    if recorded:
        library = BUILD / "lib" / f"libhalcyon{family.suffix}.so"
        settings = {"LD_PRELOAD": library, "HALCYON_OUTPUT": "/dev/null/none.h5", "HALCYON_BOUNDARY_RANKS": 1,
                    "HALCYON_COUNTER": "cpu"}
        for name, value in settings.items():
            words += family.exported(name, value)
    program = BUILD / f"bench{family.programs}" / "calls"
    finished = subprocess.run([*words, str(program), what, str(CALLS[what])], capture_output=True, text=True,
                              check=True, env=environment_of(family))
    return json.loads(next(line for line in finished.stdout.splitlines() if line.startswith('{"')))["ns"]


def table_of_costs():
    rows = [["added to", *(family.name for family in FAMILIES.values())]]
    for what, label in (("send", "a point-to-point call, with CPU time"), ("segments", "a boundary, all features"),
                        ("poll", "a poll that finds nothing"), ("poll-30ns", "a poll after 30 ns of work")):
        rows.append([label])
        for family in FAMILIES.values():
            pairs = [(nanoseconds(family, what, False), nanoseconds(family, what, True)) for _ in range(PAIRS)]
            added = sorted(recorded - bare for bare, recorded in pairs)
            rows[-1].append(f"{statistics.median(added):.0f} ns ({added[1]:.0f} to {added[-2]:.0f}) "
                            f"of {statistics.median(bare for bare, _ in pairs):.0f}")
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
    arguments = parser.parse_args()
    if not arguments.behaviours_only:
        print(markdown(table_of_costs()) + "\n")
    if not arguments.cost_only:
        print(markdown(table_of_behaviours(arguments.without)))


if __name__ == "__main__":
    main()
