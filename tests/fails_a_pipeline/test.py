"""A pipeline of tests learns from `report --fail-on` what passed, as an exit status, as annotations of GitHub, and as
JUnit's XML.
"""
import gzip
import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import halcyon_test
from halcyon_test import SOURCE, editing

HERE = Path(__file__).resolve().parent
KNOWN = SOURCE / "tests" / "reads_older_profiles"
GREEN, RED, UNKNOWN = "version-10", "version-3", "version-4"  # by their verdicts
WORSE, NOT_KNOWN = 3, 4  # exit statuses


class FailsAPipeline(halcyon_test.Behaviour):

    def profile(self, version, name=None):
        path = self.directory / (name or f"{version}.h5")
        path.write_bytes(gzip.decompress((KNOWN / f"{version}.h5.gz").read_bytes()))
        return path.name

    def check(self, status, *words):
        finished = self.halcyon("report", *words)
        self.assertEqual(finished.status, status, finished)
        return finished

    def test_an_unknown_verdict_passes_where_it_may(self):
        unknown, red = self.profile(UNKNOWN), self.profile(RED)
        self.check(NOT_KNOWN, "--fail-on", "red", unknown)
        self.check(0, "--fail-on", "red", "--unknown-ok", unknown)
        self.check(WORSE, "--fail-on", "red", "--unknown-ok", unknown, red)

    def test_a_run_that_did_not_come_to_its_end_does_not_pass(self):
        green = self.profile(GREEN)
        self.check(0, "--fail-on", "red", green)
        with editing(self.directory / green) as file:
            file.attrs["exit_state"] = "signal 9"
        self.check(NOT_KNOWN, "--fail-on", "red", green)

    def test_a_file_that_cannot_be_read_is_an_error_beside_the_others(self):
        finished = self.check(2, "--fail-on", "red", "--annotate", "github", "--junit", "out.xml", "nothing.h5",
                              self.profile(GREEN))
        missing, green = self.annotations(finished.output)
        self.assertTrue(missing.startswith("::error title=nothing.h5%3A unreadable::"), missing)
        self.assertTrue(green.startswith("::notice title=version-10.h5"), green)
        suite = ElementTree.parse(self.directory / "out.xml").getroot()
        self.assertEqual([len(suite.findall(f".//{kind}")) for kind in ("testcase", "error")], [2, 1])

    def test_what_tells_of_the_outcome_needs_one(self):
        for words in (["--unknown-ok"], ["--annotate", "github"], ["--junit", "out.xml"]):
            with self.subTest(words):
                self.assertIn("add --fail-on", self.check(2, *words, self.profile(GREEN)).errors)
        self.assertFalse((self.directory / "out.xml").exists())

    def annotations(self, text):
        return [line for line in text.splitlines() if line.startswith("::")]

    def test_github_gets_a_line_for_each_run(self):
        files = [self.profile(GREEN), self.profile(RED), self.profile(UNKNOWN, "50%,a:b.h5")]
        finished = self.check(WORSE, "--fail-on", "red", "--annotate", "github", *files)
        green, red, unknown = self.annotations(finished.output)
        self.assertTrue(green.startswith("::notice title=version-10.h5%3A green::quote it: "), green)
        self.assertRegex(red, r"^::error title=version-3\.h5%3A red::do not quote it: [\d.]+ %25 \(.* came from outside$")
        self.assertTrue(unknown.startswith("::error title=50%25%2Ca%3Ab.h5%3A unknown::do not quote it yet: "), unknown)
        passes = self.check(0, "--fail-on", "red", "--unknown-ok", "--annotate", "github", files[2])
        self.assertTrue(self.annotations(passes.output)[0].startswith("::warning "), passes)

    def test_annotations_leave_data_on_standard_output_alone(self):
        finished = self.check(WORSE, "--fail-on", "red", "--annotate", "github", "--json", "-", self.profile(RED))
        self.assertEqual(json.loads(finished.output)["verdict"], "red")
        self.assertEqual(len(self.annotations(finished.errors)), 1)

    def test_junit_is_valid_and_has_the_outcomes(self):
        files = [self.profile(GREEN), self.profile(RED), self.profile(UNKNOWN, 'a<b>&"c\'\n\x01.h5')]
        for more, reason in (([], "error"), (["--unknown-ok"], "skipped")):
            with self.subTest(reason):
                self.check(WORSE, "--fail-on", "red", *more, "--junit", "out.xml", *files)
                if shutil.which("xmllint") is None:
                    self.skipTest("xmllint (libxml2-utils) is not here")
                checked = subprocess.run(["xmllint", "--noout", "--schema", HERE / "junit.xsd", "out.xml"], text=True,
                                         cwd=self.directory, capture_output=True, check=False)
                self.assertEqual(checked.returncode, 0, checked.stderr)
                suite = ElementTree.parse(self.directory / "out.xml").getroot()[0]
                self.assertEqual([test.get("name") for test in suite],
                                 [files[0], files[1], 'a<b>&"c\'\\n\\u0001.h5'])
                self.assertEqual([[element.tag for element in test] for test in suite], [[], ["failure"], [reason]])
                self.assertTrue(suite[1][0].text.startswith("RED "), suite[1][0].text)


if __name__ == "__main__":
    halcyon_test.main()
