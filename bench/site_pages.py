#!/usr/bin/python3
"""How long `halcyon ledger html` takes, and how large its pages are, by the number of runs of a made-up site of two years:
400 hosts, of which one is a fifth slower after the first year, and 200 works, of which one needs 8 % more since a new
version came.

usage: site_pages.py [--halcyon PATH] [--keep DIR] [RUNS ...]
"""
import argparse
import contextlib
import math
import random
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

HOSTS, WORKS, DAYS, SLICES = 400, 200, 730, 120
BEGIN = 1_700_000_000  # s since 1970
NANOSECONDS = 1_000_000_000


def text_columns(connection, table):
    """Every column of a table with an empty or zero value."""
    return {name: "" if kind == "TEXT" else 0 for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")}


def insert(connection, table, rows):
    if rows:
        names = list(rows[0])
        connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                               [list(row.values()) for row in rows])


def fill(database, runs):
    draw = random.Random(runs)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        empty = {table: text_columns(connection, table) for table in ("work", "run", "run_host", "slice")}
        insert(connection, "work", [{**empty["work"], "work": f"{work:016x}", "program": f"solver{work % 40}",
                                     "command": f"/opt/site/solver{work % 40} -in case{work}.in"} for work in range(WORKS)])
        rows = {"run": [], "run_host": [], "slice": []}
        for number in range(runs):
            day = DAYS * number / runs
            work = draw.randrange(WORKS)
            count = 1 << work % 4
            first = draw.randrange(HOSTS)
            hosts = [(first + i) % HOSTS for i in range(count)]
            begin = int((BEGIN + 86400 * day) * NANOSECONDS) + draw.randrange(NANOSECONDS)
            seconds = 100 * (1 + work) * math.exp(draw.gauss(0, 0.01))
            seconds *= 1.2 if 7 in hosts and day > 365 else 1
            seconds *= 1.08 if work == 0 and day > 400 else 1
            loss = draw.expovariate(10) if draw.random() < 0.3 else 0.005
            cause = draw.choice(("other-processes", "file-system", "network", "")) if loss > 0.05 else ""
            rows["run"].append({
                **empty["run"], "run": begin, "run_key": f"{number:016x}", "work": f"{work:016x}", "cluster": "big",
                "label": "v2" if work == 0 and day > 400 else "v1", "user_name": f"user{work % 60}",
                "project": f"project{work % 12}", "partition_name": "long" if work % 5 == 0 else "batch",
                "job": str(100000 + number), "ranks": 64 * count, "hosts": count, "segments": 10000,
                "run_time_seconds": (1 + loss) * seconds, "undisturbed_seconds": seconds,
                "undisturbed_low_seconds": 0.99 * seconds, "undisturbed_high_seconds": 1.01 * seconds, "coverage_percent": 97,
                "verdict": "green" if loss < 0.05 else "yellow" if loss < 0.15 else "red", "cause": cause,
                "exit_state": "finalized", "mpi": "Open MPI v4.1.4", "counter": "cpu", "slice_seconds": 8, "contents": ""})
            rows["run_host"] += [{**empty["run_host"], "run": begin, "number": i, "host": f"node{host:03}", "ranks": 64,
                                  "excess_seconds": loss * seconds / count, "log_pace": None, "log_pace_error": None}
                                 for i, host in enumerate(hosts)]
            rows["slice"] += [{**empty["slice"], "run": begin, "second": begin // NANOSECONDS // 8 * 8 + 8 * i,
                               "computation": loss * draw.expovariate(1), "file_io": loss * draw.random(),
                               "bytes_sent": draw.randrange(10 ** 9)} for i in range(SLICES)]
            if number % 1000 == 999 or number == runs - 1:
                for table, pending in rows.items():
                    insert(connection, table, pending)
                    pending.clear()
        connection.commit()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("runs", nargs="*", type=int, default=[1000, 10000])
    parser.add_argument("--halcyon", default="halcyon")
    parser.add_argument("--keep", type=Path, help="leave ledgers and pages there")
    arguments = parser.parse_args()
    place = arguments.keep or Path(tempfile.mkdtemp(prefix="halcyon-pages-"))
    print("| runs | command | time, s | CPU time, s | pages | MB | peak memory, MiB |\n|---|---|---|---|---|---|---|")
    for runs in arguments.runs:
        spool, database, pages = place / f"spool-{runs}", place / f"{runs}.db", place / f"pages-{runs}"
        spool.mkdir(parents=True)
        subprocess.run([arguments.halcyon, "ledger", "ingest", "--database", database, spool], check=True, capture_output=True)
        fill(database, runs)
        for words in (["html", pages], ["metrics"], ["nodes"]):
            began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([arguments.halcyon, "ledger", *words, "--database", database], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            made = list(pages.rglob("*.html")) if words[0] == "html" else []
            print(f"| {runs} | `ledger {words[0]}` | {time.monotonic() - began:.1f} | "
                  f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} | {len(made) or '–'} | "
                  f"{sum(page.stat().st_size for page in made) / 1e6:.1f} | {after.ru_maxrss // 1024} |", flush=True)
    if not arguments.keep:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
