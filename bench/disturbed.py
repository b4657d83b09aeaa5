#!/usr/bin/python3
"""How near the estimates come beside real disturbers, on all real programs: a Markdown table on standard output.

usage: bench/disturbed.py [--runs DIR] [--rounds N] [PROGRAM...]

`halcyon validate` with a run beside each disturber of programs.py in each round, and quiet ones in between. DIR (default
build/disturbed) keeps what was measured; what is there already is not made again. Never passes or fails.
"""
import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from programs import BUILD, DISTURBERS, FURTHER_PROGRAMS, PROGRAMS, RANKS, SOURCE, environment, machine, prepare


def validated(directory, program, disturbers, rounds):
    if not (directory / "validation.json").exists():
        shutil.rmtree(directory, ignore_errors=True)
        scratch = directory.with_name(directory.name + ".inputs")
        prepare(program, scratch)
        print(directory, file=sys.stderr)
        beside = [word for disturber in disturbers for word in ("--disturb", disturber)]
        finished = subprocess.run([BUILD / "bin" / "halcyon", "validate", "-o", directory, "--levels", "1", "--runs",
                                   str(rounds), *beside, "--anyway", "--", "mpirun", "-np", str(RANKS), *program.command],
                                  cwd=scratch, env=environment(), stdout=subprocess.DEVNULL, check=False)
        if finished.returncode != 0 and not (directory / "validation.json").exists():
            return None  # it was told why
    return json.loads((directory / "validation.json").read_text())


def line(what, where, validation):
    if validation is None:
        return f"| {what} | {where} |" + " – |" * 7
    runs = validation["runs"]
    quiet = [run for run in runs if run["kind"] == "quiet"]
    method, of = next((name, truths["paired"]) for name, truths in validation["methods"].items())
    red = sum(run["methods"][method]["verdict"] == "red" for run in quiet)
    known = validation["noise"]["uncertainty_interval_points"]
    cells = [what, where, "yes" if validation["valid"] else "**no**", f"{known[0]:.1f}–{known[1]:.1f}" if known else "–",
             f"{of['judged']} of {len(runs)}"]
    if of["judged"] == 0:
        return "| " + " | ".join(cells) + " | – | – | – | – |"
    cells += [f"{of['accuracy']['median']:.3f} / {of['accuracy']['min']:.2f}", f"{of['difference_points']['p90']:.1f}",
              f"{of['interval_coverage_percent']:.0f} / {of['interval_coverage_as_known_percent']:.0f}", f"{red} of {len(quiet)}"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=SOURCE / "build" / "disturbed", help="where what was measured is kept")
    parser.add_argument("--rounds", type=int, default=1, help="runs beside each disturber")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="all but these are left out")
    arguments = parser.parse_args()
    runs = arguments.runs.resolve()
    runs.mkdir(parents=True, exist_ok=True)
    print(f"{machine()}.\n")
    print("| program | series | valid | truth known to, points | judged | accuracy by pairs, median / least "
          "| difference p90 | interval holds %, as it is / as truth is known | red on quiet runs |")
    print("|---" * 9 + "|")
    for program in PROGRAMS + FURTHER_PROGRAMS:
        if arguments.programs and program.name not in arguments.programs:
            continue
        for where, disturbers in DISTURBERS.items():
            directory = runs / f"{program.name}-{where.replace(' ', '-')}"
            print(line(program.what, where, validated(directory, program, disturbers, arguments.rounds)), flush=True)


if __name__ == "__main__":
    main()
