"""Names are shown, and do nothing: no text of a profile, a live record, a part, a series, a file name or a command line
steers a terminal, is computed by a spreadsheet, or breaks the format that it is written in, whichever command shows it.

The texts are found by walking through the files, and the commands are those that `halcyon --help` lists: a new text is
fed to all commands, and a new command fails until this test feeds it.
"""
import csv
import functools
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import halcyon_test
from halcyon_test import HALCYON, MPI, PROGRAMS, SOURCE, TIME_LIMIT, Terminal, editing

sys.path.append(str(SOURCE / "tests" / "exports"))
from perfetto_trace import slices_of  # noqa: E402

PROGRAM = PROGRAMS / "dies"
ERRORS = (1, 2, 3)  # of files, of what was typed, and of what doctor finds
# C0, DEL and C1; ends of lines; directions of writing; what markup and tables need; letters; bytes that are not UTF-8.
STEERS = ('\n\r\t\a\b\x1b[2J\x1b]0;owned\x07\x1b[5m\x7f\x9b31m\x85\u202e\u2066\u2069\u200f\u2028</script><b>"\'&\\{}%s,'
          'é漢').encode() + b"\x9b2J\xff\xc3"
FORMULA = b"=1+2;"
LETTERS = "é漢"
LEGIBLE = "\\u001b[2J\\u001b]0;owned\\u0007"
DIRECTIONS = {*"\u061c\u200e\u200f", *map(chr, range(0x202a, 0x202f)), *map(chr, range(0x2066, 0x2070))}
OF_HDF5 = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"}  # its own attributes
LONG = 1 << 20
LINES_OF_A_LONG_TEXT = 26  # at most
OUR_SEQUENCES = re.compile(r"\x1b\[(0|1|7|1;3[123])?m|\r\x1b\[K|\x1b\[\?(1049|25)[hl]|\x1b\[[HJK]|\x1b\[2J(?=\x1b\[H)")


def steering(text):
    """The characters of a text that a terminal, or an editor, would not just draw."""
    return [c for c in text if unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in DIRECTIONS]


def decoded(text):
    """As a JSON reader gets a text that JSON can have: bytes that are not UTF-8 are replaced."""
    return text.decode(errors="replace")


class Hostile:
    """Makes a text hostile. Its name is in it, and tells it from the others."""

    def __init__(self, first=False, size=0):
        self.first, self.size = first, size
        self.texts = {}

    def __call__(self, name, text=b""):
        name_of_text = b"<%s>" % name.encode()
        hostile = FORMULA + STEERS + name_of_text + text if self.first else text + STEERS + name_of_text
        self.texts[name] = hostile + self.size * b"x"
        return self.texts[name]

    def document(self, document, path=""):
        """The same for all texts of a JSON document, which cannot have bytes that are not UTF-8."""
        if isinstance(document, dict):
            return {key: value if key == "kind" else self.document(value, f"{path}.{key}")
                    for key, value in document.items()}
        if isinstance(document, list):
            return [self.document(value, path) for value in document]
        return decoded(self(path, document.encode())) if isinstance(document, str) else document


def text_attributes():
    """The text attributes that docs/columns.md lists; the build makes that page from the code."""
    return re.findall(r"^\| `(\w+)` \| text \|", (SOURCE / "docs" / "columns.md").read_text(), re.M)


def make_hostile(path, hostile, also=(), but=()):
    """Changes all texts of a profile. Empty and absent ones stay as they are, but for those in `also`."""
    import h5py
    import numpy

    def as_bytes(value):
        return os.fsencode(value) if isinstance(value, str) else bytes(value)

    def set_text(of, name, text):
        of.attrs.create(name, text, dtype=h5py.string_dtype())

    with editing(path) as file:
        things = [file]
        file.visititems(lambda _, thing: things.append(thing))
        for thing in things:
            for name, value in list(thing.attrs.items()):
                if name in OF_HDF5 | set(but) or not isinstance(value, (str, bytes)) or not len(value):
                    continue
                set_text(thing, name, hostile(name, as_bytes(value)))
            if isinstance(thing, h5py.Dataset) and h5py.check_string_dtype(thing.dtype):
                name = thing.name.strip("/")
                values = [hostile(f"{name}[{i}]", as_bytes(value)) if len(value) else value
                          for i, value in enumerate(thing[...])]
                thing[...] = numpy.array(values, dtype=object)
        for name in also:
            set_text(file, name, hostile(name, as_bytes(file.attrs.get(name, b""))))


class Tags(html.parser.HTMLParser):
    """The tags of a page and the texts outside scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.texts += [value for _, value in attrs if value]

    def handle_data(self, data):
        if not self.tags or self.tags[-1] not in ("script", "style"):
            self.texts.append(data)


class SteersNoTerminal(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.place = self.directory / os.fsdecode(b"n\x1b[2J\x9b\xe2\x80\xae\xc3\xa9")
        self.place.mkdir()

    # Running and checking

    def run_hostile(self, *words, statuses=(0,), environment=None, launcher_speaks=False, **others):
        """Runs `halcyon` with these words, and checks what it prints. Returns its standard output.

        launcher_speaks: before it, the launcher says in its own way that there is no such program.
        """
        finished = subprocess.run([HALCYON, *words], cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True,
                                  env=environment or self.own_environment(**others), timeout=TIME_LIMIT, check=False)
        self.assertIn(finished.returncode, statuses, finished)
        if launcher_speaks:
            finished.stderr = re.sub(rb"halcyon: the host is busy: .*\n", b"", finished.stderr)  # said before both
            self.assertIn(b"halcyon: ", finished.stderr)
            finished.stderr = finished.stderr[finished.stderr.index(b"halcyon: "):]
        for output in (finished.stdout, finished.stderr):
            if b"\r\n" in output:  # a table
                self.check_table(output)
            else:
                self.check_text(output, words)
        return finished.stdout.decode() + finished.stderr.decode()

    def check_text(self, output, where):
        text = output.decode()  # it is UTF-8
        self.assertEqual(steering(text.replace("\n", "")), [], (where, text))
        return text

    def check_json(self, text, hostile=None):
        """JSON shows nothing that steers, and has the texts as they were."""
        self.check_text(text.encode(), "JSON")
        document = json.loads(text)

        def check(value):
            if isinstance(value, dict):
                value = [*value, *value.values()]
            if isinstance(value, list):
                for each in value:
                    check(each)
            for name in re.findall(r"<([\w.\[\]]+)>", value) if isinstance(value, str) and hostile else ():
                if name in hostile.texts:  # the end may be left out: a boundary is the first word of its site
                    text = hostile.texts[name]
                    self.assertIn(decoded(text[:text.index(b"<%s>" % name.encode())]), value)
        check(document)
        return document

    def check_table(self, output):
        text = output.decode()
        self.assertEqual(steering(text.replace("\r\n", "")), [], text[:1000])
        rows = list(csv.reader(io.StringIO(text, newline="")))
        self.assertEqual(len({len(row) for row in rows}), 1)
        for cell in (cell for row in rows for cell in row):
            is_number = re.fullmatch(r"-?[0-9.]+(e[+-][0-9]+)?|", cell)
            self.assertFalse(not is_number and cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell)
        return rows

    def check_metrics(self, output):
        text = self.check_text(output.encode() if isinstance(output, str) else output, "metrics")
        label = r'\w+="(?:[^"\\]|\\[\\"n])*"'
        for line in text.splitlines():
            self.assertRegex(line, rf"^(# \S.*|\w+(\{{{label}(,{label})*\}})? \S+)$")

    def check_page(self, path):
        text = path.read_bytes().decode()
        page = Tags(text)
        self.assertEqual(steering("".join(page.texts).replace("\n", "")), [], path)
        self.assertEqual(page.tags.count("script"), text.count("</script>"))

    # Files

    @functools.cache  # of this test
    def profile(self, name="run\n.h5", first=False, filled=False, size=0, but=("disagreement",)):
        """A disturbed profile in which all texts are hostile. `filled`: also those that usually are empty."""
        path = self.directory / "made.h5"  # h5py opens no other names
        halcyon_test.write_disturbed_profile(path, 0.02)
        hostile = Hostile(first, size)
        make_hostile(path, hostile, also=text_attributes() if filled else (), but=() if filled else but)
        return path.rename(self.place / name), hostile

    def profiles(self):
        return [self.profile(), self.profile("first.h5", first=True), self.profile("filled.h5", filled=True)]

    # Every command

    def test_all_commands_are_fed(self):
        listed = re.findall(r"^  ([a-z]+) ", re.search(r"^Commands:\n((?:  .*\n)+)", self.halcyon("--help").output,
                                                       re.M)[1], re.M)
        self.assertGreater(len(listed), 10)
        fed = {name.removeprefix("test_").split("_")[0] for name in dir(self) if name.startswith("test_")}
        self.assertEqual([command for command in listed if command not in fed], [],
                         "feed these commands here, in a test that begins with their name")

    def test_report(self):
        harmless = self.record_disturbed("harmless.h5")
        for path, hostile in self.profiles():
            text = self.run_hostile("report", path)
            self.assertIn(LETTERS, text)
            self.assertIn(LEGIBLE, "".join(text.split()))
            document = self.check_json(self.run_hostile("report", "--json", "-", path), hostile)
            self.assertEqual(document["command"], decoded(hostile.texts["command"]))
            self.run_hostile("report", "--csv", "-", path)
            self.run_hostile("report", "--html", "page.html", path)
            self.check_page(self.directory / "page.html")
        everything = [path for path, _ in self.profiles()]
        self.run_hostile("report", "--html", "page.html", *everything)
        self.check_page(self.directory / "page.html")
        self.run_hostile("report", "--html", "plain.html", harmless)
        self.run_hostile("report", "--html", "page.html", everything[0])
        tags = [Tags((self.directory / page).read_text()).tags for page in ("plain.html", "page.html")]
        self.assertEqual(tags[0].count("script"), tags[1].count("script"))  # one of the runs may have a warning more
        self.run_hostile("report", self.place, statuses=ERRORS)
        self.run_hostile("report", self.place / "none", everything[0], statuses=ERRORS)
        self.run_hostile("report", "--method", os.fsdecode(STEERS), everything[0], statuses=ERRORS)

    def test_report_on_a_terminal(self):
        path, _ = self.profile()
        terminal = Terminal([HALCYON, "report", path], self.own_environment(TERM="xterm"), self.directory)
        self.addCleanup(terminal.end)
        shown = terminal.read_to_the_end()
        self.assertRegex(shown, r"\x1b\[1;31mRED\x1b\[0m")
        self.check_text(OUR_SEQUENCES.sub("", shown).replace("\r\n", "\n").encode(), "terminal")

    def test_info(self):
        for path, hostile in self.profiles():
            self.assertIn(LETTERS, self.run_hostile("info", path))
            document = self.check_json(self.run_hostile("info", "--json", "-", path), hostile)
            for name in ("command", "mpi", "counter", "clock", "start_time", "exit_state", "boundary"):
                self.assertEqual(document[name], decoded(hostile.texts[name]))

    def test_compare(self):
        (end, _), (first, _), (filled, _) = self.profiles()
        for a, b in ((end, end), (end, first), (end, filled)):
            self.run_hostile("compare", a, b)
            self.check_json(self.run_hostile("compare", "--json", "-", a, b))

    def test_compose(self):
        path, _ = self.profile(but=("disagreement", "exit_state"))
        composed = self.place / "composed.h5"
        again = self.place / "again.h5"
        shutil.copy(path, again)
        self.run_hostile("compose", "-o", composed, path, again)
        self.run_hostile("info", composed)
        self.run_hostile("report", composed)
        self.run_hostile("compose", "-o", composed, path, again, statuses=ERRORS)

    def test_export(self):
        for path, hostile in self.profiles():
            self.run_hostile("export", "--csv", "-", path)
            self.check_metrics(self.run_hostile("export", "--openmetrics", "-", path))
            self.run_hostile("export", "--perfetto", "trace", path)
            for one in slices_of((self.directory / "trace").read_bytes()):
                texts = [one.track.name, one.track.process, one.name, *map(str, one.arguments.values())]
                self.assertEqual(steering("".join(texts)), [], texts)
            self.assertIn("command", hostile.texts)

    def test_long_texts_are_shortened(self):
        path, hostile = self.profile("long.h5", size=LONG)
        for command in ("report", "info"):
            text = self.run_hostile(command, path)
            self.assertIn("…", text)
            longest = max(len(line) for line in text.splitlines())
            self.assertLess(len(text), (len(hostile.texts) + 40) * LINES_OF_A_LONG_TEXT * 80)
            self.assertLess(longest, LINES_OF_A_LONG_TEXT * 80)
        self.check_json(self.run_hostile("info", "--json", "-", path), hostile)

    def test_baselines(self):
        # Without a counter, its groups do not depend on the machine, and so it becomes known on a busy one, too.
        self.halcyon("run", "--counter", "none", "-o", "known.h5", "--", *MPI.launch(1), PROGRAM, 200000, "finalize")
        known = json.loads(self.halcyon("baselines", "export").output)
        self.assertTrue(known["works"] and known["hosts"])
        for first in (False, True):
            hostile = Hostile(first)
            file = self.place / "known.json"
            file.write_text(json.dumps(hostile.document(known)))
            self.run_hostile("baselines", "import", file)
            for command in ("list", "show", "export"):
                self.run_hostile("baselines", command)
            exported = self.check_json(self.run_hostile("baselines", "export"))
            self.assertIn(hostile.texts[".works.command"].decode(errors="replace"),
                          [work["command"] for work in exported["works"]])
        self.run_hostile("baselines", "export", "-o", self.place / "again.json")
        self.check_json((self.place / "again.json").read_text())
        file.write_text(json.dumps({**known, "kind": decoded(STEERS)}))
        self.run_hostile("baselines", "import", file, statuses=ERRORS)
        for command in ("show", "forget"):
            self.run_hostile("baselines", command, os.fsdecode(STEERS), statuses=ERRORS)
        next(Path(self.state).rglob("*-0")).with_name(os.fsdecode(STEERS.replace(b"/", b""))).write_text("{}")
        self.run_hostile("baselines", "list")

    def test_ledger(self):
        for path, _ in self.profiles():
            self.run_hostile("ledger", "add", "--database", self.place / "site.db", path, statuses=(0, *ERRORS))
            self.run_hostile("ledger", "add", "--spool", self.place, path, statuses=(0, *ERRORS))
        for words in (["runs"], ["lost", "--by", "user"], ["lost", "--by", "host"], ["lost", "--by", "program"]):
            self.run_hostile("ledger", *words, "--database", self.place / "site.db")
            self.check_json(self.run_hostile("ledger", *words, "--database", self.place / "site.db", "--json", "-"))
        unfinished = self.place / f"unfinished-{os.geteuid()}"
        unfinished.mkdir()
        for number, (path, _) in enumerate(self.profiles()):
            shutil.copy(path, unfinished / f"{number}.h5")
        self.run_hostile("ledger", "collect", "--idle", "0", self.place, statuses=(0, *ERRORS))
        self.run_hostile("ledger", "ingest", "--database", self.place / "site.db", self.place, statuses=[0, 2])
        self.run_hostile("ledger", "runs", "--database", self.place / "none.db", statuses=ERRORS)

    def test_recover(self):
        program = self.place / "dies"
        shutil.copy(PROGRAM, program)
        hostile = decoded(Hostile()("command"))
        run = self.place / "dead.h5"
        finished = self.mpirun(2, [program, 1000, "abort"], HALCYON_OUTPUT=run, HALCYON_COMMAND=hostile)
        parts = self.place / "dead.h5.parts"
        self.assertTrue(parts.exists(), finished)
        self.run_hostile("recover", parts)
        self.run_hostile("info", run)
        self.run_hostile("report", run)
        self.run_hostile("recover", parts, statuses=ERRORS)
        self.run_hostile("recover", self.place, statuses=ERRORS)

    # Running jobs

    def start_job(self):
        """A job whose command, name and program are hostile, and that runs until self.stop exists."""
        program = self.place / "dies"
        shutil.copy(PROGRAM, program)
        self.stop = self.directory / "stop"
        texts = Hostile()
        environment = self.own_environment(HALCYON_COMMAND=decoded(texts("command")),
                                           LSB_JOBID=decoded(texts("job")))
        words = [HALCYON, "exec", "--live", "on", "-o", self.directory / "live.h5", "--", program, self.stop, "finalize"]
        job = subprocess.Popen([*MPI.launch(2), *map(str, words)], cwd=self.directory, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(self.stop.touch)
        return job

    def test_watch(self):
        job = self.start_job()
        end = time.monotonic() + TIME_LIMIT
        document = None
        while not document or document[0]["progress_rate"] is None:
            self.assertLess(time.monotonic(), end, document)
            text = self.run_hostile("watch", "--pid", str(job.pid), "--once", "--json", "-", statuses=(0, *ERRORS))
            document = self.check_json(text) if text.startswith("[") else None
        self.assertIn(LETTERS, self.run_hostile("watch", "--pid", str(job.pid), "--once", "--openmetrics", "metrics"))
        self.check_metrics((self.directory / "metrics").read_bytes())
        self.run_hostile("watch", os.fsdecode(STEERS), "--once", statuses=ERRORS)
        self.run_hostile("watch", "--once", "--warn-if", os.fsdecode(STEERS), statuses=ERRORS)

        terminal = Terminal([HALCYON, "watch", "--pid", job.pid], self.own_environment(TERM="xterm"), self.directory)
        self.addCleanup(terminal.end)
        terminal.wait_for("last boundary")
        terminal.press("q")
        shown = terminal.read_to_the_end()
        self.check_text(OUR_SEQUENCES.sub("", shown).replace("\r\n", "\n").encode(), "screen")

        # What a reader published of it on another host; all its texts are hostile.
        published = self.place / "live"
        publisher = subprocess.Popen([HALCYON, "watch", "--publish", published], cwd=self.directory,
                                     env=self.own_environment(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(publisher.wait)
        self.addCleanup(publisher.kill)
        while not list(published.glob("*.live")):
            self.assertLess(time.monotonic(), end)
        self.run_hostile("watch", "--from", published, "--once", statuses=(0, *ERRORS))
        self.stop.touch()
        lines = self.run_hostile("watch", "--pid", str(job.pid), statuses=(0, *ERRORS))
        self.assertIn("halcyon: ", lines)
        publisher.wait()
        self.check_text(publisher.stderr.read(), "publisher")
        publisher.stderr.close()

    # Commands that start programs

    def launch(self, *program):
        return ["--", *MPI.launch(1), *map(str, program or (self.place / "none", os.fsdecode(STEERS)))]

    def test_run(self):
        program = self.place / "dies"
        shutil.copy(PROGRAM, program)
        shown = self.run_hostile("run", "--dry-run", *self.launch(program, 2000, os.fsdecode(STEERS)))
        self.assertIn(LETTERS, shown)
        self.run_hostile("run", "-o", self.place / "run.h5", "--html", self.place / "page.html",
                         *self.launch(program, 2000, "finalize"))
        self.check_page(self.place / "page.html")
        self.run_hostile("run", *self.launch(), statuses=range(1, 256), launcher_speaks=True)
        self.run_hostile("run", "--", os.fsdecode(STEERS), statuses=ERRORS)
        self.run_hostile("run", "-o", self.place / "none" / "run.h5", *self.launch("true"), statuses=ERRORS)
        self.run_hostile("run", "--inject", os.fsdecode(STEERS), *self.launch("true"), statuses=ERRORS)

    def test_exec(self):
        self.run_hostile("exec", "--", self.place / "none", statuses=ERRORS)
        self.run_hostile("exec", "--counter", os.fsdecode(STEERS), "--", "true", statuses=ERRORS)

    def test_regulate(self):
        self.run_hostile("regulate", "--target", os.fsdecode(STEERS), *self.launch("true"), statuses=ERRORS)
        self.run_hostile("regulate", *self.launch(), statuses=range(1, 256), launcher_speaks=True)

    def test_doctor(self):
        self.run_hostile("doctor", *self.launch(), statuses=ERRORS)
        self.check_json(self.run_hostile("doctor", "--json", "-", *self.launch(), statuses=ERRORS))

    def test_disturb(self):
        self.run_hostile("disturb", os.fsdecode(STEERS), statuses=ERRORS)

    def test_witness(self):
        self.run_hostile("witness", "--for", os.fsdecode(STEERS), statuses=ERRORS)

    def test_help(self):
        self.run_hostile("help", os.fsdecode(STEERS), statuses=ERRORS)
        self.run_hostile(os.fsdecode(STEERS), statuses=ERRORS)
        self.run_hostile("report", "--" + os.fsdecode(STEERS), statuses=ERRORS)

    # Series

    def make_hostile_series(self, directory):
        """Changes all texts of its list of runs, and of its profiles."""
        hostile = Hostile()
        manifest = directory / "series.json"
        manifest.write_text(json.dumps(hostile.document(json.loads(manifest.read_text()))))
        return hostile

    def test_repeat(self):
        series = self.place / "series"
        self.run_hostile("repeat", "-r", "2", "-o", series, *self.launch(PROGRAM, 20000, "finalize"))
        profiles = sorted(series.glob("*.h5"))
        self.assertEqual(len(profiles), 2)
        for path in profiles:
            made = path.rename(self.directory / "made.h5")
            make_hostile(made, Hostile(), but=("disagreement", "exit_state"))
            made.rename(path)
        files = ["--json", self.place / "result.json", "--csv", self.place / "runs.csv", "--html",
                 self.place / "page.html"]
        self.run_hostile("repeat", "-r", "2", *files, "--resume", series)
        self.check_json((self.place / "result.json").read_text())
        self.check_page(self.place / "page.html")
        manifest = json.loads((series / "series.json").read_text())
        for run in manifest["runs"]:  # a run may have any name
            run["name"] = FORMULA.decode() + decoded(STEERS.replace(b"/", b"")) + run["name"]
        (series / "series.json").write_text(json.dumps(manifest))
        self.run_hostile("repeat", "-r", "2", *files, "--resume", series, statuses=(0, *ERRORS))
        self.check_json((self.place / "result.json").read_text())
        self.check_text((self.place / "runs.csv").read_bytes(), "runs.csv")
        self.make_hostile_series(series)
        self.run_hostile("repeat", "-r", "2", "--resume", series, statuses=ERRORS)

    def check_failing_series(self, *words):
        """The command with a program that fails, then once more with a hostile list of runs."""
        series = self.place / "series"
        self.run_hostile(*words, "-o", series, *self.launch("false", "{N}", os.fsdecode(STEERS)),
                         statuses=range(1, 256))
        self.make_hostile_series(series)
        self.run_hostile(*words, "--resume", series, *self.launch("false", "{N}"), statuses=ERRORS)
        self.run_hostile(*words, "-o", series, *self.launch("false", "{N}"), statuses=ERRORS)

    def test_search(self):
        self.check_failing_series("search", "--vary", "N=1..2", "--limit", "time < 1 s")
        self.run_hostile("search", "--vary", os.fsdecode(STEERS), "--limit", os.fsdecode(STEERS), *self.launch("false"),
                         statuses=ERRORS)

    def test_map(self):
        self.check_failing_series("map", "--vary", "N=1,2,3")
        self.run_hostile("map", "--vary", os.fsdecode(STEERS), *self.launch("false"), statuses=ERRORS)

    def test_validate(self):
        series = self.place / "validation"
        self.run_hostile("validate", "-o", series, *self.launch(), statuses=range(1, 256))
        self.make_hostile_series(series)
        self.run_hostile("validate", "-o", series, *self.launch(), statuses=range(1, 256))
        self.run_hostile("validate", "-o", self.place / "other", "--disturber", os.fsdecode(STEERS), *self.launch(),
                         statuses=ERRORS)


if __name__ == "__main__":
    halcyon_test.main()
