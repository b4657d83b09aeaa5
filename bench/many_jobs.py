#!/usr/bin/python3
"""Runs many short jobs of mixed programs, some of them recorded, and says what became of them.

usage: bench/many_jobs.py [JOBS] [--seed N] [--families NAME,NAME]

By lot, half of the jobs are recorded, and a tenth has a full disk as TMPDIR and as the directory of the profile (needs
root: it is a file system in memory). A job is as it should be if its output and status are those of the program alone,
and if, recorded, it leaves a profile or a line that says why there is none.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HALCYON_BUILD_DIR", SOURCE / "build/release")).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
from halcyon_test.mpi_family import FAMILIES  # noqa: E402
from halcyon_test.processes import adopt_orphans, end_descendants  # noqa: E402

TIME_LIMIT = 120  # seconds
# Programs of examples/ and tests/, with their arguments, and how many ranks they have.
PROGRAMS = (("examples", "halo_c", "50", 2), ("examples", "halo_mpi", "50", 2), ("examples", "halo_f08", "50", 3),
            ("examples", "every_call", "", 2), ("tests", "hostile", "threads", 2), ("tests", "hostile", "early", 1),
            ("tests", "hostile", "jumps", 2), ("tests", "hostile", "handler", 2), ("tests", "storm", "abort 400", 1),
            ("tests", "storm", "lock 400", 2), ("tests", "rooted", "reduce-bcast", 2), ("tests", "many_sites", "", 2))


def run(family, words, environment, directory):
    settings = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                **family.environment, **environment}
    process = subprocess.Popen([str(word) for word in words], cwd=directory, env=settings, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        end_descendants()  # launchers put each rank into a session of its own
        output, errors = process.communicate()
        return "hangs", output, errors
    return process.returncode, "\n".join(sorted(output.splitlines())), errors


def full_disk(directory):
    full = directory / "full"
    full.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], check=True)
    with open(full / "fill", "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)) > 0:
                pass
        except OSError:
            pass
    return full


def job(number, lot, families):
    family = FAMILIES[lot.choice(families)]
    where, name, arguments, ranks = lot.choice(PROGRAMS)
    is_recorded = lot.random() < 0.5
    has_full_disk = is_recorded and lot.random() < 0.2
    program = [BUILD / (where + family.programs) / name, *arguments.split()]
    if not program[0].exists():
        return "not built", ""
    with tempfile.TemporaryDirectory(prefix="halcyon-jobs-") as path:
        directory = Path(path)
        launch = family.launch(ranks, *(["--oversubscribe"] if family.implementation == "Open MPI" else []))
        plain = run(family, [*launch, *program], {}, directory)
        if not is_recorded:
            return ("bare" if plain[0] != "hangs" else "hangs without the recorder"), ""
        full = full_disk(directory) if has_full_disk else None
        try:
            output = (full or directory) / "run.h5"
            recorded = run(family, [BUILD / "bin/halcyon", "run", "--no-probes", "-o", output, "--", *launch, *program],
                           {"TMPDIR": str(full)} if full else {}, directory)
        finally:
            if full:
                subprocess.run(["umount", "-l", full], check=True)
        told = re.findall(r"^halcyon: .*", recorded[2], re.M)
        what = f"job {number}: {family.name} {name} {arguments}{' with a full disk' if full else ''}"
        if plain[0] == "hangs":
            return "hangs without the recorder", ""
        if recorded[0] == "hangs":
            return "hangs", f"{what}\n{recorded[2]}"
        if full and recorded[0] != plain[0] and told:  # there is no verdict, which is what the status says
            return "said that there is no profile", ""
        # Of a program that fails, launchers print process numbers.
        if recorded[0] != plain[0] or (plain[0] == 0 and recorded[1] != plain[1]):
            return "differs", f"{what}: {plain[0]} {recorded[0]}\n{plain[1]}\n{recorded[1]}\n{recorded[2]}"
        if output.exists() or any("profile" in line or "undisturbed" in line for line in told):
            return "recorded" + (" with a full disk" if full else ""), ""
        return "lost without a line", f"{what}\n{recorded[2]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", default="mpi,mpich")
    arguments = parser.parse_args()
    adopt_orphans()
    lot = random.Random(arguments.seed)
    counts = collections.Counter()
    for number in range(arguments.jobs):
        outcome, story = job(number, lot, arguments.families.split(","))
        counts[outcome] += 1
        if story:
            print(story, flush=True)
    for outcome, count in counts.most_common():
        print(f"{count:5} {outcome}")


if __name__ == "__main__":
    main()
