"""Halcyon can be built without PAPI, libdw, RE2, SQLite and libpq, and without Ninja; what is missing is said, and nothing else
breaks."""
import json
import os
import re
import subprocess

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, MPI, SOURCE, check_schema

OPTIONAL = ("papi", "libdw", "re2", "sqlite3", "libpq")
LEAVE_OUT = f"-DHALCYON_WITHOUT={';'.join(OPTIONAL)}"
LIMIT = 30 * 60  # seconds


def run(*words):
    """What it said, and its status."""
    finished = subprocess.run([str(word) for word in words], cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False)
    return finished.stdout, finished.returncode


def configured(place, *options):
    return run("cmake", "--preset", "make", "-B", place, LEAVE_OUT, *options)


class Configures(halcyon_test.Behaviour):

    def test_what_is_missing_is_said(self):
        said, status = configured(self.temporary / "build", "-DHALCYON_BUILD_TESTS=OFF")
        self.assertEqual(status, 0, said)
        self.assertEqual(re.findall(r"^-- Without (\w+): ", said, re.M), list(OPTIONAL), said)

    def test_tests_are_not_built_without_them(self):
        said, status = configured(self.temporary / "build", "-DHALCYON_BUILD_TESTS=ON")
        self.assertNotEqual(status, 0)
        self.assertIn("-DHALCYON_BUILD_TESTS=OFF", said)


class Builds(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        cls.build = BUILD / "without"
        for said, status in (configured(cls.build, "-DHALCYON_BUILD_TESTS=OFF", "-DHALCYON_WARNINGS_AS_ERRORS=ON"),
                             run("cmake", "--build", cls.build, "--parallel", len(os.sched_getaffinity(0)))):
            assert status == 0, said
        cls.command = cls.build / "bin/halcyon"

    def recorded(self, *options):
        finished = self.run_command([self.command, "run", "-o", "run.h5", *options, "--", *MPI.launch(2),
                                     EXAMPLES / "halo_c", "20000"])
        self.assertEqual(finished.status, 0, finished)
        return finished

    def test_doctor_says_what_is_missing(self):
        report = json.loads(self.run_command([self.command, "doctor", "--json", "-"]).output)
        check_schema(report, "doctor")
        found = [finding for finding in report["findings"] if finding["subject"] == "build"]
        self.assertEqual([re.match(r"without (\w+): ", finding["finding"])[1] for finding in found], list(OPTIONAL))
        self.assertEqual({finding["state"] for finding in found}, {"note"})
        self.assertTrue(report["records"])

    def test_a_run_is_recorded_and_calls_are_named_by_module_and_offset(self):
        self.recorded()
        report = self.run_command([self.command, "report", "run.h5"])
        self.assertEqual(report.status, 0, report)
        self.assertNotIn("halo.c", report.output)
        self.assertIn("halo.c", self.halcyon("report", "run.h5").output)  # the build under test knows the line

    def test_a_counter_of_papi_is_replaced_by_cpu_time(self):
        finished = self.recorded("--counter", "papi:PAPI_TOT_INS")
        self.assertIn("built without PAPI", finished.errors)
        self.assertEqual(halcyon_test.Profile(self.directory / "run.h5").attributes["counter"], "cpu")

    def test_a_ledger_is_refused_and_its_spool_is_not(self):
        self.recorded()
        for database, library in (("site.db", "libsqlite3-dev"), ("postgresql:///site", "libpq-dev")):
            refused = self.run_command([self.command, "ledger", "runs", "--database", database])
            self.check_refused(refused, library)
        added = self.run_command([self.command, "ledger", "add", "--spool", self.directory, "run.h5"])
        self.assertEqual(added.output, "1 run put into the spool\n")

    def test_a_number_of_the_output_is_not_read(self):
        finished = self.run_command([self.command, "search", "--vary", "n=1..2", "--limit", "rate < 9", "--read",
                                     "([0-9]+)", "--", *MPI.launch(2), EXAMPLES / "halo_c", "{n}"])
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("--read needs RE2", finished.errors)
        self.assertEqual(list(self.directory.iterdir()), [])


if __name__ == "__main__":
    halcyon_test.main()
