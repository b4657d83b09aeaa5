"""A profile is exported in the formats of other tools: Perfetto, OpenMetrics and CSV."""
import ast
import collections
import csv
import io
import json
import os
import subprocess
import zlib

import halcyon_test
from halcyon_test import BUILD, HALCYON, PROGRAMS, Profile, editing, is_delayed, split_site
from perfetto_trace import slices_of

SMALLEST_GROUP = 5  # segments; smaller groups are not judged
LEAST_JUDGED = 400  # segments of the profile
LEAST_METRICS = 15
MANY = 300000  # segments, which are above 50 MB as a table
ROUNDING = 1.3e-4  # of the seconds in a trace
BYTES_OF_A_SEGMENT = 30  # in a trace, at most
MOST_KEPT = 16 * 1024  # KiB of memory; 8 bytes are kept of each segment


class Exports(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        self.record_disturbed()
        self.profile = Profile(self.directory / "run.h5")

    def export(self, form, *words):
        """The bytes that `halcyon export` writes to standard output."""
        finished = subprocess.run([HALCYON, "export", form, "-", *words], cwd=self.directory, capture_output=True, check=False)
        self.assertEqual((finished.returncode, finished.stderr), (0, b""), finished)
        return finished.stdout

    def rows(self, *words):
        text = self.export("--csv", *words, "run.h5").decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def slices(self, file="run.h5"):
        return slices_of(self.export("--perfetto", file))

    def check_rounded(self, argument, value):
        self.assertAlmostEqual(argument, value, delta=ROUNDING * abs(value))

    def segments_of_the_trace(self, file="run.h5"):
        return [one for one in self.slices(file) if one.track.name == "segments"]

    # CSV of segments

    def test_csv_ends_every_row_as_rfc_4180_says_and_all_rows_are_of_one_length(self):
        text = self.export("--csv", "run.h5")
        self.assertEqual(text.count(b"\r\n"), text.count(b"\n"))
        self.assertEqual(text.count(b"\n"), 1 + self.profile.segments)
        self.assertEqual(len({len(row) for row in csv.reader(io.StringIO(text.decode(), newline=""))}), 1)

    def test_csv_has_a_row_a_segment_with_its_time_its_group_and_what_was_made_of_it(self):
        rows = self.rows()
        self.assertEqual([int(row["segment"]) for row in rows], list(range(self.profile.segments)))
        start = 0.0
        for row, duration in zip(rows, self.profile.columns["duration"]):
            self.assertEqual(float(row["duration_seconds"]), float(str(duration)))
            self.assertAlmostEqual(float(row["start_seconds"]), start, delta=1e-9)
            start += float(duration)
        judged = [row for row in rows if row["judged"] == "true"]
        self.assertGreater(len(judged), LEAST_JUDGED)
        for row in judged:
            is_longer = float(row["duration_seconds"]) > float(row["threshold_seconds"])
            self.assertEqual(row["disturbed"], "true" if is_longer else "false", row)
            self.assertGreater(float(row["threshold_seconds"]), float(row["baseline_seconds"]))
        self.assertEqual({row["disturbed"] for row in judged if is_delayed(int(row["segment"]))}, {"true"})
        report = self.report("run.h5")
        self.assertAlmostEqual(sum(float(row["excess_seconds"]) for row in judged),
                               report["breakdown"]["excess_seconds"], places=9)
        self.assertEqual(len({row["group"] for row in rows}), report["groups"])
        self.assertEqual(len({row["cluster"] for row in rows}), report["clusters"])

    def test_csv_leaves_what_is_not_judged_empty(self):
        sizes = collections.Counter(row["group"] for row in self.rows())
        small = [row for row in self.rows() if sizes[row["group"]] < SMALLEST_GROUP]
        self.assertGreater(len(small), 0)
        for row in small:
            self.assertEqual((row["judged"], row["disturbed"]), ("false", "false"))
            self.assertEqual((row["baseline_seconds"], row["threshold_seconds"], row["excess_seconds"]), ("", "", ""))

    def test_csv_has_the_recorded_columns_of_the_profile(self):
        rows = self.rows()
        hosts = self.profile.columns["rank_host"]
        for number, (row, site) in enumerate(zip(rows, self.profile.sites())):
            self.assertEqual(split_site(row["site"]), site)
            last = self.profile.columns["last_rank"][number]
            self.assertEqual((int(row["last_rank"]), row["last_rank_host"]), (last, hosts[last].decode()))
        for feature in ("sends_nonblocking", "bytes_collective", "file_opens", "compute"):
            self.assertEqual([float(row[feature]) for row in rows], self.profile.values(feature), feature)

    def test_another_method_gives_its_own_excess(self):
        excess = {method: sum(float(row["excess_seconds"] or 0) for row in self.rows("--method", method))
                  for method in ("compound", "paper")}
        self.assertNotEqual(excess["compound"], excess["paper"])

    # CSV of runs

    def test_the_table_of_runs_has_the_values_of_the_json(self):
        self.record_disturbed("other.h5", delay=0.0)
        finished = self.halcyon("report", "--csv", "-", "run.h5", "other.h5")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        rows = list(csv.DictReader(io.StringIO(finished.output)))
        self.assertEqual([row["file"] for row in rows], ["run.h5", "other.h5"])
        for row in rows:
            report = self.report(row["file"])
            for name, text in row.items():
                of_interval = "_interval_" in name
                value = report[name.rpartition("_")[0]][name.endswith("_high")] if of_interval else report[name]
                if isinstance(value, (int, float)):
                    self.assertEqual(float(text), value, name)
                else:
                    self.assertEqual(text, value or "", name)

    def test_table_and_json_go_to_files_beside_the_text(self):
        finished = self.halcyon("report", "--csv", "runs.csv", "--json", "run.json", "run.h5")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertIn("interference", finished.output)
        self.assertIn(",red,", (self.directory / "runs.csv").read_text())
        self.assertEqual(json.loads((self.directory / "run.json").read_text())["verdict"], "red")

    def test_a_table_and_json_cannot_both_go_to_standard_output(self):
        self.check_refused(self.halcyon("report", "--csv", "-", "--json", "-", "run.h5"),
                           "--csv", "--json", "standard output")

    # Perfetto

    def test_the_trace_has_a_track_of_all_segments_that_touch_and_do_not_overlap(self):
        segments = self.segments_of_the_trace()
        self.assertEqual(len(segments), self.profile.segments)
        for one, after in zip(segments, segments[1:]):
            self.assertEqual(one.end, after.begin)
        total = float(self.profile.columns["duration"].astype(float).sum())
        self.assertAlmostEqual(segments[-1].end, total * 1e9, delta=1)

    def test_disturbed_segments_are_marked_and_say_why(self):
        for one, row in zip(self.segments_of_the_trace(), self.rows()):
            is_marked = row["disturbed"] == "true"
            self.assertEqual((one.category, one.name == "disturbed"),
                             ("disturbed" if is_marked else "judged" if row["judged"] == "true" else "unjudged", is_marked))
            self.assertEqual(one.arguments["site"], row["site"])
            expected = {"group"} | ({"segment", "excess_seconds", "last_rank"} if is_marked else set())
            self.assertEqual(one.arguments.keys() - {"site"}, expected)
            for name in expected:
                self.check_rounded(one.arguments[name], float(row[name]))

    def test_every_group_is_told_of_where_its_first_segment_begins(self):
        first = {}
        for row in self.rows():
            first.setdefault(row["group"], row)
        groups = [one for one in self.slices() if one.track.name == "groups"]
        self.assertEqual(len(groups), len(first))
        for one, row in zip(groups, first.values()):
            self.assertEqual(one.begin, round(float(row["start_seconds"]) * 1e9))
            known = [name for name in ("group", "baseline_seconds", "threshold_seconds") if row[name]]
            self.assertEqual(one.arguments.keys(), {"site", *known})
            for name in known:
                self.check_rounded(one.arguments[name], float(row[name]))

    def test_every_rank_has_a_track_of_the_segments_in_which_it_held_the_others_up(self):
        slices = self.slices()
        rows = self.rows()
        for rank in (0, 1):
            drawn = [one for one in slices if one.track.name == f"rank {rank} held the others up"]
            self.assertEqual({one.track.process for one in drawn}, {self.profile.columns["rank_host"][rank].decode()})
            own = [row for row in rows if row["last_rank"] == str(rank)]
            self.assertEqual([one.begin for one in drawn], [round(float(row["start_seconds"]) * 1e9) for row in own])
            for one, row in zip(drawn, own):
                for name in ("last_rank_collective_seconds", "last_rank_off_cpu_seconds", "boundary_wait_seconds"):
                    if row["disturbed"] == "true":
                        self.check_rounded(one.arguments[name], float(row[name]))
                    else:
                        self.assertEqual(one.arguments, {})

    def test_the_trace_has_the_figures_of_the_run(self):
        run = self.slices()[0]
        self.assertEqual((run.track.process, run.name, run.category), (self.report("run.h5")["command"], "red", "run"))
        self.assertEqual(run.begin, 0)
        report = {name: value for name, value in self.report("run.h5").items()
                  if isinstance(value, (str, int, float)) and not isinstance(value, bool)}
        self.assertEqual(run.arguments, report)

    def test_the_trace_is_what_the_published_schema_of_perfetto_describes(self):
        wheel = BUILD.parent / "wheels" / "perfetto" / "perfetto" / "protos" / "perfetto" / "trace"
        try:
            from google.protobuf import descriptor_pool, message_factory
            published = (wheel / "perfetto_trace_pb2.py").read_text()
        except (ImportError, FileNotFoundError) as missing:
            self.skipTest(f"no schema of Perfetto: {missing}")
        calls = [node for node in ast.walk(ast.parse(published)) if isinstance(node, ast.Call)]
        schema = next(call.args[0].value for call in calls if getattr(call.func, "attr", "") == "AddSerializedFile")
        pool = descriptor_pool.DescriptorPool()
        pool.AddSerializedFile(schema)
        Trace = message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("perfetto.protos.Trace"))
        packets = []
        for piece in Trace.FromString(self.export("--perfetto", "run.h5")).packet:
            packets += Trace.FromString(zlib.decompress(piece.compressed_packets)).packet
        for packet in packets:
            bytes_before = packet.ByteSize()
            packet.DiscardUnknownFields()
            self.assertEqual(packet.ByteSize(), bytes_before, packet)
            self.assertEqual(packet.trusted_packet_sequence_id, packets[0].trusted_packet_sequence_id)
        first = packets[0]
        self.assertEqual(first.sequence_flags, first.SEQ_INCREMENTAL_STATE_CLEARED)
        steps = next(clock for clock in first.clock_snapshot.clocks if clock.is_incremental)
        self.assertEqual(first.trace_packet_defaults.timestamp_clock_id, steps.clock_id)
        described = [packet.track_descriptor for packet in packets if packet.HasField("track_descriptor")]
        self.assertEqual(first.trace_packet_defaults.track_event_defaults.track_uuid,
                         next(track.uuid for track in described if track.name == "segments"))
        self.assertEqual({track.child_ordering for track in described if track.HasField("process")}, {3})  # EXPLICIT
        events = [packet.track_event for packet in packets if packet.HasField("track_event")]
        begun = [event for event in events if event.type == event.TYPE_SLICE_BEGIN]
        self.assertEqual(len(begun), 1 + 2 * self.profile.segments)
        groups = sum(event.type == event.TYPE_INSTANT for event in events)
        self.assertEqual(groups, len({row["group"] for row in self.rows()}))
        self.assertEqual(len(events), 2 * len(begun) + groups)
        disturbed = sum(row["disturbed"] == "true" for row in self.rows())
        names = {name.iid: name.name for packet in packets for name in packet.interned_data.debug_annotation_names}
        self.assertEqual(sum(names.get(note.name_iid) == "excess_seconds" for event in begun
                             for note in event.debug_annotations), disturbed)

    # OpenMetrics

    def families(self, *words):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("no prometheus_client")
        text = self.export("--openmetrics", *words).decode()
        self.assertTrue(text.endswith("# EOF\n"), text)
        return {family.name: family for family in text_string_to_metric_families(text)}

    def test_openmetrics_is_what_its_own_parser_takes_with_units_and_help(self):
        families = self.families("run.h5")
        self.assertGreater(len(families), LEAST_METRICS)
        for name, family in families.items():
            self.assertEqual(family.type, "gauge")
            self.assertGreater(len(family.documentation), 5)
            if family.unit:
                self.assertTrue(name.endswith("_" + family.unit), name)
        for name, unit in (("run_time_seconds", "seconds"), ("interference_ratio", "ratio"),
                           ("segment_rate_hertz", "hertz")):
            self.assertEqual(families["halcyon_" + name].unit, unit)

    def test_openmetrics_has_the_figures_of_the_report(self):
        families = self.families("run.h5")
        report = self.report("run.h5")

        def value(name, **labels):
            samples = [sample for sample in families["halcyon_" + name].samples
                       if labels.items() <= sample.labels.items()]
            self.assertEqual(len(samples), 1, families["halcyon_" + name])
            self.assertEqual((samples[0].labels["file"], samples[0].labels["command"]), ("run.h5", report["command"]))
            return samples[0].value

        for name in ("run_time_seconds", "undisturbed_time_seconds", "segments", "groups", "clusters", "ranks"):
            self.assertEqual(value(name), report[name], name)
        for name in ("interference", "coverage", "continuous", "instantaneous", "background", "injected"):
            self.assertAlmostEqual(value(name + "_ratio"), report[name + "_percent"] / 100, places=12)
        self.assertAlmostEqual(value("interference_low_ratio"), report["interference_interval_percent"][0] / 100)
        self.assertAlmostEqual(value("interference_high_ratio"), report["interference_interval_percent"][1] / 100)
        self.assertEqual(value("probability_high_ratio"), report["probability_high"])
        for verdict in ("green", "yellow", "red", "unknown"):
            self.assertEqual(value("verdict", verdict=verdict, method=report["method"]), verdict == report["verdict"])
        for method, said in report["methods"].items():
            self.assertAlmostEqual(value("method_interference_ratio", method=method, verdict=said["verdict"]),
                                   said["interference_percent"] / 100)
        for kind, seconds in report["breakdown"]["kinds"].items():
            self.assertEqual(value("excess_seconds", kind=kind), seconds)
        warnings = families["halcyon_warning"].samples if "halcyon_warning" in families else []
        self.assertEqual({sample.labels["code"] for sample in warnings},
                         {warning["code"] for warning in report["warnings"]})

    def test_the_older_prometheus_format_reads_it_too(self):
        try:
            from prometheus_client.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("no prometheus_client")
        families = {family.name: family for family in
                    text_string_to_metric_families(self.export("--openmetrics", "run.h5").decode())}
        self.assertEqual(families["halcyon_run_time_seconds"].type, "gauge")

    # All formats

    def test_names_with_quotes_commas_and_broken_characters_survive_every_format(self):
        host = 'a,"b"\\c\nd'
        with editing(self.directory / "run.h5") as profile:
            profile.attrs["command"] = b"./app \xff" + host.encode()
            profile["rank_host"][...] = [host.encode()] * 2
            sites = profile["sites"][...]
            sites[:] = [site + host.encode() for site in sites]
            profile["sites"][...] = sites
        rows = self.rows()
        legible = host.replace("\n", r"\n")  # what steers a terminal is escaped, in all formats but JSON
        self.assertEqual({row["last_rank_host"] for row in rows}, {legible})
        self.assertTrue(all(row["site"].endswith(legible) for row in rows))
        self.assertTrue(self.segments_of_the_trace()[-1].arguments["site"].endswith(legible))
        self.assertEqual(self.families("run.h5")["halcyon_ranks"].samples[0].labels["command"], r"./app \xff" + legible)
        self.halcyon("report", "--csv", "runs.csv", "--json", "-", "run.h5")
        with open(self.directory / "runs.csv", newline="", encoding="utf-8") as file:
            self.assertEqual(next(csv.DictReader(file))["command"], r"./app \xff" + legible)

    def test_a_profile_without_segments_gives_an_empty_table_and_a_trace_that_opens(self):
        self.mpirun(3, [PROGRAMS / "disagrees"], HALCYON_OUTPUT=self.directory / "none.h5", HALCYON_BOUNDARY_RANKS="1")
        self.assertEqual(self.export("--csv", "none.h5").count(b"\n"), 1)
        self.assertEqual([one.name for one in self.slices("none.h5")], ["unknown"])
        families = self.families("none.h5")
        self.assertEqual({sample.labels["verdict"]: sample.value for sample in families["halcyon_verdict"].samples},
                         {"green": 0, "yellow": 0, "red": 0, "unknown": 1})
        self.assertIn("boundary-disagreement", families["halcyon_warning"].samples[0].labels["code"])

    def test_the_output_file_holds_what_standard_output_would(self):
        for form in ("--csv", "--perfetto", "--openmetrics"):
            self.assertEqual(self.halcyon("export", form, "out", "run.h5").output, "")
            self.assertEqual((self.directory / "out").read_bytes(), self.export(form, "run.h5"))

    def test_memory_does_not_grow_with_what_is_written(self):
        self.run_command([BUILD / "bench" / "large_profile", MANY, "large.h5"])
        peak = {}
        for form in ("--openmetrics", "--csv", "--perfetto"):
            with open(self.directory / form, "wb") as out, \
                    subprocess.Popen([HALCYON, "export", form, "-", "large.h5"], stdout=out, cwd=self.directory) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            peak[form] = usage.ru_maxrss
        self.assertLess(max(peak.values()) - peak["--openmetrics"], MOST_KEPT, peak)
        self.assertLess((self.directory / "--perfetto").stat().st_size, BYTES_OF_A_SEGMENT * MANY)

    def test_a_format_must_be_named_and_several_go_to_several_places(self):
        self.check_refused(self.halcyon("export", "run.h5"), "--perfetto", "--openmetrics", "--csv", status=2)
        self.check_refused(self.halcyon("export", "--csv", "-", "--perfetto", "-", "run.h5"), "--perfetto", "--csv",
                           "standard output", status=2)
        finished = self.halcyon("export", "--csv", "run.csv", "--openmetrics", "-", "run.h5")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertTrue(finished.output.endswith("# EOF\n"), finished)
        self.assertEqual((self.directory / "run.csv").read_bytes(), self.export("--csv", "run.h5"))

    def test_a_profile_is_not_overwritten_and_what_cannot_be_written_is_said(self):
        before = (self.directory / "run.h5").read_bytes()
        self.check_refused(self.halcyon("export", "--csv", "run.h5", "run.h5"), "run.h5", "profile")
        self.assertEqual((self.directory / "run.h5").read_bytes(), before)
        self.check_refused(self.halcyon("export", "--csv", "/dev/full", "run.h5"), "/dev/full", "No space left")
        self.check_refused(self.halcyon("export", "--csv", "no/such/directory", "run.h5"), "no/such/directory")
        self.check_refused(self.halcyon("export", "--csv", "-", "nothing.h5"), "nothing.h5")

    def test_what_cannot_be_written_whole_leaves_the_file_that_was_there(self):
        old = self.directory / "old.csv"
        old.write_text("what was there\n")
        (self.directory / "link.csv").symlink_to("old.csv")
        limited = self.run_command(["sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" export --csv link.csv run.h5",
                                    HALCYON])
        self.check_refused(limited, "link.csv", "File too large")
        self.assertEqual(old.read_text(), "what was there\n")
        self.assertEqual([*self.directory.glob("*.tmp")], [])
        old.chmod(0o640)
        self.assertEqual(self.halcyon("export", "--csv", "link.csv", "run.h5").status, 0)
        self.assertEqual((old.read_text().count("\n") > 1, oct(old.stat().st_mode & 0o777)), (True, "0o640"))
        self.assertTrue((self.directory / "link.csv").is_symlink())


if __name__ == "__main__":
    halcyon_test.main()
