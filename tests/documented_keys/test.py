"""The documentation is complete: every key and column is in docs/json.md or docs/export.md, and in the JSON Schemas of
docs/schema; README is short and says what its pages say, and links between pages lead somewhere."""
import csv
import io
import json
import re

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, MPI, PYTHON, SOURCE, TOTALS, check_schema, checks_schemas, editing, keys_of_schema

METHODS = ("compound", "paper")
PROBES = ("registers", "l2", "memory_latency", "memory_bandwidth")
LEAST_LINKS = 50
TERMINAL = 80  # columns
MOST_LINES_OF_README = 100


def section(document, heading):
    """The text of the document below this heading."""
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", (SOURCE / "docs" / document).read_text(), re.M | re.S)[1]


def first_cells(text):
    """Words in code in the first column of the text's tables."""
    cells = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def keys_of(value, path=""):
    """Paths of all leaves of a JSON value."""
    if isinstance(value, dict):
        return {key for name, inner in value.items() for key in keys_of(inner, f"{path}.{name}" if path else name)}
    if isinstance(value, list):
        return {key for inner in value for key in keys_of(inner, path + "[]")}
    return {path}


class DocumentedKeys(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        for file in (self.record_disturbed("a.h5"), self.record_disturbed("b.h5", delay=0.0)):
            with editing(file) as profile:
                profile.attrs["known_runs"] = 2
                for name in ("displacement", "low", "high"):
                    profile.attrs[f"known_runs_{name}_seconds"] = 0.0
                profile.attrs["known_runs_matched_seconds"] = profile.attrs["run_time_seconds"]
                profile.attrs["known_runs_of_parts"] = 1  # two would contradict the run itself
                for name in ("beyond", "beyond_low", "beyond_high"):
                    profile.attrs[f"known_runs_{name}_seconds"] = 0.0

    def printed(self, *words):
        finished = self.halcyon(*words)
        self.assertEqual(finished.status, 0, finished)
        document = json.loads(finished.output)
        check_schema(document, words[0])
        return document

    def report_keys(self):
        """Documented keys of the report of a run with a likely cause."""
        documented = {key.replace("METHOD", method) for key in first_cells(section("json.md", "report"))
                      for method in METHODS}
        documented = {key.replace("PROBE", probe) for key in documented
                      for probe in PROBES}
        return documented - {"breakdown"}  # the keys of this object have a table of their own

    def check(self, documented, printed, only_sometimes=()):
        printed = keys_of(printed)
        self.assertEqual(documented - printed - set(only_sometimes), set(), "documented, but not printed")
        self.assertEqual(printed - documented, set(), "printed, but not documented")

    def check_schema_knows(self, name, documented):
        self.assertEqual(keys_of_schema(name), documented)

    def test_of_every_column_of_a_profile(self):
        built = (BUILD / "share" / "halcyon" / "columns.md").read_text()
        self.assertEqual((SOURCE / "docs" / "columns.md").read_text(), built,
                         "the columns have changed: copy share/halcyon/columns.md of the build to docs/")

    def test_of_report(self):
        report = self.printed("report", "--json", "-", "a.h5")
        self.assertNotEqual(report["verdict"], "unknown", report)
        report["phases"]["changes"] = self.changes_of_level()
        self.check_schema_knows("report", self.report_keys())
        self.check(self.report_keys(), report,
                   {"breakdown.groups[].other_groups", "warnings[].code", "warnings[].message"} |
                   {key for key in self.report_keys() if key.startswith("peers.")})
        self.assertEqual(report["cause"]["code"], "communication", report)

    def changes_of_level(self):
        """What is printed of a run in which everything was slower for a while."""
        file = self.record_disturbed("slow.h5")
        with editing(file) as profile:
            size = profile["duration"].size
            profile["duration"][size // 3:size // 2] *= 2
            profile.attrs["run_time_seconds"] = profile["duration"][:].sum()
        changes = self.printed("report", "--json", "-", "slow.h5")["phases"]["changes"]
        self.assertEqual(len(changes), 1)
        return changes

    def test_of_info(self):
        text = section("json.md", "info")
        totals = re.findall(r"`([^`]+)`", re.search(r"^TOTAL is one of(.*?)\. Sendrecv", text, re.M | re.S)[1])
        self.assertEqual(set(totals), set(TOTALS))
        documented = {key.replace("TOTAL", total) for key in first_cells(text) for total in totals}
        self.check_schema_knows("info", documented)
        self.check(documented, self.printed("info", "--json", "-", "a.h5"))

    def test_of_compare(self):
        documented = set(first_cells(section("json.md", "compare"))) - {"a", "b"}
        of_runs = {f"{run}.{key}" for run in "ab" for key in self.report_keys()}
        self.check_schema_knows("compare", documented | of_runs)
        printed = self.printed("compare", "--json", "-", "a.h5", "b.h5")
        self.assertTrue(printed["same_work"], printed)
        # Values that are not known are null: the cause of a green run, and what needs a verdict.
        nulls = {f"{run}.{key}" for run in "ab" for key in ("cause", "breakdown")}
        self.check(documented | of_runs | nulls | {"difference"}, printed,
                   {key for key in documented if key.startswith("difference.")} | {"difference"} |
                   {key for key in of_runs if re.search("warnings|breakdown|cause|changes|peers", key)} |
                   nulls)
        for name, other in (("c.h5", 3), ("d.h5", 1)):  # another number of ranks: other work
            self.mpirun(other, [EXAMPLES / "halo_c", 50], HALCYON_OUTPUT=self.directory / name)
        difference = self.printed("compare", "--json", "-", "c.h5", "d.h5")["difference"]
        self.assertEqual({f"difference.{key}" for key in difference},
                         {key for key in documented if key.startswith("difference.")})

    def test_of_repeat(self):
        steps = SOURCE / "tests" / "repeats_until_known" / "steps.py"
        program = ["--counter", "none", "--", *MPI.launch(1), PYTHON, steps]

        def without_brackets(keys):  # an interval may be null
            return {key.removesuffix("[]") for key in keys}

        documented = without_brackets(first_cells(section("json.md", "repeat")))

        def with_times_as_one(keys):  # the times of a program that is compared have the keys of a series
            return {re.sub(r"^(versus\.b|comparisons\[\]\.times)\..*", r"\1", key) for key in keys}

        known = with_times_as_one(keys_of_schema("repeat"))
        self.assertEqual(without_brackets(known), documented)
        of_comparisons = {key for key in documented if re.match("versus|comparisons|ranking", key)}
        sometimes = {"contradiction", "contradiction.code", "contradiction.difference_percent", "caveats",
                     "caveats[].code", "caveats[].value", "work.caveats"}

        def check(only, *words):
            finished = self.halcyon("repeat", "--json", "-", *words)
            self.assertEqual(finished.status, 0, finished)
            check_schema(json.loads(finished.output), "repeat")
            keys = {key for key in documented if key in only or key not in of_comparisons and
                    not key.startswith("work.") and key not in ("runs[].program", "runs[].work")}
            printed = with_times_as_one(without_brackets(keys_of(json.loads(finished.output))))
            self.assertEqual(keys - printed - sometimes, set(), "documented, but not printed")
            self.assertEqual(printed - documented - sometimes, set(), "printed, but not documented")

        check(of_comparisons | {"runs[].program"}, "--aa", "-r", 3, *program, 40, 5)
        check({key for key in documented if key.startswith("work.")} | {"runs[].work"}, "--work", "N=40..90", "-r", 4,
              *program, "{N}", 5)

    def test_of_ledger(self):
        with editing(self.directory / "a.h5") as profile:
            profile.attrs["inject"] = ""
        self.assertEqual(self.halcyon("ledger", "add", "--database", "site.db", "a.h5").status, 0)
        for name, words in (("runs", []), ("lost", ["--by", "cause"])):
            finished = self.halcyon("ledger", name, "--database", "site.db", "--json", "-", *words)
            document = json.loads(finished.output)
            check_schema(document, f"ledger-{name}")
            documented = set(first_cells(section("json.md", f"ledger {name}")))
            self.check(documented, document)
            self.check_schema_knows(f"ledger-{name}", {key.removeprefix("[].") for key in documented})
        for name in ("nodes", "trend"):  # tests/ledger holds what they print against the schema
            self.check_schema_knows(f"ledger-{name}", set(first_cells(section("json.md", f"ledger {name}"))))

    def test_of_watch(self):  # tests/watches_a_run holds what it prints against both
        self.check_schema_knows("watch", set(first_cells(section("json.md", "watch"))))

    def test_a_schema_refuses_a_key_that_it_does_not_know_and_one_that_is_missing(self):
        if not checks_schemas():
            self.skipTest("no python3-jsonschema")
        report = self.printed("report", "--json", "-", "a.h5")
        compared = self.printed("compare", "--json", "-", "a.h5", "b.h5")
        for name, document, place in (("report", report, report), ("report", [report], report),
                                      ("report", report, report["breakdown"]["evidence"]),
                                      ("compare", compared, compared["a"])):
            check_schema(document, name)
            place["undocumented"] = 1
            self.assertRaises(AssertionError, check_schema, document, name)
            del place["undocumented"]
        del report["phases"]
        self.assertRaises(AssertionError, check_schema, report, "report")

    def test_of_the_tables_of_runs_and_of_segments(self):
        def header(*words):
            finished = self.halcyon(*words)
            self.assertEqual(finished.status, 0, finished)
            return next(csv.reader(io.StringIO(finished.output)))

        report = self.printed("report", "--json", "-", "a.h5")
        columns = []
        for name, value in report.items():
            if name.endswith(("_interval_percent", "_interval_seconds")):
                columns += [name + "_low", name + "_high"]
            elif not isinstance(value, (dict, list)):
                columns.append(name)
        self.assertEqual(header("report", "--csv", "-", "a.h5"), columns)
        self.assertEqual(header("export", "--csv", "-", "a.h5"), first_cells(section("export.md", "--csv")))

    def test_of_the_metrics(self):
        finished = self.halcyon("export", "--openmetrics", "-", "a.h5")
        self.assertEqual(finished.status, 0, finished)
        metrics = re.findall(r"^# TYPE (\S+)", finished.output, re.M)
        documented = first_cells(section("export.md", "--openmetrics"))
        only_sometimes = {"halcyon_warning", "halcyon_speed_ratio"}
        self.assertEqual(sorted({*metrics, *only_sometimes}), sorted(documented))
        # tests/unit/report holds every metric of the table of figures against the same page.

    def test_help_prints_what_troubleshooting_says_of_each_code(self):
        codes = re.findall(r"^### ([a-z0-9-]+)$", (SOURCE / "docs" / "troubleshooting.md").read_text(), re.M)
        self.assertIn("slow-l2", codes)
        for code in codes:
            finished = self.halcyon("help", code)
            self.assertEqual(finished.status, 0, finished)
            self.assertEqual(finished.output.splitlines()[0], code)
            self.assertLessEqual(max(map(len, finished.output.splitlines())), TERMINAL, finished)
            self.assertNotRegex(finished.output, r"`|\]\(|\*\*")
        self.assertIn("at least five times", self.halcyon("help", "low-coverage").output)
        self.assertIn("Did you mean: low-coverage?", self.halcyon("help", "low-covrage").errors)

    def test_each_page_says_for_whom_it_is(self):
        for page in (SOURCE / "docs").glob("*.md"):
            title, empty, first = page.read_text().split("\n")[:3]
            self.assertEqual((title[:2], empty, first[:4]), ("# ", "", "For "), page)

    def test_readme_is_short_and_names_every_command(self):
        readme = (SOURCE / "README.md").read_text()
        self.assertLessEqual(readme.count("\n"), MOST_LINES_OF_README)
        listed = self.halcyon("--help").output.partition("Commands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  ([a-z]+) ", listed, re.M)
        self.assertIn("run", names)
        self.assertEqual([name for name in names if f"| `halcyon {name}`" not in readme and
                          f", `halcyon {name}`" not in readme], [])

    def test_readme_has_no_number_that_its_page_does_not_print(self):
        readme = re.sub(r"^\|.*\n", "", (SOURCE / "README.md").read_text(), flags=re.M)
        story = readme.split("\n\n", 2)[1]  # the example of the first sentence
        checked = 0
        transcript = re.search(r"^\$ .*?(?=^```)", readme, re.M | re.S)[0]
        shown = " ".join((SOURCE / "docs" / "tutorial.md").read_text().replace("\\\n", " ").split())
        self.assertIn(" ".join(transcript.replace("\\\n", " ").split()), shown)
        for part in re.split(r"\n\n|\n(?=- )", re.sub(r"^```.*?^```$", "", readme, flags=re.M | re.S)):
            pages = re.findall(r"\((docs/[\w-]+\.md)", part)
            said = " ".join((SOURCE / page).read_text() for page in pages)
            for number in re.findall(r"(?<![\w.])\d+\.\d+|(?<![\w.])\d{2,}(?![\w.])", re.sub(r"\]\([^)]*\)|`[^`]*`", "", part)):
                if part == story or part.startswith("- **"):  # the limits of the verdicts are in the code
                    continue
                checked += 1
                self.assertRegex(said, rf"(?<![\d.]){re.escape(number)}(?![\d])", part)
        self.assertGreater(checked, 5)

    def test_every_link_of_a_page_leads_to_a_file_and_to_a_heading_in_it(self):
        def without_code(text):
            return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))

        def anchors(page):
            headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M)
            return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

        checked = 0
        for page in [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *(SOURCE / "docs").glob("*.md")]:
            for target in re.findall(r"\]\(([^)]+)\)", without_code(page.read_text())):
                if re.match(r"https?:", target):
                    continue
                name, _, anchor = target.partition("#")
                linked = page.parent / name if name else page
                with self.subTest(page=page.name, target=target):
                    self.assertTrue(linked.is_file())
                    if anchor:
                        self.assertIn(anchor, anchors(linked))
                checked += 1
        self.assertGreater(checked, LEAST_LINKS)

    def test_the_tree_that_contributing_shows_is_the_tree(self):
        shown = re.search(r"^```\n(libprofile/.*?)^```", (SOURCE / "CONTRIBUTING.md").read_text(), re.M | re.S)[1]
        named = re.findall(r"^([\w.]+)/", shown, re.M)
        versioned = self.run_command(["git", "-C", SOURCE, "ls-tree", "-d", "--name-only", "HEAD"])
        if versioned.status != 0:
            self.skipTest("no git repository")
        self.assertEqual(sorted(named), sorted(versioned.output.split()))


if __name__ == "__main__":
    halcyon_test.main()
