"""The machine is probed for some milliseconds before and after a run, and compared with the best known of each host."""
import json
import math

import halcyon_test
from halcyon_test import EXAMPLES, MPI, Profile, editing

PROGRAM = [EXAMPLES / "halo_c", "400"]
KINDS = ("registers", "l2", "memory_latency", "memory_bandwidth")
COLUMNS = [f"probe_{kind}_{time}_{when}" for kind in KINDS for time in ("best", "mean") for when in ("before", "after")]


class Probes(halcyon_test.Behaviour):

    def run_of(self, file, *options):
        finished = self.halcyon("run", "-o", file, *options, "--", *MPI.launch(2), *PROGRAM)
        self.assertEqual(finished.status, 0, finished)
        return Profile(self.directory / file)

    def test_every_rank_is_probed_before_and_after(self):
        profile = self.record(2, PROGRAM)
        for name in COLUMNS:
            values = profile.columns[name]
            self.assertEqual(len(values), 2, name)
            for value in values:
                self.assertTrue(0.0 < value < 1.0, (name, value))
        for kind in KINDS:
            for when in ("before", "after"):
                best, mean = (profile.columns[f"probe_{kind}_{time}_{when}"] for time in ("best", "mean"))
                self.assertTrue((best <= mean).all(), kind)
            self.assertNotIn(f"probe_{kind}_known", profile.columns)  # the library alone knows of no other run
        # A load from memory takes longer than a load from a cache, and less in a stream than one by one.
        def best(kind):
            return min(profile.columns[f"probe_{kind}_best_{when}"].min() for when in ("before", "after"))
        self.assertLess(best("l2"), best("memory_latency"))
        self.assertLess(best("memory_bandwidth"), best("memory_latency"))
        self.assertTrue(all(name for name in profile.columns["rank_cpu"]))

    def test_nothing_is_probed_where_nobody_wants_it(self):
        for profile in (self.run_of("off.h5", "--no-probes"), self.record(2, PROGRAM, HALCYON_PROBES="off")):
            self.assertEqual([name for name in profile.columns if name.startswith("probe_")], [])
            self.assertIn("rank_cpu", profile.columns)
        self.assertIsNone(self.report("off.h5")["probes"])

    def test_a_setting_that_is_none_is_told_of(self):
        finished = self.mpirun(2, PROGRAM, HALCYON_PROBES="maybe", HALCYON_OUTPUT=self.directory / "maybe.h5")
        self.assertEqual((finished.status, len(finished.errors.splitlines())), (0, 1), finished)
        self.assertIn("HALCYON_PROBES=maybe", finished.errors)
        self.assertIn(COLUMNS[0], Profile(self.directory / "maybe.h5").columns)

    def test_from_the_second_run_on_speeds_are_in_percent_of_the_best_known_here(self):
        self.run_of("1.h5")
        [first] = self.report("1.h5")["probes"]
        self.run_of("2.h5")
        [second] = self.report("2.h5")["probes"]
        self.assertEqual(second["host"], first["host"])
        for kind in KINDS:
            self.assertIsNone(first[kind]["speed_percent"])
            self.assertGreater(second[kind]["seconds"], 0.0)
            self.assertGreater(second[kind]["speed_percent"], 0.0)
        self.assertIn("of the best speed known here", self.halcyon("report", "2.h5").output)
        [unknown] = self.json_of("report", "--no-baseline", "--json", "-", "2.h5")["probes"]
        self.assertIsNone(unknown["registers"]["speed_percent"])

    def json_of(self, *words):
        finished = self.halcyon(*words)
        self.assertEqual(finished.status, 0, finished)
        return json.loads(finished.output)

    def test_a_host_that_was_faster_before_is_told_of(self):
        self.run_of("1.h5")
        self.run_of("2.h5")
        with editing(self.directory / "2.h5") as file:
            for kind in KINDS:
                times = [file[f"probe_{kind}_best_{when}"][...] for when in ("before", "after")]
                known = 0.5 if kind == "memory_latency" else 1.0  # half the time, or the same
                file[f"probe_{kind}_known"][...] = known * (times[0] + times[1]) / 2
        codes = [warning["code"] for warning in self.report("2.h5")["warnings"]]
        self.assertIn("slow-memory", codes)
        self.assertNotIn("slow-registers", codes)
        self.assertIn("memory latency", self.halcyon("report", "2.h5").output)

    def test_what_could_not_be_measured_is_no_number(self):
        self.run_of("1.h5")
        with editing(self.directory / "1.h5") as file:
            for when in ("before", "after"):
                file[f"probe_l2_best_{when}"][...] = math.nan
        [probes] = self.report("1.h5")["probes"]
        self.assertIsNone(probes["l2"]["seconds"])


if __name__ == "__main__":
    halcyon_test.main()
