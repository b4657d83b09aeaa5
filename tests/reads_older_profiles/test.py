"""Profiles of every schema version are read, and judged as they were when the next version came. What another version
left in the state directory does no harm. docs/install.md says what an upgrade means for these files.

`version-N.h5.gz` was recorded by a halcyon that wrote version N (`plate` on two ranks, version-5 `pool` of
tests/work_of_threads on one, version-6 `static` of bench/whose_time.c, version-7 `unequal` of tests/compares_ranks,
version-8 `polled` and version-9 `uneven` of whose_time.c on one, version-10 `static` on two, these five beside a
process that spun; version-1-last with intM, version-2 and version-4 with --background, version-4 with known
runs). `version-N.json` is the report on it. `work-1.json` is a record of known runs of version 1, from before threads
counted.
"""
import gzip
import json
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, MPI

HERE = Path(__file__).resolve().parent
PROFILES = sorted(HERE.glob("version-*.h5.gz"))
SAME_NUMBER = 1e-4  # relative: another compiler rounds otherwise


class ReadsOlderProfiles(halcyon_test.Behaviour):

    maxDiff = None

    def report_on(self, packed):
        profile = self.directory / packed.name.removesuffix(".gz")
        profile.write_bytes(gzip.decompress(packed.read_bytes()))
        finished = self.halcyon("report", "--json", "-", profile.name)
        self.assertEqual(finished.status, 0, finished)
        return json.loads(finished.output)

    def assert_same(self, known, read, path):
        self.assertEqual(type(known), type(read), path)
        if isinstance(known, dict):
            self.assertLessEqual(known.keys(), read.keys(), path)  # a newer report may say more
            for key in known:
                # A sentence may be put into better words, and a function is known where the program still is.
                if key not in ("message", "function", "source"):
                    self.assert_same(known[key], read[key], f"{path}.{key}")
        elif isinstance(known, list):
            self.assertEqual(len(known), len(read), path)
            for index, (one, other) in enumerate(zip(known, read)):
                self.assert_same(one, other, f"{path}[{index}]")
        elif isinstance(known, float):
            self.assertAlmostEqual(known, read, delta=SAME_NUMBER * max(1.0, abs(known)), msg=path)
        elif not path.endswith((".text", ".action")):
            self.assertEqual(known, read, path)

    def test_every_schema_version_has_a_profile(self):
        newest = int(self.halcyon("info", "--json", "-", self.newest()).output.split('"schema_version":')[1].split(",")[0])
        versions = {int(profile.name.split("-")[1].split(".")[0]) for profile in PROFILES}
        self.assertEqual(versions, set(range(1, newest + 1)))

    def newest(self):
        """What the halcyon under test writes."""
        return self.record_disturbed("newest.h5")

    def test_the_report_on_each_is_what_it_was(self):
        for profile in PROFILES:
            with self.subTest(profile.name):
                known = json.loads(profile.with_name(profile.name.replace(".h5.gz", ".json")).read_text())
                self.assert_same(known, self.report_on(profile), "report")

    def test_of_several_profiles_the_worst_verdict_counts_and_outweighs_an_unknown_one(self):
        unknown, red = ("version-4.h5", "version-3.h5")
        for name in (unknown, red):
            self.report_on(HERE / f"{name}.gz")
        for files, status in (((unknown,), 4), ((unknown, red), 3), ((red, unknown), 3)):
            self.assertEqual(self.halcyon("report", "--fail-on", "red", *files).status, status, files)

    def test_each_can_be_composed_with_itself(self):
        for profile in PROFILES:
            with self.subTest(profile.name):
                self.report_on(profile)
                name = profile.name.removesuffix(".gz")
                finished = self.halcyon("compose", "-o", f"composed-{name}", name, name)
                self.assertEqual(finished.status, 0, finished)

    def test_a_newer_profile_is_refused_by_the_numbers_of_both_versions(self):
        import h5py  # noqa: PLC0415
        profile = self.newest()
        with h5py.File(self.directory / profile, "r+") as file:
            known = int(file.attrs["schema_version"])
            file.attrs["schema_version"] = known + 1
        for command in ("report", "info"):
            finished = self.halcyon(command, profile)
            self.assertEqual((finished.status, finished.output), (2, ""), finished)
            self.assertRegex(finished.errors, rf"version {known + 1}; this halcyon reads up to {known}\b.*use a newer halcyon")


class ReadsOlderRecords(halcyon_test.Behaviour):

    NAME = "0123456789abcdef-0"

    def put(self, **changes):
        """A record of known runs into the state directory, as another version left it there."""
        record = {**json.loads((HERE / "work-1.json").read_text()), **changes}
        directory = self.state / "halcyon" / "baselines"
        directory.mkdir(parents=True, mode=0o700)
        (directory / self.NAME).write_text(json.dumps(record))
        (directory / self.NAME).chmod(0o600)

    def test_a_record_of_an_older_version_is_known(self):
        self.put()
        finished = self.halcyon("baselines", "show", self.NAME)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertIn("./halo_c 300", finished.output)

    def test_a_record_of_a_newer_version_is_ignored_and_runs_are_recorded_all_the_same(self):
        self.put(version=2)
        finished = self.halcyon("baselines", "list")
        self.assertIn("written by a newer halcyon", finished.errors)
        self.assertNotIn(self.NAME, finished.output)
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(2), EXAMPLES / "halo_c", "100")
        self.assertEqual(finished.status, 0, finished)


if __name__ == "__main__":
    halcyon_test.main()
