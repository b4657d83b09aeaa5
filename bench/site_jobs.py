#!/usr/bin/python3
"""Runs many short jobs through Slurm on one machine, with the task prolog and epilog of packaging/site, and says what became
of them and of their rows in the ledger.

usage: bench/site_jobs.py [JOBS] [--seed N] [--killed PERCENT] [--at-once N] [--minutes N]
HALCYON_TEST_MPI chooses the MPI family.

By lot, half of the jobs keep out (HALCYON_LEDGER=off), the others are recorded for the ledger, and some of both are
cancelled by SIGKILL while they run. Never passes or fails. Prints how many jobs failed or hung, rows that are missing or
too many, bytes in the spool, and how much longer a recorded job took: the difference of medians, with a 90 % interval
from 4000 resamples.
"""
import argparse
import collections
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))
from halcyon_test.mpi_family import MPI  # noqa: E402
from halcyon_test.places import EXAMPLES, HALCYON, PROGRAMS  # noqa: E402
from halcyon_test.processes import processes_of  # noqa: E402
from halcyon_test.site import installed_at  # noqa: E402
from halcyon_test.slurm_cluster import Cluster, missing  # noqa: E402

TIME_LIMIT = 120  # seconds of a job
RANKS = 2
SHORT = [f"{EXAMPLES}/{name} 50" for name in ("halo_c", "halo_f08", "halo_mpi")]
ENDLESS = f"{PROGRAMS}/endless 1000"
SECONDS = 'echo job $SLURM_JOB_ID; a=$(date +%s%N); {}; s=$?; b=$(date +%s%N); echo nanoseconds $((b - a)); exit $s'


class Jobs:
    def __init__(self, cluster, directory):
        self.environment = {**os.environ, **MPI.environment, **cluster.environment}
        self.directory = directory

    def slurm(self, *words):
        return subprocess.run(words, cwd=self.directory, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=TIME_LIMIT).stdout

    def run(self, number, program, is_recorded, is_killed):
        """What became of a job, its number, and the seconds that its program took from start to end."""
        command = ["srun", "--quiet", f"-n{RANKS}", "-A", "physics" if number % 2 else "biology", "sh", "-c",
                   SECONDS.replace("{}", ENDLESS if is_killed else program)]
        environment = self.environment if is_recorded else {**self.environment, "HALCYON_LEDGER": "off"}
        with subprocess.Popen(command, cwd=self.directory, env=environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as srun:
            watchdog = threading.Timer(TIME_LIMIT, srun.kill)
            watchdog.start()
            said = []
            for line in srun.stdout:
                said.append(line)
                if is_killed and line.startswith("ready"):
                    self.slurm("scancel", "--full", "--signal=KILL", said[0].split()[1])
            status = srun.wait()
            hangs = not watchdog.is_alive()
            watchdog.cancel()
        words = "".join(said).split()
        job = words[1] if words[:1] == ["job"] else ""
        if hangs:
            return "hangs: " + "".join(said), job, 0.0
        if is_killed:
            return "killed", job, 0.0
        took = [int(after) for word, after in zip(words, words[1:]) if word == "nanoseconds"]
        if status != 0 or "heat" not in words or len(took) != RANKS:
            return f"failed with {status}: " + "".join(said), job, 0.0
        return "as it should be", job, 1e-9 * max(took)


def difference(recorded, plain, lot):
    def median_of(values):
        return statistics.median(lot.choices(values, k=len(values)))
    draws = sorted(median_of(recorded) - median_of(plain) for _ in range(4000))
    return statistics.median(recorded) - statistics.median(plain), draws[200], draws[3799]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="?", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--killed", type=float, default=5.0, metavar="PERCENT")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="jobs that run at a time (1)")
    parser.add_argument("--minutes", type=float, default=1e6, help="submit no job after these")
    arguments = parser.parse_args()
    if absent := missing():
        sys.exit(f"no {', '.join(absent)}")
    lot = random.Random(arguments.seed)
    place = Path(tempfile.mkdtemp(prefix="halcyon-site-"))
    spool = place / "spool"
    spool.mkdir()
    spool.chmod(0o1733)
    site = installed_at(place / "site", spool)
    cluster = Cluster(place, MPI.slurm_interface,
                      settings=(f"TaskProlog={site / 'task_prolog'}", f"Epilog={site / 'epilog'}"),
                      processors=RANKS * arguments.at_once)
    work = place / "work"
    work.mkdir()
    try:
        cluster.start()
        jobs = Jobs(cluster, work)
        drawn = [(number, lot.choice(SHORT), lot.random() < 0.5, lot.random() < arguments.killed / 100)
                 for number in range(arguments.jobs)]
        last = time.monotonic() + 60 * arguments.minutes
        with ThreadPoolExecutor(arguments.at_once) as at_once:
            ends = list(at_once.map(lambda one: jobs.run(*one) if time.monotonic() < last else None, drawn))
        time.sleep(2)  # the last epilog
        while processes_of("halcyon-keep", spool):  # which judge, behind all other processes
            time.sleep(0.1)
        files = list(spool.glob("*.run"))
        sizes = sorted(file.stat().st_size for file in files)
        left = [str(path.relative_to(spool)) for path in spool.rglob("*") if path not in files]
        database = place / "site.db"
        subprocess.run([HALCYON, "ledger", "ingest", "--database", database, spool], check=True)
        listed = subprocess.run([HALCYON, "ledger", "runs", "--last", "1000000", "--json", "-", "--database", database],
                                capture_output=True, text=True, check=True).stdout
        rows = collections.Counter(run["job"] for run in json.loads(listed))
    finally:
        cluster.stop()
        shutil.rmtree(place, ignore_errors=True)
    what = collections.Counter()
    seconds = {True: [], False: []}
    expected = set()
    for (_, _, is_recorded, _), (end, job, took) in ((one, end) for one, end in zip(drawn, ends) if end):
        what[(end, "recorded" if is_recorded else "bare")] += 1
        if is_recorded:
            expected.add(job)
        if end == "as it should be":
            seconds[is_recorded].append(took)
    for (end, how), count in what.most_common():
        print(f"{count:6} {how}: {end}")
    print(f"{len(expected - set(rows)):6} rows are missing of {len(expected)}: {sorted(expected - set(rows))[:20]}")
    print(f"{len(set(rows) - expected):6} rows of jobs that kept out")
    print(f"{sum(count - 1 for count in rows.values()):6} rows too many")
    if sizes:
        print(f"{statistics.median(sizes):6} bytes a job in the spool, at most {sizes[-1]}")
    print(f"left in the spool: {left}")
    if all(seconds.values()):
        middle, low, high = difference(seconds[True], seconds[False], lot)
        print(f"a bare job took {statistics.median(seconds[False]):.3f} s, "
              f"a recorded one {1000 * middle:+.0f} ms ({1000 * low:+.0f} to {1000 * high:+.0f})")


if __name__ == "__main__":
    main()
