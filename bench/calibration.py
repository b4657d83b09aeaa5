"""How well the intervals of real runs hold, as Markdown: coverage of 50, 80 and 90 % intervals, their width, confident
errors, and whether runs of one program agree.

    calibration.py DIRECTORY [--report COMMAND] [--programs]

DIRECTORY/CLASS/PROGRAM/ (or DIRECTORY/PROGRAM/) holds profiles of one program with the same input: quiet ones, q*.h5,
and others, d*.h5, with injected delays or beside other work. The truth of a run is its time above that of the quiet run
which took least without what the kernel says it lost to waits for a CPU: so it has what one run cannot see, a machine
that was slower all along. No constant of the analyzer is chosen by a class that is printed here, but for those that
--chosen names.
"""
import argparse
import json
import math
import statistics
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy

REPORT = Path(__file__).resolve().parents[1] / "build" / "release" / "bin" / "halcyon"
GREEN_BELOW, RED_ABOVE = 7.5, 15.0  # percent
ERROR_OF_TRUTH = 2.5  # percent: quiet runs of one program differ by so much on an idle machine
LEVELS = {50: 0.6745, 80: 1.2816, 90: 1.6449}  # normal quantiles


@dataclass
class Run:
    kind: str  # the class of its program
    program: str
    is_quiet: bool
    seconds: float
    lost_seconds: float  # to waits for a CPU, as the kernel says
    report: dict
    truth: float = math.nan  # percent

    @property
    def is_judged(self):
        return self.report["verdict"] != "unknown"

    def interval(self, level):
        """Between the estimate and each end of the 90 % interval, values follow one half of a normal law."""
        estimate = self.report["interference_percent"]
        scale = LEVELS[level] / LEVELS[90]
        return [estimate + scale * (end - estimate) for end in self.report["interference_interval_percent"]]

    def holds(self, level):
        low, high = self.interval(level)
        return low - ERROR_OF_TRUTH <= self.truth <= high + ERROR_OF_TRUTH

    def is_confident_error(self):
        verdict = self.report["verdict"]
        return (verdict == "red" and self.truth + ERROR_OF_TRUTH < GREEN_BELOW
                or verdict == "green" and self.truth - ERROR_OF_TRUTH > RED_ABOVE)


def probability_high(percent):
    return 1.0 / (1.0 + math.exp(-0.35 * (percent - 11.25)))


def lost_to_waits(profile):
    """Of the whole run; with few segments, at least what no rank could hide in waits for the others."""
    lost = float(numpy.nansum(profile["lost_to_cpu_wait"])) if "lost_to_cpu_wait" in profile else 0.0
    if "rank_mpi_time" in profile and "rank_cpu_wait" in profile and profile["duration"].shape[0] < 60:
        in_calls, waited = numpy.nan_to_num(profile["rank_mpi_time"]), numpy.nan_to_num(profile["rank_cpu_wait"])
        lost = max(lost, float((in_calls + waited).min() - in_calls.min()))
    return lost


def run_of(root, file, command):
    printed = subprocess.run([command, "report", file, "--json", "-"], capture_output=True, text=True, check=True)
    with h5py.File(file) as profile:
        return Run("/".join(file.relative_to(root).parts[:-2]), file.parent.name, file.name.startswith("q"),
                   float(profile.attrs["run_time_seconds"]), lost_to_waits(profile), json.loads(printed.stdout))


def add_truth(runs):
    quiet = [run.seconds - run.lost_seconds for run in runs if run.is_quiet]
    for run in runs:
        run.truth = 100.0 * (1.0 - min(quiet) / run.seconds) if quiet else math.nan


def disjoint_pairs(programs):
    pairs, disjoint = 0, 0
    for runs in programs:
        intervals = [run.report["undisturbed_interval_seconds"] for run in runs if run.is_judged]
        for i, (low, high) in enumerate(intervals):
            for other_low, other_high in intervals[:i]:
                pairs += 1
                disjoint += low > other_high or other_low > high
    return f"{100 * disjoint / pairs:.0f} ({pairs})" if pairs else "–"


def accuracy(run):
    """The paper, section 3, with a truth that is known to ERROR_OF_TRUTH."""
    estimate = run.report["interference_percent"]
    nearest = min(max(estimate, run.truth - ERROR_OF_TRUTH), run.truth + ERROR_OF_TRUTH)
    return 1.0 - abs(probability_high(nearest) - probability_high(estimate))


def row(name, programs):
    runs = [run for program in programs for run in program]
    judged = [run for run in runs if run.is_judged]
    always = sum(all(run.is_judged for run in program) for program in programs)
    cells = [name, f"{always} of {len(programs)}", f"{100 * len(judged) / len(runs):.0f} ({len(runs)})"]
    if judged:
        cells += [f"{100 * statistics.mean(run.holds(level) for run in judged):.0f}" for level in LEVELS]
        widths = [run.interval(90)[1] - run.interval(90)[0] for run in judged]
        cells += [f"{statistics.median(widths):.1f}", str(sum(run.is_confident_error() for run in judged)),
                  str(sum(run.is_quiet and run.report["verdict"] == "red" for run in judged)),
                  f"{statistics.median(map(accuracy, judged)):.3f}, {min(map(accuracy, judged)):.2f}"]
    else:
        cells += 7 * ["–"]
    print("| " + " | ".join(cells + [disjoint_pairs(programs)]) + " |")


def span(values):
    low, high = (f"{end:.2f}" for end in (min(values), max(values)))
    return low if low == high else f"{low}–{high}"


def program_row(name, runs):
    unit = runs[0].report["unit"]
    quiet = [run for run in runs if run.is_quiet]
    delayed = [run for run in runs if not run.is_quiet]
    cells = [name, str(runs[0].report["segments"]),
             f"{unit['segments']} × {unit['times']}" if unit else "–",
             f"{sum(run.is_judged for run in runs)} of {len(runs)}"]
    for some in quiet, delayed:
        judged = [run for run in some if run.is_judged]
        cells += [span([run.seconds for run in some]) if some else "–",
                  span([run.report["undisturbed_time_seconds"] for run in judged]) if judged else "–"]
    print("| " + " | ".join(cells) + " |")


def print_programs(by_program):
    print("\n| program | segments | unit of work: segments × times | judged | quiet runs took, s | undisturbed, s "
          "| delayed runs took, s | undisturbed, s |")
    print("|" + 8 * "---|")
    for (_, name), runs in sorted(by_program.items(), key=lambda one: one[0][1]):
        program_row(name, runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--report", default=REPORT, metavar="COMMAND", help="the halcyon that judges")
    parser.add_argument("--chosen", action="append", default=[], metavar="CLASS",
                        help="a class by whose runs constants were chosen: not in the sum")
    parser.add_argument("--programs", action="store_true", help="print a line for each program as well")
    options = parser.parse_args()
    files = sorted(options.directory.glob("**/[qd]*.h5"))
    if not files:
        parser.error(f"no profiles q*.h5 or d*.h5 below {options.directory}")
    with ThreadPoolExecutor() as threads:
        runs = list(threads.map(lambda file: run_of(options.directory, file, options.report), files))
    by_program = defaultdict(list)
    for run in runs:
        by_program[run.kind, run.program].append(run)
    by_kind = defaultdict(list)
    for (kind, _), of_program in sorted(by_program.items()):
        add_truth(of_program)
        by_kind[kind].append(of_program)
    print("| programs | always judged | runs judged, % (of) | 50 % intervals hold, % | 80 % | 90 % | width of 90 %, points, median "
          "| confident errors | quiet runs red | accuracy: median, least | pairs with disjoint undisturbed times, % (of) |")
    print("|" + 11 * "---|")
    if list(by_kind) != [""]:
        for kind, programs in by_kind.items():
            row(kind + (", chosen by" if kind in options.chosen else ""), programs)
    row("**all**", [one for kind, programs in by_kind.items() if kind not in options.chosen for one in programs])
    if options.programs:
        print_programs(by_program)


if __name__ == "__main__":
    main()
