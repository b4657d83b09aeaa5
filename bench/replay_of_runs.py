#!/usr/bin/env python3
"""Real runs in a ledger: a build that is planted to be slower and a period of hogs; are both told, and told apart?

usage: bench/replay_of_runs.py BUILD DIRECTORY [--rounds N] [--more PERCENT]

Six inputs of LAMMPS (Lennard-Jones, two ranks), one after the other, N rounds. In the second half, the first one needs
so many steps more under the same name and comes with another label, as a slower version would. From a quarter to a half
of the rounds, as many processes compute as there are processors. Prints what was planted and what `halcyon ledger
trend` says. DIRECTORY gets profiles and the ledger; runs that are there already are not made again. Never passes or
fails.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

WORKS, RANKS = 6, 2


def input_of(steps, edge):
    return f"""units lj
atom_style atomic
lattice fcc 0.6
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
fix 1 all nve
thermo 10
run {steps}
"""


class Hogs:
    """Busy processes."""

    def __init__(self):
        self.processes = []

    def keep(self, are_wanted):
        if are_wanted and not self.processes:
            self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                              for _ in range(os.cpu_count() or 1)]
        elif not are_wanted:
            for process in self.processes:
                process.kill()
                process.wait()
            self.processes = []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=18)
    parser.add_argument("--more", type=float, default=5.0)
    arguments = parser.parse_args()
    halcyon = arguments.build.resolve() / "bin" / "halcyon"
    arguments.directory.mkdir(parents=True, exist_ok=True)
    database = arguments.directory / "site.db"
    hogs = Hogs()
    half = arguments.rounds // 2
    when = {}  # of rounds
    try:
        for number in range(arguments.rounds):
            profiles = [arguments.directory / f"{number}-{work}.h5" for work in range(WORKS)]
            made = [profile.stat().st_mtime for profile in profiles if profile.exists()]
            when[number] = time.gmtime(min(made, default=time.time()))
            hogs.keep(half // 2 <= number < half and len(made) < WORKS)
            for work, profile in enumerate(profiles):
                if profile.exists():
                    continue
                is_slower = work == 0 and number >= half
                steps = 300 + 60 * work
                (arguments.directory / f"lj{work}.in").write_text(
                    input_of(round(steps * (1 + arguments.more / 100)) if is_slower else steps, 11 + work % 3))
                subprocess.run([halcyon, "run", "--no-baseline", "-o", profile.name, "--", "mpirun", "--oversubscribe",
                                "-np", str(RANKS), "lmp", "-in", f"lj{work}.in", "-log", "none"],
                               cwd=arguments.directory, check=True, stdout=subprocess.DEVNULL)
                subprocess.run([halcyon, "ledger", "add", "--database", database, "--label",
                                "v2" if is_slower else "v1", profile], check=True, stdout=subprocess.DEVNULL)
    finally:
        hogs.keep(False)
    told = json.loads(subprocess.run([halcyon, "ledger", "trend", "lmp", "--database", database, "--json", "-"],
                                     check=True, capture_output=True, text=True).stdout)

    def round_of(text):
        return sum(time.strftime("%Y-%m-%dT%H:%M:%SZ", start) <= text for start in when.values()) - 1

    print(f"planted: lj0.in needs {arguments.more:g} % more since round {half}; hogs in rounds {half // 2} to {half - 1}")
    print("| work | runs | told of the undisturbed time | of the loss |\n|---|---|---|---|")
    for work in sorted(told["works"], key=lambda one: one["command"]):
        changes = [f"{one['of']}, round {round_of(one['day'])}, {one['more_percent']:+.1f} % "
                   f"({one['more_interval_percent'][0]:.1f} to {one['more_interval_percent'][1]:.1f}), {one['label']}"
                   for one in work["changes"]]
        losses = [f"round {round_of(one['day'])}, {one['more_points']:+.0f} points" for one in work["losses"]]
        print(f"| {work['command'].split('-in ')[1].split()[0]} | {work['runs']} | {'; '.join(changes) or 'none'} "
              f"| {'; '.join(losses) or 'none'} |")
    print(f"{told['runs']} runs, {told['left_out_runs']} left out")


if __name__ == "__main__":
    main()
