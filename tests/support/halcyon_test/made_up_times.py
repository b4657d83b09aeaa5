"""Profiles with real segments but made-up times, so that their verdict does not depend on the machine."""
import functools
import subprocess
import tempfile
from pathlib import Path

from .commands import TIME_LIMIT, clean_environment
from .mpi_family import MPI
from .places import EXAMPLES, HALCYON
from .profile import editing

DELAYED_SEGMENT, OF_SEGMENTS = 7, 20  # the eighth of every twenty segments is delayed
KINDS_OF_CALLS = ("point_to_point", "collective", "boundary", "file_io", "device", "off_cpu")


def is_delayed(segment):
    """Whether this segment, or each of an array of segments, has a made-up delay."""
    return segment % OF_SEGMENTS == DELAYED_SEGMENT


def make_up_times(path, usual, delay):
    """Gives every segment of the profile a duration of about `usual` seconds. The delayed segments take `delay` seconds
    more, since their last rank was late in its point-to-point calls. All do the same computation."""
    import numpy
    with editing(path) as profile:
        number = numpy.arange(profile["duration"].size)
        delays = numpy.where(is_delayed(number), delay, 0.0)
        made_up = {"duration": usual + 1e-5 * numpy.sin(number) + delays, "compute": 0,
                   "last_rank": (delays > 0.0) * (profile.attrs["ranks"] - 1), "calls_beyond_usual": delays,
                   "lost_to_cpu_wait": 0.0, "rank_cpu_wait": 0.0, "lost_to_slower_ranks": 0.0, "lost_to_more_work": 0.0,
                   **{f"last_rank_{kind}": delays if kind == "point_to_point" else 0.0 for kind in KINDS_OF_CALLS}}
        for column, values in made_up.items():
            if column in profile:
                profile[column][...] = values
        profile.attrs["run_time_seconds"] = profile["duration"][...].astype(float).sum()


def write_disturbed_profile(path, delay):
    """Writes a profile of two ranks whose segments take about a millisecond. In the delayed ones, rank 1 was `delay`
    seconds late because of its point-to-point calls."""
    path.write_bytes(real_run())
    make_up_times(path, 1e-3, delay)


@functools.cache
def real_run():
    """A profile of an example on two ranks that has every column, recorded once for all tests of a behaviour."""
    with tempfile.TemporaryDirectory(prefix="halcyon-") as directory:
        subprocess.run([HALCYON, "run", "-o", "run.h5", "--background", "0.05", "--inject",
                        "class=p2p,prob=0.05,mean=0.1ms", "--", *MPI.launch(2), EXAMPLES / "halo_c", "1200"],
                       cwd=directory, env={**clean_environment(directory, directory, directory), "INTM_SEED": "1"},
                       capture_output=True, timeout=TIME_LIMIT, check=True)
        return (Path(directory) / "run.h5").read_bytes()
