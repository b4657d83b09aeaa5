"""What the behaviours share: run a program under mpirun with libhalcyon.so preloaded, and read the profile it leaves.

A behaviour is a directory with a test.py that ends in `halcyon_test.main()`. ctest tells it by the environment where
the build and the sources are; by hand, HALCYON_BUILD_DIR alone is enough. HALCYON_TEST_MPI=mpich takes MPICH's launcher,
libraries and programs in place of Open MPI's. Needs only Debian's Python modules.
"""
import functools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HALCYON_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HALCYON_BUILD_DIR", SOURCE / "build" / "release")).resolve()  # tests run elsewhere
IS_MPICH = os.environ.get("HALCYON_TEST_MPI") == "mpich"
SUFFIX = "-mpich" if IS_MPICH else ""  # of everything that is built once for each MPI family
LIBRARY = BUILD / "lib" / f"libhalcyon{SUFFIX}.so"
INJECTOR = BUILD / "lib" / f"libintm{SUFFIX}.so"
EXAMPLES = BUILD / f"examples{SUFFIX}"
PROGRAMS = BUILD / f"tests{SUFFIX}"
DECLARATIONS = BUILD / f"mpi_declarations{SUFFIX}.i"
LAUNCH = ["mpirun.mpich"] if IS_MPICH else ["mpirun", "--oversubscribe"]
HALCYON = BUILD / "bin" / "halcyon"
PYTHON = "/usr/bin/python3"  # the one that has Debian's modules
SKIPPED = 77  # ctest shows the test as skipped
MOST_FOREIGN_CPU = 0.05  # of one processor, used by others during a run; above, the machine is not left alone
TIME_LIMIT = 300  # seconds; only to end what hangs, far above what any run takes

TOTALS = ("sends_blocking", "sends_nonblocking", "receives_blocking", "receives_nonblocking",
          "collectives_one_to_all", "collectives_all_to_one", "collectives_all_to_all",
          "rma_operations", "file_opens", "file_closes", "reads", "writes",
          "bytes_sent", "bytes_received", "bytes_collective", "rma_bytes", "bytes_read", "bytes_written")


only_open_mpi = functools.partial(unittest.skipIf, IS_MPICH)  # with the reason


def exported(name, value):
    """How the launcher is told a variable of the ranks."""
    return ["-genv", name, value] if IS_MPICH else ["-x", f"{name}={value}"]


def wrapped_functions():
    interpose = SOURCE / "libprofile" / "interpose"
    return set(output_of([PYTHON, interpose / "generate.py", "list", DECLARATIONS, interpose / "mpi.table",
                          interpose / "posix.table"]).split())


class Profile:
    """A profile as h5py sees it, read whole."""

    def __init__(self, path):
        import h5py
        with h5py.File(path, "r") as file:
            self.attributes = {name: value.decode() if isinstance(value, bytes) else value
                               for name, value in file.attrs.items()}
            self.columns = {name: data[...] for name, data in file.items() if isinstance(data, h5py.Dataset)}

    @property
    def segments(self):
        return int(self.attributes["segments"])

    @property
    def boundaries(self):
        return self.segments - 1  # MPI_Finalize ends the last segment

    def totals(self, rank):
        return {name: int(self.columns["total_" + name][rank]) for name in TOTALS}

    def values(self, feature):
        """The feature's value in each segment, over all ranks."""
        bins = self.columns[feature + "_bins"]
        if feature in self.columns:
            return [float(bins[index]) for index in self.columns[feature]]
        return [float(bins[0])] * self.segments  # without a column all segments are in the one bin

    def sites(self):
        """The call site of each segment's boundary, as (operation, module, offset)."""
        texts = [text.decode() if isinstance(text, bytes) else text for text in self.columns["sites"]]
        indices = self.columns["site"] if "site" in self.columns else [0] * self.segments
        return [split_site(texts[index]) for index in indices]


def split_site(text):
    operation, _, place = text.partition("@")
    module, _, offset = place.rpartition("+")
    return operation, module or place, offset


class Finished:
    """What a command left behind."""

    def __init__(self, result):
        self.status = result.returncode
        self.output = result.stdout
        self.errors = result.stderr

    def __eq__(self, other):
        return (self.status, self.output, self.errors) == (other.status, other.output, other.errors)

    def __repr__(self):
        return f"exit status {self.status}\n--- stdout\n{self.output}\n--- stderr\n{self.errors}"


class Behaviour(unittest.TestCase):
    """Gives every test a temporary directory of its own, in which its programs run."""

    maxDiff = None

    def setUp(self):
        self.directory = self.scratch_directory()
        self.state = self.scratch_directory()  # what is known of earlier runs: none of the tester's, none of another test's

    def scratch_directory(self):
        directory = Path(tempfile.mkdtemp(prefix="halcyon-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        return directory

    def run_command(self, command, preload=False, **environment):
        """A command on its own, with or without the library preloaded into all of it."""
        settings = {**clean_environment(), "XDG_STATE_HOME": str(self.state), **environment}
        if preload:
            settings["LD_PRELOAD"] = str(LIBRARY)
        return Finished(subprocess.run([str(word) for word in command], cwd=self.directory, env=settings, text=True,
                                       stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT, check=False))

    def check_left_alone(self, check, tries=3):
        """The check, again if it fails: what others do to the machine is no fault of ours, and times show it. Skipped where they
        used the processors during each of the tries."""
        was_alone = False
        for attempt in range(tries):
            began, before = time.monotonic(), foreign_cpu_seconds()
            try:
                return check(attempt)
            except AssertionError as error:
                failure = error
            foreign = (foreign_cpu_seconds() - before) / (time.monotonic() - began)
            was_alone = was_alone or foreign < MOST_FOREIGN_CPU
        if not was_alone:
            self.skipTest(f"others used the processors during each of {tries} tries")
        raise failure

    def halcyon(self, *words, **environment):
        """The `halcyon` command."""
        return self.run_command([HALCYON, *words], **environment)

    def check_nothing_runs_on(self):
        """No process has the test's directory in its command line. The kernel ends a child with its parent, but need not have
        done so yet."""
        end = time.monotonic() + TIME_LIMIT
        while processes_that_name(str(self.directory)) and time.monotonic() < end:
            pass
        self.assertEqual(processes_that_name(str(self.directory)), [])

    def report(self, file):
        """What `halcyon report` says of a profile, as JSON."""
        finished = self.halcyon("report", "--json", "-", file)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return json.loads(finished.output)

    def mpirun(self, ranks, command, preload=True, options=(), **environment):
        """The program on so many ranks; HALCYON_* and other variables of the ranks as keywords."""
        words = [*LAUNCH, "-np", ranks, *options]
        if preload:
            environment["LD_PRELOAD"] = LIBRARY
        for name, value in environment.items():
            words += exported(name, value)
        return self.run_command([*words, *command])

    def record(self, ranks, command, **environment):
        """Runs the program preloaded; gives its profile. The run must succeed, and say nothing on standard error."""
        path = self.directory / "run.h5"
        path.unlink(missing_ok=True)
        finished = self.mpirun(ranks, command, HALCYON_OUTPUT=path, **environment)
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(finished.errors, "", finished)
        self.assertTrue(path.exists(), f"no profile was written\n{finished}")
        return Profile(path)

    def record_disturbed(self, file="run.h5", delay=0.02):
        """A profile of real segments whose times are made up, so that the verdict does not hang on the machine: each took
        about a millisecond of the same work, every twentieth `delay` seconds more, for which rank 1 held the others up in
        point-to-point calls."""
        import h5py
        import numpy
        path = self.directory / file
        path.write_bytes(real_run())
        with h5py.File(path, "r+") as profile:
            number = numpy.arange(profile["duration"].size)
            delays = numpy.where(number % 20 == 7, delay, 0.0)
            profile["duration"][...] = 1e-3 + 1e-5 * numpy.sin(number) + delays
            profile["last_rank"][...] = delays > 0.0
            profile["calls_beyond_usual"][...] = delays
            for kind in ("point_to_point", "collective", "boundary", "file_io", "off_cpu"):
                profile["last_rank_" + kind][...] = delays if kind == "point_to_point" else 0.0
            if "compute" in profile:
                profile["compute"][...] = 0
            profile.attrs["run_time_seconds"] = profile["duration"][...].astype(float).sum()
        return path


@functools.cache
def real_run():
    """The profile of an example on two ranks, with everything in it that a profile may have; recorded once."""
    with tempfile.TemporaryDirectory(prefix="halcyon-") as directory:
        subprocess.run([HALCYON, "run", "-o", "run.h5", "--background", "0.05", "--inject",
                        "class=p2p,prob=0.05,mean=0.1ms", "--", *LAUNCH, "-np", "2", EXAMPLES / "halo_c", "1200"],
                       cwd=directory, env={**clean_environment(), "INTM_SEED": "1", "XDG_STATE_HOME": directory},
                       capture_output=True,
                       timeout=TIME_LIMIT, check=True)
        return (Path(directory) / "run.h5").read_bytes()


def output_of(command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def exported_by(library):
    """Names that a shared library defines for others."""
    symbols = output_of(["nm", "-D", "--defined-only", "--format=just-symbols", library]).split()
    return {symbol.split("@")[0] for symbol in symbols}


def needed_by(program):
    """Names that a program or library takes from others."""
    symbols = output_of(["nm", "-D", "-u", "--format=just-symbols", program]).split()
    return {symbol.split("@")[0] for symbol in symbols}


def clean_environment():
    """The tester's own settings must not reach the programs under test."""
    ours = ("HALCYON_", "INTM_", "LD_PRELOAD")
    of_family = ({"PYTHONPATH": str(SOURCE / "tests" / "support" / "mpich")} if IS_MPICH else
                 {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    return {**{name: value for name, value in os.environ.items() if not name.startswith(ours)}, **of_family}


def processes_that_name(text):
    """Processes, this one aside, with the text in their command line; a forked child keeps its parent's."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if int(directory.name) != os.getpid() and text in (directory / "cmdline").read_text():
                found.append(int(directory.name))
        except OSError:
            pass  # it has ended
    return found


def foreign_cpu_seconds():
    """CPU time that everybody but our children has used, stolen time included."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = (int(field) / os.sysconf("SC_CLK_TCK") for field in fields)
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return user + nice + system + irq + softirq + steal - ours.ru_utime - ours.ru_stime


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main():
    if shutil.which(LAUNCH[0]) is None:
        skip(f"no {LAUNCH[0]}")
    try:
        import h5py  # noqa: F401
    except ImportError:
        skip("no h5py")
    unittest.main(verbosity=2)
