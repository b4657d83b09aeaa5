"""Reads and writes a ledger's data set of Parquet, by DuckDB on one machine or by Spark on many. The command `halcyon`
has this file built in, and starts it. It speaks with it by lines of JSON over a socket, descriptor 3:

    {"open": DIR, "engine": "duckdb", "tables": {TABLE: {COLUMN: TYPE, ...}, ...}}      the first request
    {"lock": true}                                                before anything is stored, until this process ends
    {"sql": TEXT, "values": [VALUE, ...]}                         is answered by lines of rows first, [[VALUE, ...], ...]
    {"store": [TABLE, ...], "day": DAY, "key": COLUMN}            rows of these tables, which are in DIR/.new

Each is answered by {"done": true} or {"error": TEXT}. The command knows the questions and what the answers mean; this
knows files and engines. Rows of a day are in DIR/TABLE/day=YYYY-MM-DD/TABLE.parquet, those of tables without days in
DIR/TABLE/TABLE.parquet.
"""
import contextlib
import errno
import fcntl
import glob
import importlib
import itertools
import json
import os
import re
import socket
import sys
import tempfile

ROWS_OF_A_LINE = 5000
VIEWS = {"visible_run": "run", "visible_work": "work"}  # who may read the files sees all
ORDER = ("run", "number", "second", "work", "version")  # of the rows of a file, by those of these columns that it has
VERSIONS = "halcyon_ledger"
NO_ROOM = os.strerror(errno.ENOSPC)


class Problem(Exception):
    """Its text is for the user."""


def needed(module, package):
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise Problem(f"{sys.executable} cannot import {module} ({missing}): pip install {package}") from missing


def words_of(error):
    """The one line of an error that says what is wrong: that of what caused it first."""
    within = re.search(r'"exception_message":("(?:[^"\\]|\\.)*")', str(error))  # DuckDB's, of a write by another thread
    if within:
        error = json.loads(within[1])
    if NO_ROOM in str(error):
        error = f"{error}: make room there"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    if causes:
        return causes[-1].removeprefix("Caused by: ")
    return lines[0] if lines else type(error).__name__


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class DataSet:

    def __init__(self, directory, tables):
        self.directory = os.path.abspath(directory)
        self.tables = tables

    def files(self, table):
        place = os.path.join(glob.escape(self.directory), table)
        return sorted(glob.glob(os.path.join(place, "*.parquet")) + glob.glob(os.path.join(place, "day=*", "*.parquet")))

    def tables_in(self, sql):
        """The names in this text that are those of tables or views, each with its table."""
        names = {**{table: table for table in self.tables}, **VIEWS}
        return {name: names[name] for name in re.findall(r"\w+", sql) if name in names}


class DuckDB:
    """Reads by DuckDB, and writes."""

    def __init__(self, data):
        duckdb = needed("duckdb", "duckdb")
        self.data = data
        self.made = set()
        # What does not fit into memory goes there; by default it would go into the current directory.
        self.scratch = tempfile.TemporaryDirectory(prefix="halcyon-duckdb-")
        self.connection = duckdb.connect(config={"temp_directory": self.scratch.name})
        self.connection.execute("SET parquet_metadata_cache = true")

    def make_view(self, name, table):
        files = self.data.files(table)
        if files:
            # What an older halcyon wrote has fewer columns.
            by_name = table != VERSIONS and len(self.rows_of(f"SELECT version FROM {VERSIONS}")) > 1
            source = (f"SELECT * FROM read_parquet([{', '.join(map(quoted, files))}], hive_partitioning = false, "
                      f"union_by_name = {str(by_name).lower()})")
        else:
            columns = ", ".join(f"CAST(NULL AS {kind}) AS {column}" for column, kind in self.data.tables[table].items())
            source = f"SELECT {columns} WHERE false"
        self.connection.execute(f"CREATE VIEW {name} AS {source}")

    def rows_of(self, sql):
        return list(self.run(sql, []))

    def run(self, sql, values):
        for name, table in self.data.tables_in(sql).items():
            if name not in self.made:
                self.made.add(name)
                self.make_view(name, table)
        answer = self.connection.cursor().execute(sql, values or None)
        while rows := answer.fetchmany(ROWS_OF_A_LINE):
            yield from rows

    def staged(self, table):
        columns = ", ".join(f"'{column}': '{kind}'" for column, kind in self.data.tables[table].items())
        file = os.path.join(self.data.directory, ".new", f"{table}.json")
        return f"read_json({quoted(file)}, format = 'newline_delimited', columns = {{{columns}}})"

    def store(self, tables, day, key):
        """Writes the files of these tables anew, of that day: the rows that are new take the place of those with the same
        keys, which are the keys of the last table. It is written last: what the others have beyond it is not seen."""
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE new_keys AS SELECT {key} FROM {self.staged(tables[-1])}")
        for table in tables:
            place = os.path.join(self.data.directory, table, *([f"day={day}"] if day else []))
            os.makedirs(place, exist_ok=True)
            file = os.path.join(place, f"{table}.parquet")
            columns = self.data.tables[table]
            rows = f"SELECT {', '.join(columns)} FROM {self.staged(table)}"
            if os.path.exists(file):
                rows += (f" UNION ALL BY NAME SELECT * FROM read_parquet({quoted(file)}, hive_partitioning = false) "
                         f"WHERE {key} NOT IN (SELECT {key} FROM new_keys)")
            order = ", ".join(column for column in ORDER if column in columns)
            new = os.path.join(place, ".new")
            self.connection.execute(f"COPY ({rows} ORDER BY {order}) TO {quoted(new)} (FORMAT parquet, COMPRESSION zstd)")
            with open(new, "rb") as written:
                os.fsync(written.fileno())
            os.replace(new, file)

    def end(self):
        self.connection.close()
        self.scratch.cleanup()


class Spark:
    """Only reads. Where its executors are is said as for any program of Spark (PYSPARK_SUBMIT_ARGS, SPARK_CONF_DIR)."""

    def __init__(self, data):
        sql = needed("pyspark.sql", "pyspark")
        self.types = needed("pyspark.sql.types", "pyspark")
        self.data = data
        self.made = set()
        try:
            # Looking for the files of a few years is too little work to share.
            self.session = (sql.SparkSession.builder.appName("halcyon ledger")
                            .config("spark.sql.sources.parallelPartitionDiscovery.threshold", 100_000).getOrCreate())
        except Exception as error:
            raise Problem(f"Spark does not start: {words_of(error)} (it needs Java; Debian: default-jre-headless)") from error

    def make_view(self, name, table):
        kinds = {"BIGINT": self.types.LongType(), "DOUBLE": self.types.DoubleType(), "VARCHAR": self.types.StringType()}
        schema = self.types.StructType()
        for column, kind in self.data.tables[table].items():
            schema = schema.add(column, kinds[kind])
        if self.data.files(table):
            frame = self.session.read.schema(schema).parquet(f"file://{self.data.directory}/{table}")
        else:
            frame = self.session.createDataFrame([], schema)
        frame.createOrReplaceTempView(name)

    def run(self, sql, values):
        for name, table in self.data.tables_in(sql).items():
            if name not in self.made:
                self.made.add(name)
                self.make_view(name, table)
        named = {f"p{number}": value for number, value in enumerate(values, 1)}
        answer = self.session.sql(re.sub(r"\$(\d+)", r":p\1", sql), args=named)
        return map(tuple, answer.toLocalIterator())

    def end(self):
        self.session.stop()


ENGINES = {"duckdb": DuckDB, "spark": Spark}


def serve(requests, answer):
    engine = lock = None
    for line in requests:
        request = json.loads(line)
        try:
            if "open" in request:
                data = DataSet(request["open"], request["tables"])
                engine = ENGINES[request["engine"]](data)
            elif "lock" in request:
                lock = open(os.path.join(data.directory, ".lock"), "w", encoding="ascii")  # noqa: SIM115
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    raise Problem("another export writes there: wait for it") from error
            elif "sql" in request:
                rows = iter(engine.run(request["sql"], request["values"]))
                while some := list(itertools.islice(rows, ROWS_OF_A_LINE)):
                    answer(some)
            else:
                engine.store(request["store"], request["day"], request["key"])
            answer({"done": True})
        except Exception as error:  # noqa: BLE001
            answer({"error": words_of(error)})
    if engine is not None:
        engine.end()


def main():
    with socket.socket(fileno=3) as channel, channel.makefile("r", encoding="ascii") as requests:
        channel.set_inheritable(False)
        # Who asked may have ended: then there is nobody to tell.
        with contextlib.suppress(BrokenPipeError):
            serve(requests, lambda value: channel.sendall(json.dumps(value).encode("ascii") + b"\n"))


main()
