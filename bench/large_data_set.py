#!/usr/bin/python3
"""Ten million runs and a thousand million slices as files of Parquet, and how long questions take of them: a table for
docs/ledger.md. Never passes or fails.

    bench/large_data_set.py BASE DIR [WEEKS]

BASE is a data set of two years that `halcyon ledger export` wrote, such as one of the 96 000 runs of
`bench_ledger base.db 96000 100 2`. Its runs are put into one week, and that week is written to DIR again and again, 104
times if not said otherwise: DIR has ten million runs of two years then, in 30 GB. HALCYON names the command, else it is
that of build/release. Python must find duckdb.
"""
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import duckdb

HALCYON = os.environ.get("HALCYON", Path(__file__).resolve().parent.parent / "build/release/bin/halcyon")
DAY = 86400
BASE_DAYS = 2 * 365  # of bench_ledger
TABLES = {"run": "run", "run_group": "run, number", "run_host": "run, number", "slice": "run, second"}


def source(base, table):
    return f"read_parquet('{base}/{table}/**/*.parquet', hive_partitioning = false)"


def put_into_a_week(connection, base):
    """Tables of the runs of BASE, their starts `x` put into the week that begins on the first of its days."""
    first = connection.execute(f"SELECT min(run) // 1000000000 // {DAY} * {DAY} FROM {source(base, 'run')}").fetchone()[0]
    week = f"(({first} + (({{}} // 1000000000 - {first}) * 7) // {BASE_DAYS}) * 1000000000 + {{}} % 1000000000)"
    for table, order in TABLES.items():
        second = "" if table != "slice" else (f", second - old.run // 1000000000 + {week.format('old.run', 'old.run')} // "
                                              "1000000000 AS second")
        connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * REPLACE ({week.format('old.run', 'old.run')} AS run{second}) "
                           f"FROM {source(base, table)} AS old ORDER BY {order}")
    return first


def write_week(connection, first, week, directory):
    later = week * 7 * DAY
    for day in range(7):
        begin = (first + day * DAY) * 1000000000
        name = time.strftime("day=%Y-%m-%d", time.gmtime(first + day * DAY + later))
        for table in TABLES:
            changed = [f"run + {later * 1000000000} AS run"]
            if table == "run":
                changed += [f"md5('{week} ' || run_key)[:16] AS run_key", f"(job::BIGINT + {week * 100000})::VARCHAR AS job"]
            if table == "slice":
                changed += [f"second + {later} AS second"]
            place = directory / table / name
            place.mkdir(parents=True, exist_ok=True)
            connection.execute(f"COPY (SELECT * REPLACE ({', '.join(changed)}) FROM {table} WHERE run >= {begin} AND "
                               f"run < {begin + DAY * 1000000000}) TO '{place}/{table}.parquet' (FORMAT parquet, COMPRESSION zstd)")


def timed(*words):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    finished = subprocess.run([HALCYON, "ledger", *words], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if finished.returncode != 0:
        print(f"{' '.join(words)}: {finished.stderr.strip()}")
    return finished.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    base, directory = sys.argv[1], Path(sys.argv[2])
    weeks = int(sys.argv[3]) if len(sys.argv) > 3 else 104
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = true")
    began = time.monotonic()
    if not directory.exists():
        first = put_into_a_week(connection, base)
        for week in range(weeks):
            write_week(connection, first, week, directory)
            print(f"week {week + 1} of {weeks}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        for place in Path(base).iterdir():  # tables without days
            if place.name not in TABLES and place.is_dir():
                subprocess.run(["cp", "-r", place, directory], check=True)
    files = {table: list((directory / table).rglob("*.parquet")) for table in TABLES}
    print("| table | rows | GB |\n|---|---|---|")
    for table, its in files.items():
        rows = connection.execute(f"SELECT count(*) FROM {source(directory, table)}").fetchone()[0]
        print(f"| {table} | {rows} | {sum(file.stat().st_size for file in its) / 1e9:.2f} |")
    last = connection.execute(f"SELECT max(run) FROM {source(directory, 'run')}").fetchone()[0]
    connection.close()
    month = time.strftime("%Y-%m-%d", time.gmtime(last // 1000000000 - 30 * DAY))
    work = timed("runs", "--last", "1", "--database", f"parquet:{directory}")[0]
    print(work)
    print("\n| query | s | s of CPU time |\n|---|---|---|")
    for words in (["runs", "--last", "50"], ["runs", "program7", "--last", "50"], ["lost", "--by", "user", "--since", month],
                  ["lost", "--by", "user"], ["lost", "--by", "host"], ["nodes", "--since", month]):
        _, seconds, used = timed(*words, "--database", f"parquet:{directory}")
        print(f"| `{' '.join(words)}` | {seconds:.1f} | {used:.1f} |", flush=True)


if __name__ == "__main__":
    main()
