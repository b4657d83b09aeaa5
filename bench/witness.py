#!/usr/bin/python3
"""How well `halcyon witness` names who had the CPUs of a program's ranks, as a Markdown table for docs/who.md.

    witness.py [--runs N]

`halcyon disturb` takes a CPU in bursts from conjugate gradients on two ranks (examples/cg), in every second run; the
truth is the CPU time that it says it used. Never passes or fails. Takes some ten seconds a run.
"""
import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import BUILD, environment

HALCYON = BUILD / "bin" / "halcyon"
PROGRAM = ["mpirun", "-np", "2", BUILD / "examples" / "cg"]
WORKED = re.compile(r"([\d.]+) (ms|s) of CPU time")


def run(command):
    words = [str(word) for word in command]
    return subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="of each kind")
    options = parser.parse_args()
    named, differences, costs, waits = 0, [], [], {True: [], False: []}
    with tempfile.TemporaryDirectory() as directory:
        told = Path(directory) / "who.json"
        for number in range(2 * options.runs):
            is_disturbed = number % 2 == 1
            disturbed = [HALCYON, "disturb", "--seed", str(number), "cpu:bursts", "--"] if is_disturbed else []
            finished = run([HALCYON, "witness", "--json", told, "--", *disturbed, *PROGRAM])
            seen = json.loads(told.read_text())
            waits[is_disturbed].append(seen["waited_seconds"] / seen["seconds"])
            costs.append(100 * seen["cpu_seconds"] / seen["seconds"])
            if not is_disturbed:
                continue
            amount, unit = WORKED.search(finished.stderr).groups()
            truth = float(amount) * (1e-3 if unit == "ms" else 1.0)
            by_disturber = sum(party["seconds"] for party in seen["parties"] if party["program"] == HALCYON.name)
            named += by_disturber == max(party["seconds"] for party in seen["parties"])
            differences.append(100 * (by_disturber - truth) / seen["seconds"])
            print(f"{number}: {by_disturber:.2f} s of {truth:.2f} s", file=sys.stderr)
    print("| disturbed runs | disturber named first, % | its seconds less those that it used, % of the run: median, "
          "least, most | cost of the witness, % of a core: median, most | ranks waited, % of the run: quiet, disturbed |")
    print("|---|---|---|---|---|")
    print(f"| {options.runs} | {100 * named / options.runs:.0f} | {statistics.median(differences):+.1f}, "
          f"{min(differences):+.1f}, {max(differences):+.1f} | {statistics.median(costs):.2f}, {max(costs):.2f} | "
          f"{100 * statistics.median(waits[False]):.1f}, {100 * statistics.median(waits[True]):.1f} |")


if __name__ == "__main__":
    main()
