#!/usr/bin/python3
"""A ledger in SQLite beside the same one as files of Parquet: bytes, and how long questions take, as tables for
docs/ledger.md. Never passes or fails.

    bench/ledger_parquet.py DATABASE DIR [ENGINE ...]

DATABASE is a ledger, such as bench_ledger fills. It is exported to DIR, unless it was. HALCYON names the command, else
it is that of build/release. Engines are duckdb and spark; without any, both are asked that can be imported.
"""
import calendar
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

HALCYON = os.environ.get("HALCYON", Path(__file__).resolve().parent.parent / "build/release/bin/halcyon")
MODULES = {"duckdb": "duckdb", "spark": "pyspark"}
QUESTIONS = (["runs", "--last", "50"], ["lost", "--by", "user", "--since", "LAST30"], ["lost", "--by", "user"],
             ["lost", "--by", "host"], ["nodes", "--since", "LAST30"])


def timed(*words, **environment):
    """What the command printed, seconds, and seconds of CPU time of it and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    finished = subprocess.run([HALCYON, "ledger", *map(str, words)], env={**os.environ, **environment}, check=True,
                              capture_output=True, text=True)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return finished.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bytes_of(place):
    return sum(file.stat().st_size for file in place.rglob("*.parquet"))


def main():
    database, directory, *engines = sys.argv[1:]
    engines = engines or [engine for engine, module in MODULES.items()
                          if subprocess.run(["python3", "-c", f"import {module}"], capture_output=True, check=False)
                          .returncode == 0]
    said, seconds, used = timed("export", directory, "--database", database)
    print(f"export: {said.strip()}; {seconds:.1f} s, {used:.1f} s of CPU time")
    said, seconds, used = timed("export", directory, "--database", database)
    print(f"again: {said.strip()}; {seconds:.1f} s, {used:.1f} s of CPU time\n")
    print(f"| | MB |\n|---|---|\n| SQLite | {Path(database).stat().st_size / 1e6:.0f} |")
    print(f"| Parquet | {bytes_of(Path(directory)) / 1e6:.0f} |")
    for table in ("run", "run_group", "run_host", "slice"):
        print(f"| {table} | {bytes_of(Path(directory) / table) / 1e6:.0f} |")
    last = timed("runs", "--last", 1, "--json", "-", "--database", database)[0].split('"start_time": "')[1][:10]
    month = time.strftime("%Y-%m-%d", time.gmtime(calendar.timegm(time.strptime(last, "%Y-%m-%d")) - 30 * 86400))
    columns = ["SQLite", *engines]
    print(f"\n| query | {' | '.join(columns)} |\n|---{'|---' * len(columns)}|")
    for question in QUESTIONS:
        words = [month if word == "LAST30" else word for word in question]
        answers = [timed(*words, "--database", database)]
        answers += [timed(*words, "--database", f"parquet:{directory}", HALCYON_PARQUET_ENGINE=engine) for engine in engines]
        same = "" if len({said for said, _, _ in answers}) == 1 else " (not all the same)"
        print(f"| `{' '.join(question)}`{same} | " +
              " | ".join(f"{seconds:.1f} s ({used:.1f} s of CPU time)" for _, seconds, used in answers) + " |", flush=True)


main()
