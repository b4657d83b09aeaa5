#!/usr/bin/python3
"""What known runs add, on all real programs: a Markdown table on standard output.

usage: bench/known.py [--runs DIR] [PROGRAM...]

Each program runs quietly three times, so that it is known. Then it runs with disturbers that slow the whole run down
evenly or switch every second, with a quiet run before each. The truth is that by parts of bench/disturbed.py. DIR
(default build/known) keeps the runs, and what is there already is not run again. Never passes or fails.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

from disturbed import AS_WELL, UNDISTURBED, estimated_with_known, quantile, seconds_of_parts
from programs import BUILD, FURTHER_PROGRAMS, PROGRAMS, RANKS, SOURCE, environment, machine, prepare

DISTURBERS = ("memory:periodic:1s,1s", "memory", "cpu")
SERIES = ("quiet", "quiet", "quiet", *(kind for disturber in DISTURBERS for kind in ("quiet", disturber)))


def recorded(program, directory):
    """The profiles in the order of SERIES, recorded with their own state directory."""
    profiles = [directory / f"{number}.h5" for number in range(len(SERIES))]
    scratch = directory / "inputs"
    if not all(profile.exists() for profile in profiles):
        prepare(program, scratch)
    for profile, disturber in zip(profiles, SERIES):
        if profile.exists():
            continue
        print(profile, file=sys.stderr)
        run = [BUILD / "bin" / "halcyon", "run", "-o", profile, "--", "mpirun", "-np", str(RANKS), *program.command]
        if disturber != "quiet":
            run = [BUILD / "bin" / "halcyon", "disturb", disturber, "--", *run]
        subprocess.run(run, cwd=scratch, env={**environment(), "XDG_STATE_HOME": str(directory / "state")},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return profiles


def reported(profile, *options):
    finished = subprocess.run([BUILD / "bin" / "halcyon", "report", profile, *options, "--json", "-"], stdout=subprocess.PIPE,
                              check=True)
    return json.loads(finished.stdout)


def words(verdict, percent, interval):
    return f"{'unknown, ' if verdict == 'unknown' else ''}{percent:.1f} ({interval[0]:.1f}–{interval[1]:.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=SOURCE / "build" / "known", help="directory that keeps the runs")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="only these programs. Default: all")
    arguments = parser.parse_args()
    print(f"{machine()}.\n")
    print("| program | run | time s | truth by parts % | with known runs % (90 %) | without % (90 %) | warnings of probes |")
    print("|---" * 7 + "|")
    for program in PROGRAMS + FURTHER_PROGRAMS:
        if arguments.programs and program.name not in arguments.programs:
            continue
        directory = arguments.runs.resolve() / program.name
        directory.mkdir(parents=True, exist_ok=True)
        profiles = recorded(program, directory)
        parts = [seconds_of_parts(profile)[1] for profile in profiles]
        undisturbed, low, high = (sum(quantile(of_part, share) for of_part in zip(*parts)) for share in (UNDISTURBED, *AS_WELL))
        known = estimated_with_known(profiles)
        for number, (profile, disturber, seconds, estimate) in enumerate(zip(profiles, SERIES, parts, known)):
            if number < 2:
                continue
            report = reported(profile)
            codes = [warning["code"] for warning in report["warnings"] if warning["code"].startswith("slow-")]
            known_to = 50 * (high - low) / sum(seconds)
            alone = reported(profile, "--no-baseline")
            print(f"| {program.name} | {disturber} | {report['run_time_seconds']:.2f} "
                  f"| {100 * (1 - undisturbed / sum(seconds)):.1f} ± {known_to:.1f} | {words(*estimate)} "
                  f"| {words(alone['verdict'], alone['interference_percent'], alone['interference_interval_percent'])} | {', '.join(codes) or '–'} |", flush=True)


if __name__ == "__main__":
    main()
