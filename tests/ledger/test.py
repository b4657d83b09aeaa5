"""The ledger of a site: what profiles, spools and hostile files do to it, in SQLite and in PostgreSQL."""
import calendar
import contextlib
import fcntl
import json
import math
import os
import pwd
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, HALCYON, MPI, SOURCE, check_schema, editing
from halcyon_test.pages import PHONE, WithPages

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

FAIL_SQL = "'); DROP TABLE run; --"  # in every text
VERSION = 3  # of spool files and of the schema
NANOSECONDS = 1_000_000_000
FIRST = 1_700_000_000  # seconds since 1970, when the first run of a spool began
POSTGRESQL = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
UNPRIVILEGED = "nobody"
AS_UNPRIVILEGED = ["setpriv", f"--reuid={UNPRIVILEGED}", "--clear-groups"] if os.geteuid() == 0 else []
KILLS, RUNS_OF_A_KILL = 200, 25
DEEP = 8_000_000
WHEELS = BUILD.parent / "wheels"
ENGINE_THAT_IS_KILLED = "import os, signal\ndef connect(**_): os.kill(os.getpid(), signal.SIGKILL)\n"
FNV_START, FNV_PRIME = 0xcbf29ce484222325, 0x100000001b3


def fnv(contents, value=FNV_START):
    for byte in contents:
        value = (value ^ byte) * FNV_PRIME & 0xffffffffffffffff
    return value


def first_line(contents, value, version=VERSION):
    return f"halcyon-run {version} {len(contents)} {value:016x}\n".encode()


def spool_file(document, version=VERSION):
    contents = json.dumps(document).encode() + b"\n"
    return first_line(contents, fnv(contents), version) + contents


def parts_of(path):
    """The document in a spool file."""
    return json.loads(path.read_bytes().split(b"\n", 1)[1])


class WithSpool(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.spool = self.directory / "spool"
        self.spool.mkdir()
        self.refused = self.spool / "refused"
        self.database = self.directory / "site.db"

    def profile(self, name="a.h5", start=FIRST, **attributes):
        path = self.record_disturbed(name)
        with editing(path) as profile:
            profile.attrs["start_nanoseconds"] = start * NANOSECONDS
            profile.attrs["schema_version"] = max(7, profile.attrs["schema_version"])
            profile.attrs["inject"] = ""  # its times are made up
            for key, value in attributes.items():
                profile.attrs[key] = value
        return path

    def ledger(self, *words, status=0, database=None):
        finished = self.halcyon("ledger", *words, "--database", database or self.database)
        self.assertEqual(finished.status, status, finished)
        return finished

    def small_disk(self, size):
        small = self.directory / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", small], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        return small

    def one_document(self):
        """The document of a run in the spool; the spool is empty afterwards."""
        finished = self.halcyon("ledger", "add", "--spool", self.spool, self.profile())
        self.assertEqual(finished.status, 0, finished)
        [file] = self.spool.glob("*.run")
        document = parts_of(file)
        file.unlink()
        return document

    def fill(self, document, runs, first=0):
        """Puts so many runs into the spool, one a minute. The number of the first one tells them from others."""
        alike = {name: table for name, table in document.items() if name != "run"}
        begin = json.dumps(alike)[:-1].encode() + b', "run": '  # whose checksum is the same for all
        value = fnv(begin)
        for number in range(first, first + runs):
            start = (FIRST + 60 * number) * NANOSECONDS
            end = json.dumps({**document["run"], "run": start, "run_key": f"{number:016x}"}).encode() + b"}\n"
            (self.spool / f"{start}-{number:016x}.run").write_bytes(
                first_line(begin + end, fnv(end, value)) + begin + end)

    def rows(self, sql, *values):
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            return database.execute(sql, values).fetchall()

    def runs(self, *words, database=None):
        runs = json.loads(self.ledger("runs", "--json", "-", *words, database=database).output)
        check_schema(runs, "ledger-runs")
        return runs

    def lost(self, by, *words, database=None):
        lost = json.loads(self.ledger("lost", "--json", "-", "--by", by, *words, database=database).output)
        check_schema(lost, "ledger-lost")
        return lost

    def who(self, name, database=None):
        who = json.loads(self.ledger("who", name, "--json", "-", database=database).output)
        check_schema(who, "ledger-who")
        return who

    def fill_with_neighbours(self, document, is_guilty=True, loss="file_io", demand="bytes_written", hosts=None):
        """A run of five minutes, job 1, and six beside it that demand something now and then; job 4 disturbs it."""
        draw = random.Random(5)
        seconds = 300
        bursts = []
        for _ in range(6):
            written, at = [0] * seconds, draw.randrange(30)
            while at < seconds:
                for second in range(at, min(at + draw.randrange(3, 12), seconds)):
                    written[second] = 10 ** 9
                at += draw.randrange(20, 60)
            bursts.append(written)
        for number in range(7):
            slices = {name: [0] * seconds for name in document["slice"]}
            slices["second"] = [FIRST - 3600 + second for second in range(seconds)]
            lost = [draw.uniform(0.0, 0.02) for _ in range(seconds)]
            if number == 0:
                slices[loss] = [own + 0.2 * is_guilty * (amount > 0) for own, amount in zip(lost, bursts[2])]
            else:
                slices[demand] = bursts[number - 1]
            took = sum(slices[loss])
            run = {**document["run"], "run": (FIRST - 3600) * NANOSECONDS + number, "run_key": f"{4096 + number:016x}",
                   "job": str(number + 1), "run_time_seconds": float(seconds), "slice_seconds": 1,
                   "undisturbed_seconds": seconds - took, "undisturbed_low_seconds": seconds - 1.1 * took,
                   "undisturbed_high_seconds": seconds - 0.9 * took}
            (self.spool / f"{number}.run").write_bytes(spool_file(
                {**document, "run": run, "slice": slices, "run_host": hosts if hosts and number else document["run_host"]}))
        self.ledger("ingest", self.spool)

    def nodes(self, *words, database=None):
        nodes = json.loads(self.ledger("nodes", "--json", "-", *words, database=database).output)
        check_schema(nodes, "ledger-nodes")
        return nodes

    def trend(self, *words, database=None):
        trend = json.loads(self.ledger("trend", "--json", "-", *words, database=database).output)
        check_schema(trend, "ledger-trend")
        return trend

    def fill_with_site(self, document):
        """Eight works, a run a day each, on two of twelve hosts. n07 is slow since day 30; the code of solver0 changed
        on day 45, with v2; the machine on day 60. Since day 50, solver5 loses more to others. Three runs tell nothing."""
        draw = random.Random(3)
        [host] = [{name: values[0] for name, values in document["run_host"].items()}]
        tables = {name: {column: [] for column in document[name]} for name in ("run_group", "slice")}
        number = 0
        for day in range(100):
            for work in range(8):
                hosts = draw.sample(range(12), 2)
                seconds = 100 * (1 + work) * math.exp(draw.gauss(0, 0.01))
                seconds *= (1.2 if 7 in hosts and day >= 30 else 1) * (1.05 if day >= 60 else 1)
                seconds *= 1.08 if work == 0 and day >= 45 else 1
                loss = draw.uniform(0.3, 0.5) if work == 5 and day >= 50 else draw.uniform(0.05, 0.15)
                at = FIRST + 86400 * day + draw.randrange(86400)
                run = {**document["run"], "run": at * NANOSECONDS, "run_key": f"{number:016x}", "is_injected": 0, "hosts": 2,
                       "cluster": "big", "work": f"{work:016x}", "undisturbed_seconds": seconds,
                       "label": "v2" if work == 0 and day >= 45 else "v1", "run_time_seconds": (1 + loss) * seconds,
                       "undisturbed_low_seconds": 0.99 * seconds, "undisturbed_high_seconds": 1.01 * seconds}
                if number in (100, 200, 300):
                    run = {**run, **{100: {"is_injected": 0, "exit_state": "killed"}, 200: {"is_injected": 1},
                                     300: {"undisturbed_seconds": None, "undisturbed_low_seconds": None,
                                           "undisturbed_high_seconds": None}}[number]}
                rows = [{**host, "host": f"n{name:02}", "log_pace": None, "log_pace_error": None} for name in hosts]
                of_run = {"run": run, **tables, "run_host": {column: [row[column] for row in rows] for column in host},
                          "work": {"work": f"{work:016x}", "program": f"solver{work}", "command": f"solver{work} -n 1"}}
                (self.spool / f"{at}-{number:016x}.run").write_bytes(spool_file(of_run))
                number += 1

    def day(self, text):
        return (calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) - FIRST) / 86400

    def check_holds(self, days, day):
        first, last = map(self.day, days)
        self.assertTrue(first - 1 <= day <= last + 1, (first, day, last))
        self.assertLess(last - first, 10)

    def make_older(self):
        """What a ledger was before it had notes and times of computing."""
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            views = [sql for sql, in database.execute("SELECT sql FROM sqlite_master WHERE type = 'view'")]
            database.executescript("DROP VIEW visible_run; DROP VIEW visible_work; ALTER TABLE run DROP COLUMN note; "
                                   "ALTER TABLE slice DROP COLUMN computing_ms; UPDATE run_host SET log_pace = 0; "
                                   "UPDATE halcyon_ledger SET version = 1;" +
                                   ";".join(view.replace(", t.note AS note", "") for view in views))

    def reason(self, name):
        return (self.refused / f"{name}.reason").read_text()

    def pages(self, *words, database=None):
        """The text of each page, by its name below the directory."""
        self.ledger("html", self.directory / "pages", *words, database=database)
        place = self.directory / "pages"
        return {str(page.relative_to(place)): page.read_text() for page in place.rglob("*.html")}


class Profiles(WithSpool):

    def test_a_profile_becomes_a_run_that_says_what_its_report_says(self):
        path = self.profile(user="alice", partition="short", job="4711")
        self.assertEqual(self.ledger("add", path, "--label", "v2", "--project", "physics").output, "1 run added\n")
        report = self.report(path)
        [run] = self.runs()
        for key in ("ranks", "hosts", "run_time_seconds", "undisturbed_time_seconds", "verdict", "command"):
            self.assertEqual(run[key], report[key], key)
        for ledger, of_report in zip(run["undisturbed_interval_seconds"], report["undisturbed_interval_seconds"]):
            self.assertAlmostEqual(ledger, of_report)
        self.assertEqual(run["cause"], report["cause"] and report["cause"]["code"])
        self.assertEqual((run["user"], run["project"], run["label"], run["job"]), ("alice", "physics", "v2", "4711"))
        self.assertEqual(run["start_time"], time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST)))
        self.assertIn("v2", self.ledger("runs").output)

    def test_labels_and_a_note_given_when_it_is_recorded_are_kept(self):
        run = ("run", "-o", "labelled.h5", "--label", "v2.1", "--label", "input=small", "--note", "after the update")
        finished = self.halcyon(*run, "--", *MPI.launch(2), EXAMPLES / "plate", 300)
        self.assertEqual(finished.status, 0, finished)
        variables = {"HALCYON_LABEL": "v2.1 input=small", "HALCYON_NOTE": "after the update"}
        finished = self.mpirun(2, [EXAMPLES / "plate", 300], HALCYON_OUTPUT="by_hand.h5", **variables)
        self.assertEqual(finished.status, 0, finished)
        for file in ("labelled.h5", "by_hand.h5"):
            info = json.loads(self.halcyon("info", "--json", file).output)
            for told in (info, self.report(self.directory / file)):
                self.assertEqual((told["label"], told["note"]), ("v2.1 input=small", "after the update"))
            self.assertIn("after the update", self.halcyon("info", file).output)
        self.ledger("add", "labelled.h5")
        self.ledger("add", "by_hand.h5", "--label", "v3")
        self.assertEqual([(run["label"], run["note"]) for run in self.runs()],
                         [("v3", "after the update"), ("v2.1 input=small", "after the update")])
        self.assertIn("v2.1 input=small; after the update", " ".join(self.ledger("runs").output.split()))
        self.check_refused(self.halcyon("run", "--label", "two words", "--", *MPI.launch(2), EXAMPLES / "plate"),
                           "--label", "of its own")

    def test_slices_add_up_to_what_was_lost_and_moved(self):
        path = self.profile()
        self.ledger("add", path)
        breakdown = self.report(path)["breakdown"]
        kinds = ", ".join(f"SUM({kind})" for kind in breakdown["kinds"])
        [sums] = self.rows(f"SELECT {kinds}, SUM(bytes_sent) FROM slice")
        for kind, seconds in zip(breakdown["kinds"], sums):
            self.assertAlmostEqual(seconds, breakdown["kinds"][kind], places=4, msg=kind)
        info = json.loads(self.halcyon("info", "--json", "-", path).output)
        self.assertAlmostEqual(sums[-1], info["totals"]["bytes_sent"], delta=100)
        self.assertTrue(all(second % 1 == 0 for second, in self.rows("SELECT second FROM slice")))
        hosts = dict(self.rows("SELECT host, excess_seconds FROM run_host"))
        for share in breakdown["hosts"]:
            self.assertAlmostEqual(hosts[share["host"]], share["seconds"], places=4)

    def test_a_run_is_added_once_whatever_its_file_is_called(self):
        path = self.profile()
        shutil.copy(path, self.directory / "copy.h5")
        self.assertEqual(self.ledger("add", path, "copy.h5").output, "1 run added, 1 there already\n")
        self.assertEqual(len(self.runs()), 1)

    def test_with_other_contents_it_is_replaced_only_if_asked(self):
        path = self.profile()
        self.ledger("add", path)
        again = self.ledger("add", path, "--label", "new", status=2)
        self.assertIn("--replace", again.errors)
        self.assertIsNone(self.runs()[0]["label"])
        self.ledger("add", path, "--label", "new", "--replace")
        self.assertEqual([run["label"] for run in self.runs()], ["new"])

    def test_one_file_that_is_none_keeps_the_others_not_back(self):
        (self.directory / "none.h5").write_text("nothing")
        finished = self.ledger("add", "none.h5", self.profile(), status=2)
        self.assertEqual(len(finished.errors.splitlines()), 1)
        self.assertIn("none.h5", finished.errors)
        self.assertEqual(len(self.runs()), 1)

    def test_runs_that_began_at_the_same_time_are_two(self):
        self.ledger("add", self.profile("a.h5"), self.profile("b.h5", job="2"))
        self.assertEqual(len(self.runs()), 2)

    def test_runs_are_chosen_by_program_work_and_time(self):
        self.ledger("add", self.profile("a.h5"), self.profile("b.h5", start=FIRST + 86400, command="/opt/other 7"))
        self.assertEqual(len(self.runs("other")), 1)
        [work] = {run["work"] for run in self.runs("other")}
        self.assertEqual(len(self.runs(work[:6])), 1)
        self.assertEqual(len(self.runs("--until", time.strftime("%Y-%m-%d", time.gmtime(FIRST + 86400)))), 1)
        self.assertEqual(self.runs("--last", "1")[0]["program"], "other")
        launched = ("mpirun -np 2 --bind-to core lmp -in in.lj", "srun -n 2 /opt/lmp -in in.lj", "lmp -in in.lj")
        for number, command in enumerate(launched):
            self.ledger("add", self.profile(f"{number}.h5", start=FIRST + number, command=command))
        self.assertEqual({run["command"] for run in self.runs("lmp")}, set(launched))
        self.check_refused(self.ledger("runs", "--since", "yesterday", status=2), "--since", "2026-11-01")

    def test_losses_add_up_with_intervals_in_quadrature(self):
        self.ledger("add", self.profile("a.h5", user="alice"), self.profile("b.h5", user="bob", start=FIRST + 60),
                    self.profile("c.h5", user="bob", start=FIRST + 120))
        runs = self.runs()
        lost = self.lost("user")
        self.assertEqual([(row["name"], row["runs"]) for row in lost["rows"]], [("bob", 2), ("alice", 1)])
        hosts = len(runs[0]["hosts"])
        loss = hosts * sum(run["run_time_seconds"] - run["undisturbed_time_seconds"] for run in runs) / 3600
        self.assertAlmostEqual(lost["all"]["lost_node_hours"], loss)
        below = hosts * sum((run["undisturbed_interval_seconds"][1] - run["undisturbed_time_seconds"]) ** 2
                            for run in runs) ** 0.5 / 3600
        self.assertAlmostEqual(loss - lost["all"]["lost_interval_node_hours"][0], below)
        for by in ("project", "partition", "cause", "host", "program"):
            rows = self.lost(by)["rows"]
            self.assertEqual(sum(row["runs"] for row in rows), 3 * (len(runs[0]["hosts"]) if by == "host" else 1), by)
        self.assertIn("bob", self.ledger("lost", "--by", "user").output)

    def test_it_names_the_run_whose_demand_explains_what_was_lost(self):
        self.fill_with_neighbours(self.one_document())
        who = self.who("1")
        self.assertEqual(who["other_runs"], 6)
        [culprit] = who["culprits"]
        self.assertIn("job 4", culprit["name"])
        self.assertEqual((culprit["by"], culprit["or_else"]), ("files", []))
        self.assertGreater(culprit["lost_seconds"], 0.7 * who["lost_seconds"])
        self.assertRegex(" ".join(self.ledger("who", "1").output.split()),
                         r"% \(\d+ to \d+\) of it: job 4 .*, by reading and writing files")

    def test_it_names_who_computed_in_bursts_on_the_same_hosts(self):
        document = self.one_document()
        self.fill_with_neighbours(document, loss="computation", demand="computing_ms")
        [culprit] = self.who("1")["culprits"]
        self.assertIn("job 4", culprit["name"])
        self.assertEqual(culprit["by"], "host")

    def test_who_computes_on_other_hosts_is_not_accused(self):
        document = self.one_document()
        elsewhere = {**document["run_host"], "host": [f"far{number}" for number in range(len(document["run_host"]["host"]))]}
        self.fill_with_neighbours(document, loss="computation", demand="computing_ms", hosts=elsewhere)
        self.assertEqual(self.who("1")["culprits"], [])

    def test_it_accuses_nobody_of_what_none_of_them_did(self):
        self.fill_with_neighbours(self.one_document(), is_guilty=False)
        self.assertEqual(self.who("1")["culprits"], [])
        self.assertIn("None of the 6 other recorded runs at that time explains it", self.ledger("who", "1").output)
        self.ledger("slim", "--keep-slices", "1d")
        self.assertFalse(self.who("1")["can_be_told"])
        self.assertIn("no longer kept", self.ledger("who", "1").output)

    def test_a_run_that_is_none_or_several_is_named(self):
        document = self.one_document()
        self.fill(document, 2)
        self.ledger("ingest", self.spool)
        self.check_refused(self.ledger("who", "4711", status=2), "'4711' is no run of the ledger")
        self.check_refused(self.ledger("who", "0000", status=2), "several runs")

    def test_a_run_that_was_disturbed_on_purpose_is_no_loss(self):
        self.ledger("add", self.profile(inject="class=all"))
        self.assertEqual(self.lost("user")["rows"], [])
        self.assertTrue(self.runs()[0]["injected"])

    def test_what_is_old_is_removed(self):
        now = int(time.time())
        self.ledger("add", self.profile("a.h5", start=now - 400 * 86400), self.profile("b.h5", start=now - 86400))
        self.assertRegex(self.ledger("slim", "--keep-slices", "30d").output, r"^0 runs and \d+ slices? removed")
        self.assertEqual(len(self.runs()), 2)
        self.assertRegex(self.ledger("slim", "--keep", "1y").output, r"^1 run and 0 slices removed")
        self.assertEqual(len(self.runs()), 1)
        for table in ("run", "run_host", "run_group", "slice"):
            self.assertEqual(len(self.rows(f"SELECT DISTINCT run FROM {table}")), 1, table)


class Spools(WithSpool):

    def test_a_file_of_an_older_version_is_taken(self):
        document = self.one_document()
        del document["run"]["note"], document["slice"]["computing_ms"]
        (self.spool / "old").write_bytes(spool_file(document, version=1))
        self.assertEqual(self.ledger("ingest", self.spool).output, "1 run ingested\n")

    def test_files_of_a_spool_go_into_the_ledger_and_away(self):
        self.fill(self.one_document(), 5)
        self.assertEqual(self.ledger("ingest", self.spool).output, "5 runs ingested\n")
        self.assertEqual(list(self.spool.iterdir()), [])
        self.assertEqual(len(self.runs()), 5)

    def test_what_is_there_already_goes_away_and_is_counted(self):
        document = self.one_document()
        self.fill(document, 3)
        self.ledger("ingest", self.spool)
        self.fill(document, 4)
        self.assertEqual(self.ledger("ingest", self.spool).output, "1 run ingested, 3 there already\n")
        self.assertEqual(list(self.spool.iterdir()), [])

    def test_each_file_that_cannot_be_taken_is_put_aside_and_told_in_one_line(self):
        document = self.one_document()
        self.fill(document, 2)
        good = spool_file(document)
        hostile = {
            "cut": (good[:-20], "cut off"),
            "cut-early": (good[:14], "cut off"),
            "long": (good + b"more", "4 bytes follow"),
            "empty": (b"", "no spool file"),
            "foreign": (b"\x89HDF\r\n\x1a\n", "no spool file"),
            "damaged": (good.replace(b'"ranks": 2', b'"ranks": 3'), "checksum"),
            "newer": (spool_file(document, version=VERSION + 1), "newer halcyon"),
            "list": (spool_file([]), "not JSON with tables"),
            "no-work": (spool_file({"run": 0}), "has no work"),
            "no-run": (spool_file({**document, "run": {}}), "run has no run"),
            "negative": (spool_file({**document, "run": {**document["run"], "ranks": -1}}), "run.ranks is impossible"),
            "text": (spool_file({**document, "run": {**document["run"], "run_time_seconds": "1"}}), "run_time_seconds"),
            "more": (spool_file({**document, "run": {**document["run"], "x": 1}}), "nobody knows"),
            "uneven": (spool_file({**document, "run_host": {**document["run_host"], "ranks": []}}), "run_host"),
            "verdict": (spool_file({**document, "run": {**document["run"], "verdict": FAIL_SQL}}), "run.verdict"),
            "order": (spool_file({**document, "slice": {key: 2 * values for key, values in document["slice"].items()}}),
                      "order of time"),
            "interval": (spool_file({**document, "run": {**document["run"], "undisturbed_low_seconds": 1e9}}),
                         "interval"),
            "future": (spool_file({**document, "run": {**document["run"], "run": 10 ** 18 * 9}}), "clock"),
            "past": (spool_file({**document, "run": {**document["run"], "run": 1}}), "clock"),
            "endless": (spool_file({**document, "run": {**document["run"], "run_time_seconds": 1e17}}), "clock"),
            "long-slices": (spool_file({**document, "slice": {
                name: [0, 10 ** 9] if name == "second" else 2 * values[:1] for name, values in document["slice"].items()}}),
                "slices are of a longer time"),
            "other": (spool_file({**document, "run": {**document["run"], "run_key": f"{1:016x}", "label": "x",
                                                      "run": (FIRST + 60) * NANOSECONDS}}), "other contents"),
        }
        for name, (contents, _) in hostile.items():
            (self.spool / f"z-{name}").write_bytes(contents)
        (self.spool / "z-link").symlink_to("/etc/passwd")
        os.mkfifo(self.spool / "z-pipe")
        (self.spool / "z-directory").mkdir()
        finished = self.ledger("ingest", self.spool, status=2)
        self.assertRegex(finished.output, rf"^2 runs ingested, {len(hostile) + 3} files refused\n$")
        lines = finished.errors.splitlines()
        self.assertEqual(len(lines), len(hostile) + 3, finished.errors)
        for name, (contents, why) in hostile.items():
            [line] = [line for line in lines if f"/z-{name}: " in line]
            self.assertIn(why, line)
            self.assertIn(why, self.reason(f"z-{name}"))
            self.assertEqual((self.refused / f"z-{name}").read_bytes(), contents, name)
        for name in ("link", "pipe", "directory"):
            self.assertIn("no regular file", self.reason(f"z-{name}"))
        self.assertEqual([path.name for path in self.spool.iterdir()], ["refused"])
        self.assertEqual(len(self.runs()), 2)

    def test_deep_json_takes_no_memory(self):
        contents = b'{"run":' + b"[" * DEEP
        (self.spool / "deep").write_bytes(first_line(contents, fnv(contents)) + contents)
        finished = self.run_command(["sh", "-c", 'ulimit -v 300000; exec "$@"', "sh", HALCYON, "ledger", "ingest", self.spool,
                                     "--database", self.database])
        self.assertEqual(finished.status, 2, finished)

    def test_files_of_the_same_name_are_put_aside_beside_each_other(self):
        for contents in (b"one", b"two"):
            (self.spool / "x").write_bytes(contents)
            self.ledger("ingest", self.spool, status=2)
        self.assertEqual([(self.refused / name).read_bytes() for name in ("x", "x-2")], [b"one", b"two"])

    def test_a_file_that_is_not_complete_is_passed_by(self):
        (self.spool / ".half.run-7").write_bytes(b"halcyon-run 1 1000")
        self.assertEqual(self.ledger("ingest", self.spool).output, "0 runs ingested\n")
        self.assertTrue((self.spool / ".half.run-7").exists())

    def test_a_file_that_was_never_completed_goes(self):
        for name in (".half.run-7", ".profile"):
            (self.spool / name).write_bytes(b"halcyon-run 1 1000")
            os.utime(self.spool / name, (FIRST, FIRST))
        self.ledger("ingest", self.spool)
        self.assertEqual([path.name for path in self.spool.iterdir()], [".profile"])

    def test_sql_and_control_characters_in_every_text_are_only_text(self):
        document = self.one_document()
        hostile = FAIL_SQL + "\n\x1b[2J\0\u202e"

        def changed(value, key=""):
            if isinstance(value, dict):
                return {name: changed(inner, name) for name, inner in value.items()}
            if isinstance(value, list):
                return [changed(inner, key) for inner in value]
            return hostile if isinstance(value, str) and key not in ("run_key", "work", "verdict") else value
        (self.spool / "x.run").write_bytes(spool_file(changed(document)))
        self.assertEqual(self.ledger("ingest", self.spool).output, "1 run ingested\n")
        [run] = self.runs()
        self.assertIn(FAIL_SQL, run["label"])
        for words in (("runs",), ("lost", "--by", "user"), ("lost", "--by", "program")):
            said = self.ledger(*words).output
            self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said), said)
            self.assertIn("DROP TABLE", self.ledger(*words, "--json", "-").output)
        self.assertEqual(self.ledger("runs", FAIL_SQL).output, f"the ledger has no run of '{FAIL_SQL}'\n")

    def test_nobody_records_in_the_name_of_another(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files to another user")
        document = self.one_document()
        self.fill({**document, "run": {**document["run"], "user_name": "alice"}}, 1)
        [file] = self.spool.glob("*.run")
        os.chown(file, pwd.getpwnam(UNPRIVILEGED).pw_uid, -1)
        self.ledger("ingest", self.spool)
        self.assertEqual(self.runs()[0]["user"], UNPRIVILEGED)

    def test_nobody_keeps_the_operator_from_the_switch_of_the_spool(self):
        for name in ("off", "exclude"):
            (self.spool / name).write_text("mine\n")
        self.assertEqual(self.ledger("ingest", self.spool).output, "0 runs ingested\n")
        self.assertEqual(len(list(self.spool.iterdir())), 2)
        if os.geteuid() != 0:
            self.skipTest("only root can give files to another user")
        for path in self.spool.iterdir():
            os.chown(path, pwd.getpwnam(UNPRIVILEGED).pw_uid, -1)
        finished = self.ledger("ingest", self.spool, status=2)
        self.assertEqual((finished.output, len(finished.errors.splitlines())), ("0 runs ingested, 2 files refused\n", 2))
        self.assertEqual([path.name for path in self.spool.iterdir()], ["refused"])
        self.assertIn("owner of the spool", self.reason("off"))

    def test_nobody_replaces_a_run_of_another(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files to another user")
        document = self.one_document()
        for name, exit_state in ((UNPRIVILEGED, "killed"), ("bin", "finalized"), (UNPRIVILEGED, "finalized")):
            run = {**document["run"], "exit_state": exit_state}
            (self.spool / name).write_bytes(spool_file({**document, "run": run}))
            os.chown(self.spool / name, pwd.getpwnam(name).pw_uid, -1)
            finished = self.ledger("ingest", self.spool, status=2 if name == "bin" else 0)
            self.assertEqual([one["user"] for one in self.runs()], [UNPRIVILEGED], finished)
        self.assertIn("another user", self.reason("bin"))
        self.assertEqual([one["exit_state"] for one in self.runs()], ["finalized"])

    def test_a_kill_at_any_moment_loses_nothing_and_counts_nothing_twice(self):
        document = self.one_document()
        runs = KILLS * RUNS_OF_A_KILL
        pick = random.Random(7)
        finished = 0
        for number in range(KILLS):
            self.fill(document, RUNS_OF_A_KILL, RUNS_OF_A_KILL * number)
            process = subprocess.Popen([HALCYON, "ledger", "ingest", self.spool, "--database", self.database],
                                       env=self.own_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=pick.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
            said = process.communicate()[0].decode()
            finished += process.returncode == 0
            self.assertNotIn("refused", said)
        self.ledger("ingest", self.spool)
        self.assertEqual(list(self.spool.glob("*.run")), [])
        self.assertEqual(self.rows("SELECT COUNT(*), COUNT(DISTINCT run_key) FROM run"), [(runs, runs)])
        slices = len(document["slice"]["second"])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM slice"), [(runs * slices,)])
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
        self.assertLess(finished, KILLS, "no ingester was killed")

    def test_two_ingesters_share_a_spool(self):
        self.fill(self.one_document(), 1500)
        both = [subprocess.Popen([HALCYON, "ledger", "ingest", self.spool, "--database", self.database],
                                 env=self.own_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(2)]
        for process in both:
            _, errors = process.communicate(timeout=halcyon_test.TIME_LIMIT)
            self.assertEqual((process.returncode, errors), (0, b""))
        self.assertEqual(self.rows("SELECT COUNT(*), COUNT(DISTINCT run_key) FROM run"), [(1500, 1500)])
        self.assertEqual(list(self.spool.iterdir()), [])

    def test_a_full_disk_loses_nothing(self):
        small = self.small_disk("1500k")
        runs = 2000
        self.fill(self.one_document(), runs)
        finished = self.ledger("ingest", self.spool, status=2, database=small / "site.db")
        self.check_refused(finished, "site.db", "room")
        left = len(list(self.spool.glob("*.run")))
        self.assertGreater(left, 0)
        with contextlib.closing(sqlite3.connect(f"file:{small}/site.db?mode=ro", uri=True)) as database:
            self.assertEqual(database.execute("SELECT COUNT(*) FROM run").fetchall(), [(runs - left,)])
        subprocess.run(["mount", "-o", "remount,size=100m", small], check=True)
        self.ledger("ingest", self.spool, database=small / "site.db")
        self.assertEqual(len(self.runs("--last", "5000", database=small / "site.db")), runs)

    def test_a_spool_that_is_not_there_is_named(self):
        self.check_refused(self.ledger("ingest", "nowhere", status=2), "nowhere")
        self.check_refused(self.halcyon("ledger", "add", "--spool", "nowhere", self.profile()), "nowhere")


class Databases(WithSpool):

    def test_an_older_one_is_read_and_becomes_a_newer_one_when_it_is_written(self):
        self.ledger("add", self.profile("a.h5"))
        before = self.runs()
        self.make_older()
        self.assertEqual(self.runs(), before)
        self.assertEqual(self.rows("SELECT MAX(version) FROM halcyon_ledger"), [(1,)])
        self.ledger("add", self.profile("b.h5", start=FIRST + 60))
        self.assertEqual(self.rows("SELECT MAX(version) FROM halcyon_ledger"), [(VERSION,)])
        self.assertEqual(self.runs()[1:], before)
        self.assertEqual(set(self.rows("SELECT log_pace FROM run_host")), {(None,)})

    def test_one_of_a_newer_schema_is_refused(self):
        self.ledger("add", self.profile())
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.execute("INSERT INTO halcyon_ledger VALUES (99, 'halcyon 9')")
            database.commit()
        for words in (("runs",), ("lost",), ("add", "a.h5")):
            self.check_refused(self.ledger(*words, status=2), "site.db", "newer halcyon", "99")

    def test_what_is_no_ledger_is_named(self):
        self.check_refused(self.ledger("runs", status=2), "site.db")
        self.database.write_text("something else, that is longer than the first page's header of a database" * 20)
        self.check_refused(self.ledger("lost", status=2), "site.db", "no database")
        self.assertIn("something else", self.database.read_text())
        empty = self.directory / "empty.db"
        empty.touch()
        self.check_refused(self.ledger("runs", status=2, database=empty), "empty.db", "no ledger")

    def test_one_that_cannot_be_written_is_named(self):
        self.ledger("add", self.profile())
        self.database.chmod(0o444)
        self.directory.chmod(0o755)
        self.fill(self.one_document(), 1)
        finished = self.run_command([*AS_UNPRIVILEGED, HALCYON, "ledger", "ingest", self.spool, "--database", self.database])
        self.check_refused(finished, "site.db", "writable")
        self.assertEqual(len(list(self.spool.glob("*.run"))), 1)
        if AS_UNPRIVILEGED:
            finished = self.run_command([*AS_UNPRIVILEGED, HALCYON, "ledger", "runs", "--database", self.database])
            self.check_refused(finished, "site.db", "directory writable")

    def test_readers_see_the_ledger_while_another_writes(self):
        self.ledger("add", self.profile())
        with contextlib.closing(sqlite3.connect(self.database, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM run")
            self.assertEqual(len(self.runs()), 1)

    def test_a_database_is_wanted(self):
        finished = self.halcyon("ledger", "runs")
        self.assertEqual(finished.status, 2)
        self.assertIn("--database", finished.errors)


class Site(WithSpool):

    def setUp(self):
        super().setUp()
        self.fill_with_site(self.one_document())
        self.assertEqual(self.ledger("ingest", self.spool).output, "800 runs ingested\n")

    def test_a_slow_host_is_listed_with_its_size_and_its_day(self):
        nodes = self.nodes()
        [slow] = [host for host in nodes["hosts"] if host["listed"]]
        self.assertEqual((slow["host"], slow["cluster"], len(nodes["hosts"])), ("n07", "big", 12))
        self.assertAlmostEqual(slow["slower_percent"], 20, delta=1.5)
        self.check_holds(slow["since"], 30)
        self.assertEqual(nodes["exclude"], [{"cluster": "big", "hosts": "n07"}])
        self.assertEqual((nodes["runs"], nodes["left_out_runs"]), (797, 2))  # one was disturbed on purpose
        text = self.ledger("nodes", "--most", "2").output
        self.assertIn("--exclude=n07\n", text)
        self.assertIn("and 10 more", text)
        self.assertIn("None of 12 hosts", self.ledger("nodes", "--until", "2023-12-10").output)

    def test_a_change_of_the_code_is_told_from_one_of_the_machine(self):
        [trend] = self.trend("solver0")["works"]
        code, machine = trend["changes"]
        self.assertEqual((code["of"], code["label"], machine["of"], machine["label"]), ("code", "v2", "machine", None))
        self.check_holds(code["day_interval"], 45)
        self.check_holds(machine["day_interval"], 60)
        self.assertAlmostEqual(code["more_percent"], 8, delta=1.5)
        self.assertAlmostEqual(machine["more_percent"], 5, delta=1.5)
        self.assertEqual(trend["losses"], [])
        self.assertRegex(" ".join(self.ledger("trend", "solver0").output.split()),
                         r"v2 came.* the code needs .* more; the machine did not")
        [other] = self.trend("0000000000000003")["works"]
        self.assertEqual([change["of"] for change in other["changes"]], ["machine"])

    def test_what_it_loses_to_others_stands_apart(self):
        [trend] = self.trend("solver5")["works"]
        self.assertEqual([change["of"] for change in trend["changes"]], ["machine"])
        [loss] = trend["losses"]
        self.check_holds(loss["day_interval"], 50)
        self.assertAlmostEqual(loss["more_points"], 19.5, delta=3)
        self.assertRegex(" ".join(self.ledger("trend", "solver5").output.split()),
                         r"it loses .* points .* more of its run time to others")

    def test_text_fits_into_a_terminal(self):
        for words in (("runs",), ("lost", "--by", "host"), ("nodes",), ("trend", "solver0"), ("who", "0000000000000001")):
            lines = self.ledger(*words).output.splitlines()
            self.assertLessEqual(max(len(line) for line in lines), 80, (words, lines))

    def test_a_time_without_runs_is_told_as_such(self):
        self.assertEqual(self.ledger("lost", "--until", "2001-01-01").output, "the ledger has no run of that time\n")
        self.assertEqual(self.ledger("runs", "nosuch").output, "the ledger has no run of 'nosuch'\n")

    def test_a_work_that_is_not_there_is_refused_with_those_that_are(self):
        self.check_refused(self.ledger("trend", "solvr0", status=2), "solvr0", "Did you mean: solver0?", "solver7")


class Pages(WithSpool, WithPages):

    def setUp(self):
        super().setUp()
        document = self.one_document()
        document["run"] = {**document["run"], "user_name": "alice", "project": "physics", "job": "4711", "note": "a <b>note"}
        self.fill_with_site(document)
        self.ledger("ingest", self.spool)

    def test_they_say_what_the_commands_say_and_lead_to_each_other(self):
        pages = self.pages()
        places = {name.split("/")[0] for name in pages}
        self.assertEqual(places, {"index.html", "node", "work", "run"})
        self.assertEqual([len([name for name in pages if name.startswith(kind)]) for kind in ("node", "work", "run")],
                         [12, 8, 500])
        seen = {name: self.check_markup(self.directory / "pages" / name) for name in pages if not name.startswith("run/")}
        one = next(name for name in pages if name.startswith("run/"))
        seen[one] = self.check_markup(self.directory / "pages" / one)
        for name, page in pages.items():
            for link in re.findall(r'href="([^"]*)"', page):
                self.assertTrue((self.directory / "pages" / name).parent.joinpath(link).resolve().exists(), (name, link))
        lost = self.lost("cause")["all"]
        words = re.sub(r"\s+", " ", self.ledger("lost", "--by", "cause").output.splitlines()[-1])
        self.assertIn(re.search(r"[\d.]+ \([\d.]+ to [\d.]+\)", words)[0], seen["index.html"])
        self.assertGreater(lost["runs"], 0)
        line = next(line for line in self.ledger("nodes").output.splitlines() if line.startswith("n07"))
        for size in (re.search(r"[\d.]+ \([\d.]+ to [\d.]+\)", line)[0], line.split("  ")[-1].strip()):
            self.assertIn(size, seen["index.html"])
            self.assertIn(size, seen["node/big.n07.html"])
        self.assertIn("--exclude=n07", seen["index.html"])
        for change in re.sub(r"\n    +", " ", self.ledger("trend", "solver0").output).splitlines()[1:3]:
            self.assertIn(change.strip(), seen["work/0000000000000000.html"])
        self.assertIn("then v2 came", seen["index.html"])
        self.assertIn("a <b>note", seen[one])
        self.assertNotIn("<b>note", pages[one])

    def test_names_are_left_out_on_request(self):
        for name, page in self.pages("--no-names").items():
            for word in ("alice", "physics", "4711", "solver", "v2", "note"):
                self.assertNotIn(word, re.sub(r"<style>.*?</style>", "", page, flags=re.S), name)
        self.assertIn("work/0000000000000000.html", self.pages("--no-names"))

    def test_there_are_no_more_than_were_asked_for_and_older_ones_go(self):
        self.assertEqual(len(self.pages()), 1 + 12 + 8 + 500)
        self.assertEqual(len(self.pages("--pages", "4")), 1 + 3 * 4)

    def test_other_files_of_a_directory_are_safe(self):
        place = self.directory / "pages"
        place.mkdir()
        (place / "thesis.tex").write_text("mine")
        self.check_refused(self.ledger("html", place, status=2), "pages", "other files")
        self.assertEqual([path.name for path in place.iterdir()], ["thesis.tex"])
        self.check_refused(self.ledger("html", "empty", "--until", "2001-01-01", status=2), "no run")

    def test_a_run_leads_to_the_page_of_its_profile(self):
        profiles = self.directory / "profiles"
        profiles.mkdir()
        self.profile("a.h5").rename(profiles / "a.h5")
        self.halcyon("report", profiles / "a.h5", "--html", profiles / "a.html")
        self.ledger("add", profiles / "a.h5")
        [key] = [run["run"] for run in self.runs("--last", "1000") if run["user"] is None]
        self.pages("--profiles", profiles, "--until", time.strftime("%Y-%m-%d", time.gmtime(FIRST + 86400)))
        page = self.directory / "pages" / "run" / f"{key}.html"
        [link] = re.findall(r'href="([^"]*a\.html)"', page.read_text())
        self.assertTrue((page.parent / link).resolve().samefile(profiles / "a.html"))

    def test_a_browser_shows_them_without_errors_without_the_network_and_on_a_phone(self):
        names = list(self.pages("--pages", "20"))
        chosen = ["index.html", "node/big.n07.html", "work/0000000000000000.html",
                  next(name for name in names if name.startswith("run/"))]
        for how in ({}, PHONE):
            browser = self.opened(self.directory / "pages" / chosen[0], **how)
            for name in chosen:
                browser.get((self.directory / "pages" / name).as_uri())
                shown = browser.execute_script(
                    "return [...document.querySelectorAll('figure')].map(figure => [...figure.querySelectorAll('svg')]"
                    ".filter(drawing => getComputedStyle(drawing).display != 'none').length)")
                self.assertEqual(set(shown), {1} if not name.startswith("run") else set(), name)  # it has no slices
        for name in chosen:
            browser.get((self.directory / "pages" / name).as_uri())
            self.assertEqual(browser.get_log("browser"), [], name)
            self.assertEqual(self.fetched_elsewhere(browser), [], name)
            self.assertEqual(browser.execute_script("return document.documentElement.scrollWidth"), PHONE["width"], name)
            self.assertEqual(browser.execute_script(
                "return [...document.querySelectorAll('time, .scroll')].filter(each => each.getClientRects().length > 1 "
                "|| each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0).map(each => each.outerHTML)"), [], name)
            levels = [int(tag[1]) for tag in browser.execute_script(
                "return [...document.querySelectorAll('h1, h2, h3, h4')].map(heading => heading.tagName)")]
            self.assertTrue(all(below <= above + 1 for above, below in zip(levels, levels[1:])), (name, levels))

    def metrics(self, *words, database=None):
        if text_string_to_metric_families is None:
            self.skipTest("no prometheus_client")
        text = self.ledger("metrics", *words, database=database).output
        return {family.name: {tuple(sorted(sample.labels.items())): sample.value for sample in family.samples}
                for family in text_string_to_metric_families(text)}

    def test_totals_are_openmetrics_that_its_parser_reads(self):
        metrics = self.metrics("--nodes")
        lost = self.lost("partition")
        self.assertAlmostEqual(metrics["halcyon_site_lost_node_hours"][()], lost["all"]["lost_node_hours"], places=3)
        for row in lost["rows"]:
            label = (("partition", row["name"] or ""),)
            self.assertEqual(metrics["halcyon_site_partition_runs"][label], row["runs"])
            self.assertAlmostEqual(metrics["halcyon_site_partition_lost_high_node_hours"][label],
                                   row["lost_interval_node_hours"][1], places=3)
        [slow] = [host for host in self.nodes()["hosts"] if host["listed"]]
        self.assertAlmostEqual(metrics["halcyon_site_slow_node_ratio"][(("cluster", "big"), ("host", "n07"))],
                               slow["slower_percent"] / 100)
        self.ledger("metrics", "-o", self.directory / "halcyon.prom")
        self.assertTrue((self.directory / "halcyon.prom").read_text().endswith("# EOF\n"))


class WithParquet(WithSpool):
    """Asks the files that `ledger export` has made, by an engine, of which `module` is the module of Python."""
    engine = module = "duckdb"

    def setUp(self):
        super().setUp()
        self.files = self.directory / "files"
        self.parquet = f"parquet:{self.files}"

    def own_environment(self, **settings):
        # The wheels are for Debian's Python.
        return super().own_environment(**{"PYTHONPATH": f"{WHEELS / 'duckdb'}:{WHEELS / 'pyspark'}",
                                          "PATH": f"/usr/bin:{os.environ['PATH']}",
                                          "HALCYON_PARQUET_ENGINE": self.engine, **settings})

    def needs_engine(self):
        for module in {"duckdb", self.module}:  # what exports is always DuckDB
            if self.run_command(["python3", "-c", f"import {module}"]).status != 0:
                self.skipTest(f"python3 has no module {module} (PyPI)")

    def export(self, status=0):
        return self.ledger("export", self.files, status=status)

    def written(self):
        """When each file was written, by its name below the directory."""
        return {str(file.relative_to(self.files)): (file.stat().st_mtime_ns, file.stat().st_ino)
                for file in self.files.rglob("*.parquet")}

    def check_alike(self, one, other, place=""):
        """Sums of floating-point numbers depend on their order."""
        self.assertEqual(type(one), type(other), place)
        if isinstance(one, dict):
            self.assertEqual(list(one), list(other), place)
            for key in one:
                self.check_alike(one[key], other[key], f"{place}.{key}")
        elif isinstance(one, list):
            self.assertEqual(len(one), len(other), place)
            for number, (first, second) in enumerate(zip(one, other)):
                self.check_alike(first, second, f"{place}[{number}]")
        elif isinstance(one, float):
            self.assertTrue(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12), (place, one, other))
        else:
            self.assertEqual(one, other, place)

    def check_answers_as_the_database_does(self, *questions):
        file = self.directory / "answer.json"
        for words in questions:
            ours, theirs = ((self.ledger(*words, "--json", file, database=database).output, json.loads(file.read_text()))
                            for database in (self.parquet, self.database))
            self.assertEqual(ours[0], theirs[0], words)
            self.check_alike(ours[1], theirs[1], " ".join(words))

    def fill_a_site(self):
        document = self.one_document()
        self.fill_with_neighbours(document)
        self.fill_with_site(document)
        self.ledger("ingest", self.spool)


class Parquet(WithParquet):

    def setUp(self):
        super().setUp()
        self.needs_engine()

    def test_it_answers_as_sqlite_does(self):
        self.fill_a_site()
        self.assertEqual(self.export().output, "101 days written: 807 runs added\n")
        day = time.strftime("%Y-%m-%d", time.gmtime(FIRST + 30 * 86400))
        self.check_answers_as_the_database_does(
            ("runs",), ("runs", "--last", "2000"), ("runs", "solver3", "--until", day), ("runs", "00000000000000"),
            *(("lost", "--by", by) for by in ("project", "user", "partition", "cause", "host", "program")),
            ("lost", "--by", "host", "--since", day), ("lost", "--until", "2001-01-01"), ("nodes",), ("trend", "solver0"),
            ("trend", "solver5", "--since", day), ("who", "1"))
        words = ("--pages", "5", "--since", day)
        self.assertEqual(self.pages(*words, database=self.parquet), self.pages(*words))

    def test_an_export_writes_only_days_that_have_something_new(self):
        document = self.one_document()
        self.fill(document, 2000)
        self.ledger("ingest", self.spool)
        self.assertEqual(self.export().output, "3 days written: 2000 runs added\n")
        before = self.written()
        self.assertEqual(self.export().output, "nothing new, of 2000 runs\n")
        self.assertEqual(self.written(), before)
        self.fill(document, 1, 2000)
        self.ledger("ingest", self.spool)
        self.assertEqual(self.export().output, "1 day written: 1 run added\n")
        changed = {name for name, when in self.written().items() if before.get(name) != when}
        day = time.strftime("%Y-%m-%d", time.gmtime(FIRST + 60 * 2000))
        self.assertEqual(changed, {"work/work.parquet", *(f"{table}/day={day}/{table}.parquet" for table in
                                                          ("run", "run_group", "run_host", "slice"))})
        self.check_answers_as_the_database_does(("runs", "--last", "3000"), ("lost",))

    def test_a_full_disk_is_told_and_the_next_export_goes_on(self):
        self.fill(self.one_document(), 2000)
        self.ledger("ingest", self.spool)
        small = self.small_disk("100k")
        finished = self.ledger("export", small / "runs", status=2)
        self.check_refused(finished, str(small), "No space left on device: make room there")
        subprocess.run(["mount", "-o", "remount,size=100m", small], check=True)
        self.ledger("export", small / "runs")
        self.assertEqual(self.runs("--last", "3000", database=f"parquet:{small}/runs"), self.runs("--last", "3000"))

    def test_a_run_with_other_contents_takes_its_place(self):
        path = self.profile()
        self.ledger("add", path, self.profile("b.h5", start=FIRST + 60))
        self.export()
        self.ledger("add", path, "--label", "new", "--replace")
        self.assertEqual(self.export().output, "1 day written: 0 runs added, 1 replaced\n")
        self.check_answers_as_the_database_does(("runs",), ("lost", "--by", "host"))

    def test_what_the_ledger_has_no_longer_stays_until_its_files_are_removed(self):
        self.fill(self.one_document(), 2000)
        self.ledger("ingest", self.spool)
        self.export()
        lost = self.lost("host", database=self.parquet)
        self.ledger("slim", "--keep", "1y")
        self.assertEqual(self.export().output, "nothing new, of 0 runs\n")
        self.check_alike(self.lost("host", database=self.parquet), lost, "lost")
        shutil.rmtree(self.files / "slice")
        self.assertFalse(self.who(f"{1:016x}", database=self.parquet)["can_be_told"])
        for day in self.files.glob("run/*"):
            shutil.rmtree(day)
        self.assertEqual(self.ledger("runs", database=self.parquet).output, "the ledger has no run\n")

    def test_an_older_ledger_is_exported(self):
        self.ledger("add", self.profile())
        before = self.runs()
        self.make_older()
        self.export()
        self.assertEqual(self.runs(database=self.parquet), before)

    def test_texts_are_only_texts(self):
        self.ledger("add", self.profile(user=FAIL_SQL, job="4711"), "--label", "$1", "--project", "\\")
        self.export()
        self.check_answers_as_the_database_does(("runs",), ("lost", "--by", "user"), ("lost", "--by", "project"))
        self.assertEqual(self.ledger("runs", FAIL_SQL, database=self.parquet).output,
                         f"the ledger has no run of '{FAIL_SQL}'\n")

    def test_a_kill_at_any_moment_leaves_whole_days(self):
        self.fill_a_site()
        pick = random.Random(9)
        killed = 0
        for _ in range(12):
            process = subprocess.Popen([HALCYON, "ledger", "export", self.files, "--database", self.database],
                                       env=self.own_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=pick.uniform(0.2, 1.5))
            killed += process.poll() is None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if (self.files / "halcyon_ledger" / "halcyon_ledger.parquet").exists():
                for run in self.runs("--last", "1000", database=self.parquet):
                    self.assertEqual(bool(run["hosts"]), True, run)
        self.assertGreater(killed, 0)
        self.export()
        self.check_answers_as_the_database_does(("runs", "--last", "2000"), ("lost", "--by", "host"), ("who", "1"))

    def test_one_export_at_a_time_writes(self):
        self.ledger("add", self.profile())
        self.export()
        with open(self.files / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.check_refused(self.export(status=2), "files", "another export")

    def test_it_is_only_read_and_other_files_are_safe(self):
        self.ledger("add", self.profile())
        self.export()
        for words in (("add", "a.h5"), ("ingest", self.spool), ("slim", "--keep", "1y")):
            self.check_refused(self.ledger(*words, status=2, database=self.parquet), "files", "only read")
        self.files = self.directory / "thesis"
        self.files.mkdir()
        (self.files / "thesis.tex").write_text("mine")
        self.check_refused(self.export(status=2), "thesis", "other files")
        self.assertEqual([path.name for path in self.files.iterdir()], ["thesis.tex"])

    def test_what_is_missing_or_damaged_is_told_in_one_line(self):
        self.check_refused(self.ledger("runs", status=2, database=self.parquet), "files", "ledger export")
        self.ledger("add", self.profile())
        self.export()
        [file] = self.files.glob("run/*/run.parquet")
        contents = file.read_bytes()
        for damaged in (contents[:-5], contents[:len(contents) // 2], b"", b"PAR1" + bytes(len(contents) - 8) + b"PAR1"):
            file.write_bytes(damaged)
            self.check_refused(self.ledger("runs", status=2, database=self.parquet), "run.parquet")
            self.check_refused(self.export(status=2), "run.parquet", "exported again")
        shutil.rmtree(file.parent)
        self.export()
        self.check_answers_as_the_database_does(("runs",))

    def test_what_the_engine_lacks_is_told_in_one_line(self):
        self.ledger("add", self.profile())
        self.export()
        question = ("ledger", "runs", "--database", self.parquet)
        self.check_refused(self.halcyon(*question, HALCYON_PARQUET_ENGINE="mysql"), "HALCYON_PARQUET_ENGINE", "mysql")
        (self.directory / "empty").mkdir()
        self.check_refused(self.halcyon(*question, PATH=self.directory / "empty"), "python3")
        modules = self.directory / "modules"
        modules.mkdir()
        for text, words in (("raise ImportError('gone')", ("gone", "pip install duckdb")),
                            (ENGINE_THAT_IS_KILLED, ("signal 9", "duckdb"))):
            (modules / "duckdb.py").write_text(text)
            self.check_refused(self.halcyon(*question, PYTHONPATH=modules), "files", *words)


class Spark(WithParquet):
    engine, module = "spark", "pyspark"

    def test_it_answers_as_sqlite_does(self):
        self.needs_engine()
        self.fill_a_site()
        self.export()
        day = time.strftime("%Y-%m-%d", time.gmtime(FIRST + 30 * 86400))
        self.check_answers_as_the_database_does(("runs", "solver3", "--until", day), ("lost", "--by", "host"), ("nodes",))
        [*_, file] = self.files.glob("run/*/run.parquet")
        file.write_bytes(file.read_bytes()[:-5])
        self.check_refused(self.ledger("lost", status=2, database=self.parquet), "run.parquet")

    def test_a_module_that_is_missing_is_named(self):
        (self.files / "halcyon_ledger").mkdir(parents=True)
        (self.files / "halcyon_ledger" / "halcyon_ledger.parquet").touch()
        (self.directory / "pyspark.py").write_text("raise ImportError('gone')")
        refused = self.halcyon("ledger", "runs", "--database", self.parquet, PYTHONPATH=self.directory)
        self.check_refused(refused, "files", "pip install pyspark")


@unittest.skipIf(not POSTGRESQL, "no server of PostgreSQL (Debian: postgresql-15)")
class Postgresql(WithParquet):

    @classmethod
    def setUpClass(cls):
        import tempfile  # noqa: PLC0415
        cls.place = Path(tempfile.mkdtemp(prefix="halcyon-postgresql-"))
        if AS_UNPRIVILEGED:
            shutil.chown(cls.place, UNPRIVILEGED)
        binaries = POSTGRESQL[-1].parent
        data = cls.place / "data"
        subprocess.run([*AS_UNPRIVILEGED, binaries / "initdb", "-D", data, "-U", "admin", "-A", "trust", "-N"], check=True,
                       capture_output=True)
        cls.server = subprocess.Popen([*AS_UNPRIVILEGED, binaries / "postgres", "-D", data, "-k", cls.place, "-c",
                                       "listen_addresses=", "-c", "fsync=off"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        for _ in range(600):
            if cls.psql("SELECT 1", check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise AssertionError("the server does not answer")

    @classmethod
    def tearDownClass(cls):
        cls.server.send_signal(signal.SIGINT)
        cls.server.wait(timeout=halcyon_test.TIME_LIMIT)
        shutil.rmtree(cls.place, ignore_errors=True)

    @classmethod
    def psql(cls, sql, user="admin", database="postgres", check=True):
        return subprocess.run(["psql", "-h", cls.place, "-U", user, "-d", database, "-XAtc", sql], check=check,
                              capture_output=True, text=True)

    def setUp(self):
        super().setUp()
        self.psql("DROP DATABASE IF EXISTS site WITH (FORCE)")
        self.psql("CREATE DATABASE site")
        self.database = self.address("admin")

    def address(self, user):
        return f"postgresql://{user}@/site?host={self.place}"

    def rows(self, sql):
        return [tuple(line.split("|")) for line in self.psql(sql, database="site").stdout.splitlines()]

    def test_it_answers_as_sqlite_does(self):
        document = self.one_document()
        file = self.directory / "file.db"
        for database in (file, self.database):
            self.fill(document, 120)
            self.assertEqual(self.ledger("ingest", self.spool, database=database).output, "120 runs ingested\n")
        self.assertEqual(self.runs(), self.runs(database=file))
        for by in ("project", "user", "partition", "cause", "host", "program"):
            ours, theirs = self.lost(by), self.lost(by, database=file)
            self.assertEqual(len(ours["rows"]), len(theirs["rows"]))
            for one, other in zip(ours["rows"], theirs["rows"]):
                self.assertEqual(one["name"], other["name"])
                for end in (0, 1):
                    self.assertAlmostEqual(one["lost_interval_node_hours"][end], other["lost_interval_node_hours"][end])
        self.fill(document, 120)
        self.assertEqual(self.ledger("ingest", self.spool).output, "0 runs ingested, 120 there already\n")
        self.fill_with_neighbours(document)
        self.assertEqual([culprit["name"] for culprit in self.who("1")["culprits"]], ["job 4 halo_c"])

    def test_it_tells_slow_hosts_and_changes_as_sqlite_does(self):
        file = self.directory / "file.db"
        for database in (file, self.database):
            self.fill_with_site(self.one_document())
            self.ledger("ingest", self.spool, database=database)
        self.assertEqual(self.nodes(), self.nodes(database=file))
        self.assertEqual(self.trend("solver0"), self.trend("solver0", database=file))

    def test_it_is_exported_as_sqlite_is(self):
        self.needs_engine()
        self.fill(self.one_document(), 120)
        self.ledger("ingest", self.spool)
        self.assertEqual(self.export().output, "2 days written: 120 runs added\n")
        self.assertEqual(self.export().output, "nothing new, of 120 runs\n")
        self.check_answers_as_the_database_does(("runs", "--last", "200"), ("lost",), ("lost", "--by", "host"))

    def test_queries_of_the_dashboards_answer_operators_and_users(self):
        self.fill_with_site(self.one_document())
        self.ledger("ingest", self.spool)
        for name, role in (("alice", "halcyon_user"), ("root_of_site", "halcyon_operator")):
            self.psql(f"CREATE ROLE {name} LOGIN IN ROLE {role}")
            self.addCleanup(self.psql, f"DROP ROLE {name}")
        [work] = self.rows("SELECT work FROM visible_work WHERE program = 'solver0'")
        begin, end = FIRST * NANOSECONDS, (FIRST + 200 * 86400) * NANOSECONDS
        answered = 0
        for file in sorted((SOURCE / "packaging/grafana/dashboards").glob("*.json")):
            dashboard = json.loads(file.read_text())
            queries = [target["rawSql"] for panel in dashboard["panels"] for target in panel["targets"]]
            queries += [variable["query"] for variable in dashboard["templating"]["list"]]
            for query in queries:
                sql = re.sub(r"\$__unixEpochNanoFilter\(([^)]*)\)", rf"\1 >= {begin} AND \1 <= {end}", query)
                sql = sql.replace("$work", work[0]).replace("$program", "solver0")
                self.assertNotIn("$", sql)
                for user in ("alice", "root_of_site"):
                    answer = self.psql(sql, user, "site", check=False)
                    self.assertEqual(answer.returncode, 0, (file.name, sql, answer.stderr))
                    self.assertTrue(answer.stdout or (user == "alice" and "visible_work" in sql), (user, sql))
                    answered += 1
        self.assertGreater(answered, 20)
        [lost] = [panel["targets"][0]["rawSql"] for panel in json.loads(
            (SOURCE / "packaging/grafana/dashboards/halcyon-site.json").read_text())["panels"] if panel["type"] == "stat"]
        [row] = self.rows(re.sub(r"\$__unixEpochNanoFilter\(run\)", "true", lost))
        told = self.lost("cause")["all"]
        for value, key in zip(map(float, row), (told["runs"], told["judged_runs"], told["node_hours"],
                                                told["lost_node_hours"], *told["lost_interval_node_hours"])):
            self.assertAlmostEqual(value, key, places=6)

    def test_pages_of_users_name_nobody_else(self):
        document = self.one_document()
        document["run"] = {**document["run"], "user_name": "bob"}
        self.fill_with_site(document)
        self.ledger("ingest", self.spool)
        self.psql("CREATE ROLE alice LOGIN IN ROLE halcyon_user")
        self.addCleanup(self.psql, "DROP ROLE alice")
        for name, page in self.pages("--pages", "20", database=self.address("alice")).items():
            self.assertFalse(re.search(r"bob|solver", page), name)
        self.assertIn("bob", self.pages("--pages", "20")["index.html"])

    def test_an_older_ledger_becomes_a_newer_one_when_it_is_written(self):
        self.ledger("add", self.profile("a.h5"))
        view = self.psql("SELECT pg_get_viewdef('visible_run'::regclass)", database="site").stdout
        older = re.sub(r",\s+CASE\s+WHEN (?:(?!CASE).)*?END AS note", "", view, flags=re.S)
        self.assertNotEqual(older, view)
        self.psql("DROP VIEW visible_run; ALTER TABLE run DROP COLUMN note; "
                  "ALTER TABLE slice DROP COLUMN computing_ms; UPDATE halcyon_ledger SET version = 1; "
                  f"CREATE VIEW visible_run AS {older}", database="site")
        self.assertEqual(len(self.runs()), 1)
        self.ledger("add", self.profile("b.h5", start=FIRST + 60))
        self.assertEqual(len(self.runs()), 2)
        self.assertEqual(self.rows("SELECT MAX(version) FROM halcyon_ledger"), [(str(VERSION),)])

    def test_months_are_partitions_and_old_ones_are_dropped(self):
        now = int(time.time())
        self.ledger("add", self.profile("a.h5", start=now - 400 * 86400), self.profile("b.h5", start=now - 86400))
        partitions = "SELECT COUNT(*) FROM pg_inherits WHERE inhparent = 'slice'::regclass"
        self.assertEqual(self.rows(partitions), [("2",)])
        self.assertRegex(self.ledger("slim", "--keep", "1y").output, r"^1 run and \d+ slices? removed")
        self.assertEqual(self.rows(partitions), [("1",)])
        self.assertEqual(len(self.runs()), 1)

    def test_users_see_their_own_runs_in_full_and_no_names_of_others(self):
        self.ledger("add", self.profile("a.h5", user="alice", job="1"), self.profile("b.h5", user="bob", job="2"))
        for name, role in (("alice", "halcyon_user"), ("root_of_site", "halcyon_operator")):
            self.psql(f"CREATE ROLE {name} LOGIN IN ROLE {role}")
            self.addCleanup(self.psql, f"DROP ROLE {name}")
        seen = self.runs(database=self.address("alice"))
        self.assertEqual({run["user"] for run in seen}, {"alice", None})
        self.assertEqual({run["job"] for run in seen}, {"1", None})
        self.assertEqual({run["user"] for run in self.runs(database=self.address("root_of_site"))}, {"alice", "bob"})
        self.assertEqual({row["name"] for row in self.lost("user", database=self.address("alice"))["rows"]},
                         {"alice", None})
        now = int(time.time())
        operator = self.address("root_of_site")
        self.ledger("add", self.profile("c.h5", start=now - 400 * 86400), self.profile("d.h5", start=now), database=operator)
        self.assertRegex(self.ledger("slim", "--keep", "1y", database=operator).output, "^3 runs and ")
        for table in ("run", "run_group", "work"):
            self.assertIn("permission denied", self.psql(f"SELECT * FROM {table}", "alice", "site", check=False).stderr)
        self.fill(self.one_document(), 1)
        refused = self.ledger("ingest", self.spool, status=2, database=self.address("alice"))
        self.check_refused(refused, "permission denied")
        self.assertEqual(len(list(self.spool.glob("*.run"))), 1)

    def test_who_does_not_own_the_database_is_told_who_makes_a_ledger(self):
        for role in ("halcyon_operator", "halcyon_user"):
            self.psql(f"CREATE ROLE {role}", check=False)  # which another test has made
        self.psql("CREATE ROLE stranger LOGIN IN ROLE halcyon_operator")
        self.addCleanup(self.psql, "DROP ROLE stranger")
        self.fill(self.one_document(), 1)
        self.check_refused(self.ledger("ingest", self.spool, status=2, database=self.address("stranger")), "createdb -O")

    def test_a_newer_schema_is_refused_and_a_server_that_is_away_is_named(self):
        self.ledger("add", self.profile())
        self.psql("INSERT INTO halcyon_ledger VALUES (99, 'x')", database="site")
        self.check_refused(self.ledger("runs", status=2), "newer halcyon")
        self.check_refused(self.ledger("runs", status=2, database=f"postgresql:///site?host={self.directory}"),
                           self.directory)

    def test_a_kill_at_any_moment_loses_nothing_and_counts_nothing_twice(self):
        self.fill(self.one_document(), 300)
        pick = random.Random(8)
        for _ in range(10):
            process = subprocess.Popen([HALCYON, "ledger", "ingest", self.spool, "--database", self.database],
                                       env=self.own_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=pick.uniform(0.0, 0.5))
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.ledger("ingest", self.spool)
        self.assertEqual(self.rows("SELECT COUNT(*), COUNT(DISTINCT run_key) FROM run"), [("300", "300")])
        self.assertEqual(list(self.spool.glob("*.run")), [])


if __name__ == "__main__":
    halcyon_test.main()
