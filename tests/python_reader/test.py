"""python/halcyon.py: xarray, pandas and the JSON of the command agree on every figure that they have in common."""
import importlib.util
import json
import re

import halcyon_test
from halcyon_test import HALCYON, PYTHON, SOURCE, TOTALS, Profile, check_schema, editing, split_site

try:
    import pandas
    import xarray  # noqa: F401
except ImportError as missing:
    halcyon_test.skip(f"no {missing.name}")
import halcyon

halcyon.command = str(HALCYON)

LEAST_BLOCKS = 5  # of Python in the documentation
FEATURES = ("compute", *TOTALS)
# Columns of the table of segments. The profile has them, too, under names without the unit.
RECORDED = ("duration", "boundary_wait", "least_mpi_time", "calls_beyond_usual", "last_rank_point_to_point",
            "last_rank_collective", "last_rank_boundary", "last_rank_file_io", "last_rank_off_cpu", "lost_to_cpu_wait",
            "lost_to_slower_ranks", "lost_to_more_work", "injected_requested", "injected_actual", "injected_critical")


class PythonReader(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.file = str(self.record_disturbed())

    def info(self):
        return json.loads(self.halcyon("info", "--json", "-", self.file).output)

    # Agreement

    def test_xarray_and_info_agree_on_circumstances_and_totals(self):
        run, info = halcyon.open(self.file), self.info()
        for name in ("schema_version", "command", "ranks", "mpi", "counter", "clock", "start_time", "exit_state",
                     "run_time_seconds", "segments"):
            self.assertEqual(run.attrs[name], info[name], name)
        self.assertEqual(list(dict.fromkeys(run.rank_host.values)), info["hosts"])
        self.assertEqual(set(info["totals"]), set(TOTALS))
        for name, total in info["totals"].items():
            self.assertEqual(int(run["total_" + name].sum()), total, name)
            self.assertEqual(list(run["total_" + name].values), [rank[name] for rank in info["totals_per_rank"]], name)

    def test_xarray_and_the_report_agree(self):
        run, report = halcyon.open(self.file), halcyon.report(self.file)
        for name in ("command", "ranks", "counter", "run_time_seconds", "segments"):
            self.assertEqual(run.attrs[name], report[name], name)
        self.assertEqual(list(dict.fromkeys(run.rank_host.values)), report["hosts"])
        evidence = report["breakdown"]["evidence"]
        for said in evidence["ranks"]:
            for name, value in said.items():
                if name != "rank":
                    self.check_evidence(run["rank_" + name.removesuffix("_seconds")].values[said["rank"]], value, name)
        for name, value in evidence["hosts"][0].items():
            if name != "host":
                self.check_evidence(run["host_" + name.removesuffix("_seconds")].values[0], value, name)
        injected = float(run.injected_critical.astype(float).sum()) / report["run_time_seconds"] * 100
        self.assertAlmostEqual(injected, report["injected_percent"], places=9)

    def check_evidence(self, recorded, said, name):
        if said is None:
            self.assertTrue(pandas.isna(recorded), name)
        else:
            self.assertEqual(recorded, said, name)

    def test_a_rank_that_left_nothing_has_no_host_and_no_counts(self):
        with editing(self.file) as file:
            file["rank_run_time"][1] = float("nan")
            file["rank_host"][1] = "unknown"
            for name in file:
                if name.startswith("host_") or name.startswith("rank_") and file[name].dtype.kind == "f":
                    file[name][1] = float("nan")
        run, info = halcyon.open(self.file), self.info()
        self.assertEqual(list(run.rank_host.values), [info["hosts"][0], ""])
        self.assertIsNone(info["totals_per_rank"][1])
        report = halcyon.report(self.file)
        self.assertEqual(report["hosts"], info["hosts"])
        self.assertEqual({value for name, value in report["breakdown"]["evidence"]["ranks"][1].items()
                          if name != "rank"}, {None})
        self.assertEqual({share["host"] for share in report["breakdown"]["ranks"] if share["rank"] == 1}, {None})
        check_schema(report, "report")
        check_schema(info, "info")
        for name in TOTALS:
            first, second = run["total_" + name].values
            self.assertEqual(first, info["totals_per_rank"][0][name], name)
            self.assertTrue(pandas.isna(second), name)
        for form in ("--csv", "--perfetto", "--openmetrics"):
            finished = self.halcyon("export", form, "exported", self.file)
            self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertIn("1 left nothing", self.halcyon("info", self.file).output)

    def test_xarray_and_pandas_agree_on_every_segment(self):
        run, frame = halcyon.open(self.file), halcyon.segments(self.file)
        self.assertEqual(list(frame.index), list(run.segment.values))
        for name in RECORDED:
            recorded = run[name].values
            self.assertTrue((frame[name + "_seconds"].astype(recorded.dtype) == recorded).all(), name)
        for name in ("site", "last_rank", "last_rank_host", *FEATURES):
            self.assertTrue((frame[name].astype(run[name].dtype) == run[name].values).all(), name)
        self.assertTrue((frame["start_seconds"] - run.start.values).abs().max() < 1e-9)

    def test_pandas_and_the_report_agree(self):
        for method in ("compound", "paper"):
            frame, report = halcyon.segments(self.file, method), halcyon.report(self.file, method)
            self.assertEqual(report["method"], method)
            self.assertEqual((len(frame), frame.group.nunique(), frame.cluster.nunique()),
                             (report["segments"], report["groups"], report["clusters"]))
            run_time, excess = report["run_time_seconds"], frame.excess_seconds.sum()
            self.assertAlmostEqual(frame.duration_seconds.sum(), run_time, places=5)
            judged = frame[frame.judged].duration_seconds.sum()
            # The rest may be accounted for by what the kernel counted.
            self.assertLessEqual(judged / run_time * 100, report["coverage_percent"] + 1e-5)
            self.assertAlmostEqual(excess, report["breakdown"]["excess_seconds"], places=9)
            self.assertAlmostEqual(excess / run_time * 100, report["interference_percent"], places=5)
            self.assertAlmostEqual(run_time - excess, report["undisturbed_time_seconds"], places=5)
            by_rank = frame.groupby("last_rank").excess_seconds.sum()
            for share in report["breakdown"]["ranks"]:
                self.assertAlmostEqual(by_rank[share["rank"]], share["seconds"], places=9)
            by_host = frame.groupby("last_rank_host", observed=True).excess_seconds.sum()
            for share in report["breakdown"]["hosts"]:
                self.assertAlmostEqual(by_host[share["host"]], share["seconds"], places=9)

    def test_groups_and_the_report_agree(self):
        groups, report = halcyon.groups(self.file), halcyon.report(self.file)
        self.assertEqual((len(groups), groups.segments.sum()), (report["groups"], report["segments"]))
        told = groups[groups.excess_seconds.notna()].sort_values("excess_seconds", ascending=False)
        shares = [share for share in report["breakdown"]["groups"] if "site" in share]
        for (_, group), share in zip(told.iterrows(), shares):
            self.assertEqual((group.site, group.segments), (share["site"], share["segments"]))
            self.assertAlmostEqual(group.excess_seconds, share["seconds"], places=9)
            self.assertAlmostEqual((group.duration_seconds - group.excess_seconds) / group.segments,
                                   share["baseline_seconds"], places=9)

    def test_the_table_of_runs_and_the_report_agree(self):
        self.halcyon("report", "--csv", "runs.csv", self.file)
        row = pandas.read_csv(self.directory / "runs.csv", float_precision="round_trip").iloc[0]
        for name, value in halcyon.report(self.file).items():
            if value is not None and not isinstance(value, (dict, list)):
                self.assertEqual(row[name], value, name)

    # Further promises

    def test_features_stand_in_xarray_by_their_values_with_units(self):
        run, profile = halcyon.open(self.file), Profile(self.file)
        for feature in FEATURES:
            self.assertEqual(list(run[feature].values), profile.values(feature), feature)
            self.assertEqual(run[feature].dims, ("segment",))
            self.assertIn("units", run[feature].attrs)
            self.assertNotIn(feature + "_bins", run)
        self.assertEqual([split_site(site) for site in run.site.values], profile.sites())

    def test_a_composed_profile_names_the_run_that_a_segment_is_from(self):
        other = str(self.record_disturbed("other.h5"))
        composed = str(self.directory / "quiet.h5")
        self.assertEqual(self.halcyon("compose", "-o", composed, self.file, other).status, 0)
        run, frame = halcyon.open(composed), halcyon.segments(composed)
        self.assertLessEqual(set(run.source.values), {self.file, other})
        self.assertTrue((frame.source.astype(object) == run.source.values).all())

    def test_thicket_rows_of_two_runs_share_their_nodes_and_add_up(self):
        other = str(self.record_disturbed("other.h5", delay=0.0))
        data = halcyon.thicket([self.file, other])
        self.assertEqual(data.dataframe.index.names, ["node", "profile"])
        self.assertTrue(data.dataframe.index.is_unique)
        self.assertEqual((data.metadata.index.name, list(data.metadata.index)), ("profile", [self.file, other]))
        for file in (self.file, other):
            report, rows = halcyon.report(file), data.dataframe.xs(file, level="profile")
            self.assertEqual(data.metadata.loc[file, "verdict"], report["verdict"])
            for kind in ("program", "site", "group"):
                of_kind = rows[rows["type"] == kind]
                self.assertEqual(of_kind.segments.sum(), report["segments"], kind)
                self.assertAlmostEqual(of_kind.excess_seconds.sum(),
                                       report["run_time_seconds"] - report["undisturbed_time_seconds"], places=6)
            self.assertAlmostEqual(rows["time"].sum(), report["run_time_seconds"], places=5)
            self.assertEqual((rows["type"] == "group").sum(), report["groups"])
        both = data.dataframe.groupby("node").size()
        self.assertGreater((both == 2).sum(), 3)

    def test_the_literal_is_a_tree_of_frames_and_metrics(self):
        def check(node, depth):
            self.assertEqual(set(node), {"frame", "metrics", "children"})
            self.assertEqual(set(node["frame"]), {"name", "type"})
            self.assertLessEqual({"time", "time (inc)"}, set(node["metrics"]))
            self.assertTrue(all(isinstance(value, (int, float)) for value in node["metrics"].values()), node["metrics"])
            inclusive = node["metrics"]["time"] + sum(check(child, depth + 1) for child in node["children"])
            self.assertAlmostEqual(node["metrics"]["time (inc)"], inclusive, places=9)
            self.assertEqual(node["frame"]["type"], ("program", "site", "group")[depth])
            return inclusive

        roots = halcyon.literal(self.file)
        self.assertEqual(len(roots), 1)
        check(roots[0], 0)
        json.dumps(roots)

    def test_what_the_command_objects_to_is_said_in_its_words(self):
        for read in (halcyon.segments, halcyon.report, halcyon.groups):
            with self.assertRaisesRegex(halcyon.Error, "nothing.h5"):
                read("nothing.h5")
        self.addCleanup(setattr, halcyon, "command", halcyon.command)
        halcyon.command = "/nowhere/halcyon"
        with self.assertRaisesRegex(halcyon.Error, "/nowhere/halcyon.*halcyon.command"):
            halcyon.report(self.file)

    def test_the_worked_example_runs_as_it_stands_in_the_docs(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no matplotlib")
        self.record_disturbed("disturbed.h5")
        self.record_disturbed("quiet.h5", delay=0.0)
        blocks = re.findall(r"^```python\n(.*?)^```", (SOURCE / "docs" / "python.md").read_text(), re.M | re.S)
        self.assertGreater(len(blocks), LEAST_BLOCKS)
        (self.directory / "example.py").write_text("".join(blocks))
        finished = self.run_command([PYTHON, "example.py"], MPLBACKEND="Agg", PYTHONPATH=str(SOURCE / "python"),
                                    PATH=f"{HALCYON.parent}:/usr/bin:/bin")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertTrue((self.directory / "python-example.png").exists())


if __name__ == "__main__":
    halcyon_test.main()
