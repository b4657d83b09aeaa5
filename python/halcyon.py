"""Profiles of Halcyon in xarray and pandas.

    run = halcyon.open("run.h5")           xarray.Dataset of what was recorded; does not need the halcyon command
    frame = halcyon.segments("run.h5")     pandas.DataFrame with one row per segment and its judgement
    halcyon.groups("run.h5")               pandas.DataFrame with one row per group
    halcyon.report("run.h5")               the report as a dict
    halcyon.thicket(["a.h5", "b.h5"])      call sites and groups of several runs, in the shape of Thicket
    halcyon.literal("run.h5")              the same for one run, for hatchet's GraphFrame.from_literal

Estimates come from the `halcyon` command, since only it has the estimators; `halcyon.command` is its path.
Needs h5py, numpy, pandas and xarray (Debian: python3-h5py python3-xarray).
"""
import collections
import json
import subprocess

import h5py
import numpy
import pandas
import xarray

command = "halcyon"  # found in PATH, or a path

Thicket = collections.namedtuple("Thicket", "dataframe metadata")


class Error(Exception):
    """The halcyon command refused or failed; the text is its message, in one line."""


def open(file):
    """The contents of a profile as an xarray.Dataset over `segment` and `rank`. Features have their values instead of
    indices of bins; call sites, hosts and source runs have their names. `start` is in s since the recording began:
    the durations of all earlier segments, and the gaps before them."""
    with h5py.File(file, "r") as content:
        attributes = {name: _text(value) for name, value in content.attrs.items()}
        columns = {name: data for name, data in content.items() if data.attrs.get("CLASS") != b"DIMENSION_SCALE"}
        values = {name: _values(data) for name, data in columns.items()}
        described = {name: {key: _text(data.attrs[key]) for key in ("units", "description") if key in data.attrs}
                     for name, data in columns.items()}
        dimension = {name: data.dims[0][0].name.lstrip("/") for name, data in columns.items()}

    segments = int(attributes["segments"])
    if "rank_run_time" in values:
        _forget_what_was_not_measured(values)
    dataset = xarray.Dataset(attrs=attributes)

    def add(name, over, data, attrs):
        dataset[name] = xarray.DataArray(data, dims=over, attrs=attrs)

    def decoded(index, bins):
        """The value of each segment. A column with a single bin has no index."""
        return bins[values[index]] if index in values else numpy.broadcast_to(bins[:1], segments)

    for name, data in values.items():
        if name in ("sites", "composed_of") or name.endswith("_bins") or name + "_bins" in values:
            continue  # handled below
        if name not in ("site", "source"):
            add(name, dimension[name], data, described[name])
    for name in values:
        feature = name[:-len("_bins")]
        if name.endswith("_bins") and (feature in values or len(values[name]) > 0):
            add(feature, "segment", decoded(feature, values[name]), described[name])
    if "sites" in values and (segments == 0 or len(values["sites"]) > 0):
        add("site", "segment", decoded("site", values["sites"]),
            {"description": "call site of the boundary that ended the segment: boundary@module+offset or boundary@file:line"})
    if "source" in values:
        add("source", "segment", values["composed_of"][values["source"]],
            {"description": "run whose times the segment has"})
    if "last_rank" in values:
        add("last_rank_host", "segment", values["rank_host"][values["last_rank"]],
            {"description": "host of the rank that held the others up"})
    if "duration" in values:
        durations = values["duration"].astype(float)
        gaps = values["gap_before"].astype(float) if "gap_before" in values else 0.0
        dataset = dataset.assign_coords(
            start=("segment", numpy.cumsum(durations + gaps) - durations, {"units": "s"}))
    return dataset.assign_coords(segment=numpy.arange(segments), rank=numpy.arange(int(attributes["ranks"])))


def segments(file, method=None):
    """A pandas.DataFrame with one row per segment: what was recorded and how it was judged. It has the columns of
    `halcyon export --csv -`. Times are in seconds; NaN means not known or not judged."""
    texts = {name: "category" for name in ("site", "last_rank_host", "source")}
    with _started(["export", "--csv", "-", file], method) as process:
        try:
            frame = pandas.read_csv(process.stdout, index_col="segment", dtype=texts, keep_default_na=False,
                                    na_values=[""], float_precision="round_trip")
        except pandas.errors.EmptyDataError:
            frame = None
        _finish(process)
    return frame


def report(file, method=None):
    """The output of `halcyon report --json` as a dict."""
    with _started(["report", "--json", "-", file], method) as process:
        said = process.stdout.read()
        _finish(process)
    return json.loads(said)


def groups(file, method=None):
    """A pandas.DataFrame with one row per group: number of segments, their total and median duration, excess, number of
    disturbed segments, and the mean of each feature."""
    return _groups_of(segments(file, method))


def thicket(files, method=None):
    """Call sites and their groups, of one or several runs, as Thicket has them: `dataframe`, indexed by (node, profile),
    and `metadata`, indexed by profile.

    A node is named by its path below the program. Groups of different runs are the same node if their call sites and all
    counts are equal. If a run has several such groups, the one with the most segments comes first."""
    rows, metadata = [], {}
    for file in [files] if isinstance(files, str) else map(str, files):
        said = report(file, method)
        metadata[file] = {name: value for name, value in said.items() if not isinstance(value, (dict, list))}
        rows += [{"node": " > ".join(path[1:] or path), "profile": file, **row} for path, row in _nodes(said, groups(file, method))]
    frame = pandas.DataFrame(rows).set_index(["node", "profile"]).sort_index()
    return Thicket(frame, pandas.DataFrame.from_dict(metadata, orient="index").rename_axis("profile"))


def literal(file, method=None):
    """The program, its call sites and their groups as nested dicts, for hatchet's GraphFrame.from_literal."""
    by_path, roots = {}, []
    for path, row in _nodes(report(file, method), groups(file, method)):
        metrics = {name: value for name, value in row.items() if name not in ("name", "type") and not pandas.isna(value)}
        node = {"frame": {"name": row["name"], "type": row["type"]}, "metrics": metrics, "children": []}
        by_path[path] = node
        (by_path[path[:-1]]["children"] if len(path) > 1 else roots).append(node)
    return roots


def _groups_of(frame):
    by_group = frame.groupby("group")
    result = by_group[["cluster", "site", "judged", "baseline_seconds", "threshold_seconds"]].first()
    result.insert(2, "segments", by_group.size())
    result["duration_seconds"] = by_group["duration_seconds"].sum()
    result["median_seconds"] = by_group["duration_seconds"].median()
    result["excess_seconds"] = by_group["excess_seconds"].sum(min_count=1)  # NaN where it is not judged
    result["disturbed"] = by_group["disturbed"].sum()
    for feature in frame.columns[frame.columns.get_loc("compute"):]:  # the last columns
        result[feature] = by_group[feature].mean()
    return result


def _nodes(said, frame):
    """Yields (path, row) of the program, of each call site and of each group, parents first."""

    def row(name, kind, inclusive, exclusive, of):
        return {"name": name, "type": kind, "time": exclusive, "time (inc)": inclusive,
                "excess_seconds": of["excess_seconds"].sum(), "segments": int(of["segments"].sum()),
                "disturbed": int(of["disturbed"].sum())}

    counts = [name for name in frame.columns[frame.columns.get_loc("compute") + 1:] if "bytes" not in name]
    root = said["command"]
    in_segments = frame["duration_seconds"].sum()
    run_time = max(said["run_time_seconds"], in_segments)
    yield (root,), row(root, "program", run_time, run_time - in_segments, frame)
    for site, of_site in frame.groupby("site", observed=True):
        yield (root, site), row(site, "site", of_site["duration_seconds"].sum(), 0.0, of_site)
        alike = collections.Counter()
        for number, group in of_site.sort_values("segments", ascending=False, kind="stable").iterrows():
            calls = ", ".join(f"{group[name]:g} {name}" for name in counts if group[name] > 0) or "no calls"
            alike[calls] += 1
            name = calls if alike[calls] == 1 else f"{calls} #{alike[calls]}"
            yield (root, site, name), {
                **row(name, "group", group["duration_seconds"], group["duration_seconds"], of_site.loc[[number]]),
                "group": number, "baseline_seconds": group["baseline_seconds"],
                "threshold_seconds": group["threshold_seconds"], "median_seconds": group["median_seconds"]}


def _started(words, method):
    options = [] if method is None else ["--method", method]
    try:
        return subprocess.Popen([command, *map(str, words), *options], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Error(f"cannot run {command} ({error.strerror}): set halcyon.command to where it is") from None


def _finish(process):
    errors = process.stderr.read().decode(errors="replace").strip()
    if process.wait() != 0:
        raise Error(errors or f"{command} ended with status {process.returncode}")


def _forget_what_was_not_measured(values):
    """A rank that left nothing has no host, and its exact totals are not 0."""
    left_nothing = numpy.isnan(values["rank_run_time"])
    if not left_nothing.any():
        return
    for name in values:
        if name.startswith("total_"):
            values[name] = numpy.where(left_nothing, numpy.nan, values[name])
    values["rank_host"] = numpy.where(left_nothing, "", values["rank_host"])


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _values(data):
    if h5py.check_string_dtype(data.dtype) is None:
        return data[...]
    return numpy.array([_text(value) for value in data[...]], dtype=object)
