"""What several commands take, print or end with has one name: options, exit statuses, and JSON under a schema."""
import json
import re

import halcyon_test
from halcyon_test import EXAMPLES, MPI, SOURCE, editing

FAILED, WORSE, UNKNOWN = 2, 3, 4
# Both are places to write to, and both are numbers.
TWO_FORMS = {"--output": {"FILE", "DIR"}, "--vary": {"NAME=A..B", "NAME=LIST"}}
# How each command fails although what was typed makes sense.
FAILURES = {
    "run": ["-o", "{}/run.h5", "--", *MPI.launch(1), "true"],
    "repeat": ["-o", "{}/series", "--", *MPI.launch(1), "false"],
    "exec": ["--", "./nothing"],
    "validate": ["-o", "{}/series", "--", *MPI.launch(1), "false"],
    "search": ["--vary", "N=1..2", "--limit", "time < 1", "-o", "{}/series", "--", *MPI.launch(1), "false", "{{N}}"],
    "map": ["--vary", "N=1,2", "-o", "{}/series", "--", *MPI.launch(1), "false", "{{N}}"],
    "watch": ["no-such-job"],
    "regulate": ["-o", "{}/run.h5", "--", *MPI.launch(1), "true"],
    "report": ["nothing.h5"],
    "info": ["nothing.h5"],
    "compare": ["nothing.h5", "nothing.h5"],
    "compose": ["-o", "new.h5", "nothing.h5", "nothing.h5"],
    "recover": ["nothing.h5.parts"],
    "export": ["--csv", "-", "nothing.h5"],
    "baselines show": ["0123456789abcdef-0"],
    "baselines forget": ["0123456789abcdef-0"],
    "baselines export": ["0123456789abcdef-0"],
    "baselines import": ["nothing.json"],
    "ledger add": ["--database", "site.db", "nothing.h5"],
    "ledger collect": ["nothing"],
    "ledger ingest": ["--database", "site.db", "nothing"],
    "ledger runs": ["--database", "nothing.db"],
    "ledger lost": ["--database", "nothing.db"],
    "ledger who": ["--database", "nothing.db", "4711"],
    "ledger nodes": ["--database", "nothing.db"],
    "ledger trend": ["--database", "nothing.db", "lmp"],
    "ledger html": ["--database", "nothing.db", "{}/pages"],
    "ledger metrics": ["--database", "nothing.db"],
    "ledger export": ["--database", "nothing.db", "{}/runs"],
    "ledger slim": ["--database", "nowhere/site.db", "--keep", "1d"],
}
# They say what they can, or need another machine for it.
CANNOT_FAIL = {"doctor", "disturb", "witness", "baselines list"}


class OneVocabulary(halcyon_test.Behaviour):

    def help_of(self, *command):
        finished = self.halcyon(*command, "--help")
        self.assertEqual(finished.status, 0, finished)
        return finished.output

    def commands(self, *above):
        """All commands, those within others as "ledger add"."""
        listed = re.search(r"^Commands:\n(.*?)\n\n", self.help_of(*above), re.M | re.S)
        if not listed:
            return [" ".join(above)]
        names = re.findall(r"^  ([a-z]+) ", listed[1], re.M)
        return [command for name in names for command in self.commands(*above, name)]

    def options_of(self, command):
        """(short name, long name, form of the value, description) of each option."""
        text = re.search(r"^Options:\n(.*?)(?=\n\n|\Z)", self.help_of(*command.split()), re.M | re.S)[1]
        for entry in re.split(r"\n(?=  (?:    |-)\S)", "\n" + text)[1:]:
            short, name, rest = re.match(r"  (?:    |(-\w), )(--[\w-]+)(.*)", entry, re.S).groups()
            form = re.match(r" (?! )(\S+)", rest)
            yield short, name, form[1] if form else "", " ".join(rest[form.end() if form else 0:].split())

    def test_an_option_of_several_commands_has_one_form_and_one_short_name(self):
        forms, described = {}, {}
        for command in self.commands():
            for short, name, form, description in self.options_of(command):
                own_words = "|" in form and form == form.lower()  # a choice of this command
                forms.setdefault(name, set()).add((short, "words" if own_words else form))
                described.setdefault((name, form), set()).add(description)
        self.assertIn((None, "FILE|-"), forms["--json"])
        for name, found in forms.items():
            if {form for _, form in found} != TWO_FORMS.get(name):
                self.assertEqual(len(found), 1, (name, found))
        for name in ("--json", "--html", "--openmetrics", "--perfetto", "--confidence", "--seed", "--method"):
            self.assertEqual([len(texts) for (of, _), texts in described.items() if of == name], [1], name)
        for (name, form), _ in described.items():  # whatever else is written to a place has its own name in the table
            if form == "FILE|-":
                self.assertIn(name, {"--json", "--csv", "--openmetrics", "--perfetto"})

    def test_each_command_with_json_has_a_schema_and_is_in_the_page(self):
        page = (SOURCE / "docs" / "json.md").read_text() + (SOURCE / "docs" / "search.md").read_text()
        written = [command for command in self.commands() if "--json" in [name for _, name, *_ in self.options_of(command)]]
        self.assertIn("ledger runs", written)
        for command in written:
            schema = "report" if command in ("run", "regulate") else command.replace(" ", "-")  # that of their run
            self.assertTrue((SOURCE / "docs" / "schema" / f"{schema}.json").is_file(), command)
            self.assertRegex(page, rf"{command}\b")

    def test_what_makes_no_sense_ends_with_2(self):
        for command in self.commands():
            self.check_refused(self.halcyon(*command.split(), "--no-such-option"), "--help", status=FAILED)
        self.check_refused(self.halcyon("no-such-command"), "no-such-command", status=FAILED)

    def test_what_cannot_be_done_ends_with_2_too(self):
        commands = set(self.commands())
        self.assertEqual(commands - CANNOT_FAIL, set(FAILURES), "name how it fails")
        for command, words in FAILURES.items():
            with self.subTest(command):
                place = self.scratch_directory()
                finished = self.halcyon(*command.split(), *[str(word).format(place) if isinstance(word, str) else word
                                                            for word in words])
                self.assertEqual(finished.status, FAILED, finished)
                self.assertIn("halcyon: ", finished.errors)

    def test_what_was_asked_for_and_is_not_known_ends_with_4(self):
        steps = [*MPI.launch(1), EXAMPLES / "plate", 300]
        with editing(self.record_disturbed()) as profile:
            profile.attrs["disagreement"] = "rank 1 passed another boundary"
        self.assertEqual(self.halcyon("report", "run.h5").status, 0)
        self.assertEqual(self.halcyon("report", "run.h5", "--fail-on", "red").status, UNKNOWN)
        series = ["repeat", "--within", "0.01%", "-r", 2, "--counter", "none"]
        known = self.halcyon(*series, "--", *steps)
        self.assertEqual(known.status, 0, known)
        unknown = self.halcyon(*series, "--fail-on", "unknown", "--", *steps)
        self.assertEqual(unknown.status, UNKNOWN, unknown)

    def test_doctor_ends_with_3_where_nothing_would_be_recorded(self):
        self.assertEqual(self.halcyon("doctor", "--", "./nothing").status, WORSE)

    def test_each_status_is_explained(self):
        for status in (0, FAILED, WORSE, UNKNOWN):
            self.assertTrue(self.halcyon("help", status).output.startswith(f"{status}\n"))


class AsInTheVersionBefore(halcyon_test.Behaviour):
    """Options that are called differently now, or had no value, still work, with one line that names the new form."""

    def check_warned(self, finished, *names):
        self.assertEqual((finished.status, len(finished.errors.splitlines())), (0, 1), finished)
        for name in names:
            self.assertIn(name, finished.errors)
        return finished.output

    def test_json_without_a_place(self):
        self.record_disturbed()
        printed = self.check_warned(self.halcyon("info", "--json", "run.h5"), "--json -")
        self.assertEqual(printed, self.halcyon("info", "--json", "-", "run.h5").output)
        self.assertEqual(json.loads(self.check_warned(self.halcyon("doctor", "--json"), "--json -"))["records"], True)
        finished = self.halcyon("info", "--json", "info.json", "run.h5")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual((self.directory / "info.json").read_text(), printed)

    def test_export_with_output(self):
        self.record_disturbed()
        table = self.check_warned(self.halcyon("export", "--csv", "run.h5"), "--csv -")
        self.assertEqual(table, self.halcyon("export", "--csv", "-", "run.h5").output)
        for words in (["--csv", "run.h5", "-o", "table.csv"], ["-o", "table.csv", "--csv", "run.h5"],
                      ["--csv", "run.h5", "--output=table.csv"]):
            self.assertEqual(self.check_warned(self.halcyon("export", *words), "--csv table.csv"), "")
            self.assertEqual((self.directory / "table.csv").read_text(), table)
            (self.directory / "table.csv").unlink()

    def test_export_json_and_csv_of_series(self):
        words = ["-r", 2, "--counter", "none", "--", *MPI.launch(1), EXAMPLES / "plate", 300]
        for option in ("--export-json", "--export-csv"):
            finished = self.halcyon("repeat", option, "result", *words)
            self.assertEqual(finished.status, 0, finished)
            self.assertIn(f"{option} is now --{option[9:]}", finished.errors)
            self.assertGreater((self.directory / "result").stat().st_size, 0)


if __name__ == "__main__":
    halcyon_test.main()
