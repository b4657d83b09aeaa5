#!/usr/bin/python3
"""Writes docs/performance.md: what Halcyon costs, the budget of each figure, and how costs grow.

usage: bench/performance.py [--pairs N] [--beside NAME=LIBRARY ...]

Takes some 30 minutes on an otherwise idle machine. Recorded and unrecorded runs alternate in one session. Never passes or
fails. The page's section on figures above their budget is written by hand and is kept, and so is the comparison with
other tools unless they are named.
"""
import argparse
import contextlib
import json
import re
import statistics
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from recording_cost import LIBRARY, compare, interval_of_median
from programs import BUILD, PROGRAMS, RANKS, SOURCE, Program, environment, machine, prepare

PAGE = SOURCE / "docs" / "performance.md"
CALLS = BUILD / "bench" / "calls"
HALCYON = BUILD / "bin" / "halcyon"
HPCC = Program("hpcc", "HPCC 1.5, the packaged input on a grid of 1 × 2 ranks", ["hpcc"])
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
DILATED = [next(p for p in PROGRAMS if p.name == "melt"), next(p for p in PROGRAMS if p.name == "cg"), HPCC]
REPEATS = 7
WHY, GROWTH = "Above the budget, and why:", "## How costs grow"
OTHER_TOOLS, PIECES = "## Beside other tools", "## The pieces"
BESIDE = ("The tools are preloaded into the same program in turn. They do different things: mpiP counts and\n"
          "times calls by call site, IPM by call, size and partner. Halcyon counts, times and sums volumes by\n"
          "segment, and a barrier ends a segment. A figure is the median of "
          f"{REPEATS} runs. Each run gives its smallest time.")


def say(text):
    print(text, file=sys.stderr, flush=True)


def timed(command, **options):
    """Wall time in seconds and resident memory in KiB of a command."""
    finished = subprocess.run(["/usr/bin/time", "-f", "%e %M", *[str(word) for word in command]], env=environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True, **options)
    seconds, kib = finished.stderr.split()[-2:]
    return float(seconds), int(kib)


def calls(directory, what, count, ranks=1, **settings):
    """The figures of bench/calls; recorded with the settings, if any are given."""
    words = ["mpirun", "--oversubscribe", "-np", str(ranks)]
    profile = directory / "calls.h5"
    profile.unlink(missing_ok=True)
    if settings:
        settings = {"LD_PRELOAD": LIBRARY, "HALCYON_OUTPUT": profile, "HALCYON_BOUNDARY_RANKS": 1, **settings}
        for name, value in settings.items():
            words += ["-x", f"{name}={value}"]
    return figures_of([*words, str(CALLS), what, str(count)], directory)


def figures_of(command, directory):
    """The line of JSON that the command prints among other output. Files that it writes go to the directory."""
    finished = subprocess.run([str(word) for word in command], env=environment(), cwd=directory, capture_output=True,
                              text=True, check=True)
    return json.loads(next(line for line in finished.stdout.splitlines() if line.startswith('{"')))


def added_by(directory, what, count, **settings):
    """Nanoseconds per call without recording, and what recording adds: medians over alternating runs."""
    plain, recorded = [], []
    for _ in range(REPEATS):
        plain.append(calls(directory, what, count)["ns"])
        recorded.append(calls(directory, what, count, **settings)["ns"])
    added = [b - a for a, b in zip(plain, recorded)]
    return statistics.median(plain), statistics.median(added), interval_of_median(added)


def row(what, without, figure, budget):
    return f"| {what} | {without} | {figure} | {budget} |"


def cost_of_calls(directory):
    rows = []
    for what, kind, count, settings, budget in (
            ("a point-to-point call, no counter", "send", 10_000_000, {"HALCYON_COUNTER": "none"}, "≤ 20 ns"),
            ("a point-to-point call, CPU time", "send", 10_000_000, {"HALCYON_COUNTER": "cpu"}, "≤ 25 ns"),
            ("a poll that finds nothing", "poll", 10_000_000, {"HALCYON_COUNTER": "cpu"}, "≤ 5 ns"),
            ("a poll after 30 ns of work", "poll-30ns", 10_000_000, {"HALCYON_COUNTER": "cpu"}, "≤ 5 ns"),
            ("a boundary, all features, CPU time", "segments", 1_000_000, {"HALCYON_COUNTER": "cpu"}, "≤ 200 ns")):
        say(what)
        plain, added, (low, high) = added_by(directory, kind, count, **settings)
        rows.append(row(f"added to {what}", f"{plain:.0f} ns", f"**{added:.0f} ns** ({low:.0f} to {high:.0f})", budget))
    return rows


def cost_of_live(directory):
    """What the live record adds to recorded calls, alone and with a watcher, in runs without and with them by turns."""
    rows = []
    for what, kind, count, budget in (("a recorded point-to-point call", "send", 10_000_000, "≤ 1 ns"),
                                      ("a recorded boundary", "segments", 1_000_000, "≤ 10 ns")):
        say(f"live record: {what}")
        off, on, watched = [], [], []
        for _ in range(REPEATS):
            off.append(calls(directory, kind, count, HALCYON_COUNTER="cpu", HALCYON_LIVE="off")["ns"])
            on.append(calls(directory, kind, count, HALCYON_COUNTER="cpu", HALCYON_LIVE="on")["ns"])
            with watcher():
                watched.append(calls(directory, kind, count, HALCYON_COUNTER="cpu", HALCYON_LIVE="on")["ns"])
        for by, ns in (("the live record", on), ("the live record, while `halcyon watch` looks at it", watched)):
            added = [with_it - without for without, with_it in zip(off, ns)]
            low, high = interval_of_median(added)
            rows.append(row(f"added to {what} by {by}", f"{statistics.median(off):.0f} ns",
                            f"**{statistics.median(added):.1f} ns** ({low:.1f} to {high:.1f})", budget))
    return rows


@contextlib.contextmanager
def watcher():
    with subprocess.Popen([HALCYON, "watch", "--all"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as watching:
        try:
            yield
        finally:
            watching.terminate()


def beside(directory, libraries):
    """What the libraries of other tools add to the same calls, in runs that alternate with ours."""
    halcyon = {"HALCYON_OUTPUT": directory / "beside.h5", "HALCYON_BOUNDARY_RANKS": 1, "HALCYON_COUNTER": "cpu"}
    tools = [("nothing", None, {}), ("Halcyon, CPU time", LIBRARY, halcyon),
             *((name, Path(library).resolve(), {"IPM_REPORT": "none"}) for name, library in libraries)]
    took = {name: {"send": [], "segments": []} for name, _, _ in tools}
    for _ in range(REPEATS):
        for name, library, settings in tools:
            say(f"beside: {name}")
            for what, count in (("send", 1_000_000), ("segments", 300_000)):
                (directory / "beside.h5").unlink(missing_ok=True)
                preload = {} if library is None else {"LD_PRELOAD": library, **settings}
                exported = [word for item in preload.items() for word in ("-x", f"{item[0]}={item[1]}")]
                took[name][what].append(figures_of(["mpirun", "-np", "1", *exported, CALLS, what, count], directory)["ns"])
    plain = {what: statistics.median(ns) for what, ns in took["nothing"].items()}
    lines = ["| preloaded | added to a point-to-point call, ns | to a barrier on one rank, ns |", "|---|---|---|"]
    for name, _, _ in tools[1:]:
        added = [statistics.median(took[name][what]) - plain[what] for what in ("send", "segments")]
        lines.append(f"| {name} | {added[0]:.0f} | {added[1]:.0f} |")
    return lines


def kept(first, next_one):
    """The lines of the present page from one heading up to another."""
    text = PAGE.read_text() if PAGE.exists() else ""
    begin, end = text.find(first), text.find(next_one)
    return text[begin:end].rstrip().split("\n") + [""] if 0 <= begin < end else []


def dilation(directory, pairs):
    rows = []
    for program in DILATED:
        say(f"{program.name}: {pairs} pairs")
        scratch = directory / program.name
        prepare(program, scratch)
        if program is HPCC:
            # The packaged input has four ranks, which would share the processors of this machine.
            (scratch / "hpccinf.txt").write_text(re.sub(r"^2( +Ps)$", r"1\1", HPCC_INPUT.read_text(), flags=re.M))
        found = compare(["mpirun", "-np", RANKS, *program.command], scratch, pairs)
        rows.append(row(f"run time of {program.what}", f"{found.plain_seconds:.2f} s",
                        f"**{found.percent:+.2f} %** ({found.low:+.2f} to {found.high:+.2f}, {pairs} pairs)", "≤ 0.5 %"))
    say("the shortest run")
    found = compare(["mpirun", "-np", RANKS, CALLS, "send", "1000"], directory, pairs)
    rows.append(row("added to a run that does nothing: start, merge, writing the profile", f"{found.plain_seconds:.2f} s",
                    f"**{found.percent / 100 * found.plain_seconds * 1000:.0f} ms**", "–"))
    return rows


def memory(directory):
    say("memory of a segment")
    less, more = (calls(directory, "segments", count, HALCYON_COUNTER="cpu") for count in (100_000, 1_100_000))
    bytes_per_segment = 1024 * (more["grown_kib"] - less["grown_kib"]) / 1_000_000
    return [row("memory of a segment on a rank", "–", f"**{bytes_per_segment:.1f} B**", "≤ 32 B")]


def finalize(directory):
    rows = []
    for ranks, segments, budget in ((64, 100_000, "≤ 3 s"), (4, 5_000_000, "–")):
        say(f"MPI_Finalize of {ranks} ranks x {segments} segments")
        took = [calls(directory, "segments", segments, ranks, HALCYON_COUNTER="cpu") for _ in range(3)]
        rows.append(row(f"MPI_Finalize, {ranks} ranks × {segments} segments", "–",
                        f"**{statistics.median(t['finalize_seconds'] for t in took):.2f} s**, "
                        f"{statistics.median(t['finalize_kib'] for t in took) / 1024:.0f} MiB more on rank 0", budget))
    return rows


def growth_with_ranks(directory):
    lines = ["| ranks | MPI_Finalize, s | memory in it, rank 0, MiB |", "|---|---|---|"]
    for ranks in (2, 4, 8, 16, 32, 64):
        say(f"{ranks} ranks")
        told = calls(directory, "segments", 100_000, ranks, HALCYON_COUNTER="cpu")
        lines.append(f"| {ranks} | {told['finalize_seconds']:.2f} | {told['finalize_kib'] / 1024:.0f} |")
    return lines


def growth_with_segments(directory):
    lines = ["| segments | a segment without, ns | recorded, ns | MPI_Finalize, s | memory, B a segment |", "|---|---|---|---|---|"]
    for count in (10**3, 10**4, 10**5, 10**6, 10**7):
        say(f"{count} segments")
        plain = [calls(directory, "segments", count)["ns"] for _ in range(3)]
        told = [calls(directory, "segments", count, HALCYON_COUNTER="cpu") for _ in range(3)]
        lines.append(f"| 10^{len(str(count)) - 1} | {min(plain):.0f} | {min(t['ns'] for t in told):.0f} "
                     f"| {statistics.median(t['finalize_seconds'] for t in told):.2f} "
                     f"| {1024 * told[0]['grown_kib'] / count:.1f} |")
    return lines


def reports(directory):
    """`halcyon report` on profiles of growing size, compared with numpy, which reads the same file and sorts durations."""
    numpy = ("import h5py, numpy, sys; f = h5py.File(sys.argv[1]); c = [f[n][...] for n in f if f[n].dtype.kind != 'O'];"
             "numpy.argsort(f['duration'][...]); print(numpy.median(f['duration'][...]))")
    lines = ["| segments | `halcyon report`, s | resident, MiB | numpy: read all, sort durations, s | resident, MiB |", "|---|---|---|---|---|"]
    budget = None
    for count in (10**3, 10**4, 10**5, 10**6, 10**7):
        say(f"report on {count} segments")
        profile = directory / f"large{count}.h5"
        subprocess.run([BUILD / "bench" / "large_profile", str(count), profile], check=True)
        by_halcyon, by_numpy = [], []
        for _ in range(3):
            by_halcyon.append(timed([HALCYON, "report", profile]))
            by_numpy.append(timed(["/usr/bin/python3", "-c", numpy, profile]))
        ours = (statistics.median(t for t, _ in by_halcyon), max(m for _, m in by_halcyon) / 1024)
        theirs = (statistics.median(t for t, _ in by_numpy), max(m for _, m in by_numpy) / 1024)
        lines.append(f"| 10^{len(str(count)) - 1} | {ours[0]:.2f} | {ours[1]:.0f} | {theirs[0]:.2f} | {theirs[1]:.0f} |")
        budget = row("`halcyon report` on 10 M segments", f"numpy {theirs[0]:.1f} s, {theirs[1]:.0f} MiB",
                     f"**{ours[0]:.1f} s, {ours[1]:.0f} MiB**", "≤ 3 s, ≤ 1 GiB")
        profile.unlink()
    return lines, [budget]


def large_runs(directory):
    """What is made of large runs: a report of many groups, the page of many ranks, a trace."""
    def profile(*words):
        path = directory / "large.h5"
        path.unlink(missing_ok=True)
        subprocess.run([BUILD / "bench" / "large_profile", words[0], path, *words[1:]], check=True)
        return path

    def megabytes(name):
        return (directory / name).stat().st_size / 1e6

    say("a report of many groups")
    many_groups = profile("1000000", "1000")
    took = [timed([HALCYON, "report", many_groups]) for _ in range(3)]
    rows = [row("`halcyon report` on 1 M segments in 1000 groups", "–",
                f"**{statistics.median(seconds for seconds, _ in took):.2f} s**", "≤ 1 s")]
    say("a page of many ranks")
    many_ranks = profile("10000000", "3", "100000")
    seconds, kib = timed([HALCYON, "report", "--html", directory / "large.html", many_ranks])
    rows.append(row("HTML of 10 M segments on 100 000 ranks", "–",
                    f"**{megabytes('large.html'):.2f} MB**, {seconds:.1f} s, {kib / 1024:.0f} MiB", "≤ 3 MB"))
    for groups_and_ranks, what in (((), "in 2 groups on one rank"), (("100", "1000"), "in 100 groups on 1000 ranks")):
        say(f"a trace of 10 M segments {what}")
        large = profile("10000000", *groups_and_ranks)
        seconds, _ = timed([HALCYON, "export", "--perfetto", directory / "large.pftrace", large])
        rows.append(row(f"Perfetto trace of 10 M segments {what}", "–",
                        f"**{megabytes('large.pftrace'):.0f} MB**, {seconds:.0f} s", "≤ 300 MB"))
    return rows


def pieces():
    """The tables of Google Benchmark, as it prints them."""
    blocks = []
    for name in ("bench_recorder", "bench_analysis"):
        program = BUILD / "bench" / name
        if not program.exists():
            blocks.append(f"{name} is not built: libbenchmark-dev is missing")
            continue
        say(name)
        finished = subprocess.run([program, "--benchmark_min_time=0.1", "--benchmark_color=false"], capture_output=True,
                                  text=True, check=True)
        blocks.append(finished.stdout.rstrip())
    return blocks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=21, help="number of pairs of runs of whole programs")
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=LIBRARY",
                        help="library of another tool, which is measured in turn with ours")
    options = parser.parse_args()
    if not CALLS.exists():
        sys.exit(f"{CALLS} is missing: cmake --build --preset release --target bench")
    pairs = options.pairs
    others = [word.partition("=")[::2] for word in options.beside]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        table = cost_of_calls(directory) + cost_of_live(directory) + dilation(directory, pairs) + memory(directory) + finalize(directory)
        by_size, report_row = reports(directory)
        page = [
            "# What it costs", "",
            "For those who want to know what recording costs before they record.", "",
            f"Made by `bench/performance.py` on {date.today()}: {machine()}, a virtual machine whose neighbours are not known.",
            "Recorded and unrecorded runs alternate within one session. A figure is the median; in brackets is its",
            "95 % interval, which assumes no distribution. Google Benchmark measures the pieces.", "",
            "| what | without Halcyon | figure | budget |", "|---|---|---|---|", *table, *report_row, *large_runs(directory), "",
            *kept(WHY, GROWTH), GROWTH, "", "One rank with more and more segments, each with a different amount of work:", "",
            *growth_with_segments(directory), "",
            "Memory is the rank's peak memory, minus that of the same run without Halcyon. The probes use a few MiB before",
            "the run and free them, so the memory of less than a million segments does not show.", "",
            f"More and more ranks of 100 000 segments each, on {machine().split()[0]} processors:", "",
            *growth_with_ranks(directory), "", "More and more segments in a profile:", "", *by_size, "",
            *([OTHER_TOOLS, "", BESIDE, "", *beside(directory, others), ""] if others else kept(OTHER_TOOLS, PIECES)),
            PIECES, ""]
        for block in pieces():
            page += ["```", block, "```", ""]
    PAGE.write_text("\n".join(page))
    print("\n".join(page[6:20]))
    say(f"written: {PAGE}")


if __name__ == "__main__":
    main()
