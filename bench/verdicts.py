#!/usr/bin/python3
"""How near one run's estimate comes to the measured increase of the run time, on LAMMPS programs.

usage: bench/verdicts.py [--runs N] [PROGRAM...]        programs: lj peptide crack shear

Quiet and disturbed runs alternate. "measured" is a run's time above the fastest quiet one, in percent of the run's own
time; it contains whatever else the machine did meanwhile. Prints a Markdown table; never passes or fails.
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
HALCYON = SOURCE / "build" / "release" / "bin" / "halcyon"
PACKAGED = Path("/usr/share/lammps/examples")
PROGRAMS = {"lj": (SOURCE / "examples", "lj.in"),
            **{name: (PACKAGED / name, f"in.{name}") for name in ("peptide", "crack", "shear")}}
SPEC = "class=all,prob=0.0003,mean=50ms,sd=5ms"


def run(program, disturbed, seed):
    inputs, script = PROGRAMS[program]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "INTM_SEED": str(seed)}
    with tempfile.TemporaryDirectory() as directory:
        for path in inputs.iterdir():
            if path.is_file():
                shutil.copy(path, directory)
        inject = ["--inject", SPEC] if disturbed else []
        subprocess.run([HALCYON, "run", "-o", "run.h5", *inject, "--", "mpirun", "-np", "2", "lmp", "-in", script,
                        "-log", "none", "-screen", "none"], cwd=directory, env=environment, check=True, capture_output=True)
        report = subprocess.run([HALCYON, "report", "--json", "-", "run.h5"], cwd=directory, check=True,
                                capture_output=True, text=True)
        return json.loads(report.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="quiet and disturbed runs of each program (default 3)")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM", help=" ".join(PROGRAMS))
    arguments = parser.parse_args()
    for program in arguments.programs:
        if program not in PROGRAMS:
            parser.error(f"'{program}' is none of {' '.join(PROGRAMS)}")

    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, 2 ranks; injected: `{SPEC}`\n")
    print("| program | run | run time s | measured % | paper % | mode % | 90 % interval | injected % | coverage % | verdict |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for program in arguments.programs:
        reports = [(kind, run(program, kind == "disturbed", seed))
                   for seed in range(1, arguments.runs + 1) for kind in ("quiet", "disturbed")]
        fastest = min(report["run_time_seconds"] for kind, report in reports if kind == "quiet")
        for kind, report in sorted(reports, key=lambda item: item[0], reverse=True):
            time = report["run_time_seconds"]
            low, high = report["interference_interval_percent"]
            paper, mode = (report["methods"][name]["interference_percent"] for name in ("paper", "mode"))
            injected = "–" if report["injected_percent"] is None else f"{report['injected_percent']:.1f}"
            print(f"| {program} | {kind} | {time:.2f} | {100 * (time - fastest) / time:.1f} | {paper:.1f} | {mode:.1f} | "
                  f"{low:.1f}–{high:.1f} | {injected} | {report['coverage_percent']:.1f} | {report['verdict']} |", flush=True)


if __name__ == "__main__":
    main()
