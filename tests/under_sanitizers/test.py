"""The preloaded libraries, and what they are made of, under the sanitizers: of threads, of addresses and of undefined
behaviour.

Builds the presets asan and tsan beside the build under test. The libraries are preloaded with the sanitizer's runtime
behind them, so that a call of the program or of MPI meets the wrapper first. Programs and MPI are not instrumented: only
what the libraries themselves touch is looked at.
"""
import re
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, PROGRAMS, SOURCE

HOSTILE = PROGRAMS / "hostile"
TOOLS = ("recorder", "injector", "halcyon-write")
SEGMENTS = 40000  # more than fit into a mebibyte
INJECTED = "class=all,prob=0.05,mean=20us,sd=5us"
REPORT = re.compile(r"ThreadSanitizer|AddressSanitizer|runtime error|LeakSanitizer")
PLACE = re.compile(r"\((?P<module>/\S*/)?(?P<name>libhalcyon\.so|libintm\.so)\+(?P<offset>0x[0-9a-f]+)\)")


def run(*words):
    finished = subprocess.run([str(word) for word in words], cwd=SOURCE, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20 * 60, check=False)
    return finished.returncode, finished.stdout.decode(errors="replace")


def sanitizer_runtime(name):
    """The compiler's library; None where it has none."""
    path = Path(run("g++", f"-print-file-name={name}")[1].strip())
    return path.resolve() if path.is_absolute() and path.exists() else None


class UnderSanitizer:
    """What is done under each; a class below says with which."""

    preset = runtime_name = ""
    options = {}
    units = {}  # programs, and which of their tests

    @classmethod
    def setUpClass(cls):
        cls.runtime = sanitizer_runtime(cls.runtime_name)
        if cls.runtime is None:
            raise unittest.SkipTest(f"no {cls.runtime_name}")
        cls.build = BUILD / cls.preset
        for words in (["cmake", "--preset", cls.preset, "-B", cls.build],
                      ["cmake", "--build", cls.build, "--target", *TOOLS, *cls.units]):
            status, output = run(*words)
            if status != 0:
                raise RuntimeError(output)

    def with_lines(self, text):
        """Reports name places in the libraries by their offset."""
        def line_of(place):
            library = self.build / "lib" / place["name"]
            _, output = run("addr2line", "-Cfspe", library, place["offset"])
            return f"({place['name']}: {output.strip()})"
        return PLACE.sub(line_of, text)

    def preloaded(self, ranks, *command, libraries=("halcyon",), status=0, **environment):
        """Runs it; the sanitizer has nothing to say."""
        preload = [self.build / "lib" / f"lib{library}.so" for library in libraries] + [self.runtime]
        settings = {"LD_PRELOAD": ":".join(map(str, preload)), "HALCYON_OUTPUT": self.directory / "run.h5",
                    "HALCYON_LIVE": "on", **self.options, **environment}
        finished = self.mpirun(ranks, command, preload=False, **settings)
        self.assertNotRegex(finished.errors, REPORT, self.with_lines(finished.errors))
        self.assertEqual(finished.status, status, finished)

    def profile(self):
        return halcyon_test.Profile(self.directory / "run.h5")

    def test_every_call_of_mpi_and_files(self):
        self.preloaded(2, EXAMPLES / "every_call")
        self.assertGreater(self.profile().segments, 1)

    def test_every_call_delayed(self):
        self.preloaded(2, EXAMPLES / "every_call", libraries=("halcyon", "intm"), INTM_SPEC=INJECTED, INTM_SEED=1)
        self.assertGreater(self.profile().segments, 1)

    def test_eight_threads_that_share_mpi(self):
        self.preloaded(2, HOSTILE, "threads", libraries=("halcyon", "intm"), INTM_SPEC=INJECTED, INTM_SEED=1)
        self.assertGreater(self.profile().segments, 1)

    def test_threads_that_end_and_begin(self):
        self.preloaded(1, HOSTILE, "shortlived")
        self.assertEqual(self.profile().totals(0)["sends_blocking"], 1000)

    def test_a_thread_that_was_there_before_mpi_init(self):
        self.preloaded(1, HOSTILE, "early")
        self.assertGreater(self.profile().totals(0)["writes"], 0)

    def test_an_abort_amid_the_boundaries_of_other_threads(self):
        self.preloaded(1, HOSTILE, "aborts", status=9)
        self.assertTrue((self.directory / "run.h5.parts").exists())

    def test_blocks_that_are_spilled_and_read_again(self):
        self.preloaded(1, PROGRAMS / "dies", SEGMENTS, "finalize", HALCYON_MEMORY=1)
        self.assertEqual(self.profile().segments, SEGMENTS + 1)

    def test_units(self):
        for unit, which in self.units.items():
            status, output = run(self.build / "bin" / unit, f"--gtest_filter={which}")
            self.assertEqual(status, 0, output)


class Threads(UnderSanitizer, halcyon_test.Behaviour):

    preset = "tsan"
    runtime_name = "libtsan.so"
    # symbolize: to find a name the sanitizer opens files, through the wrapped `open`; what that has to report waits for
    # ever for the lock of the report that is being made.
    # ignore_noninstrumented_modules: MPI keeps order by means that the sanitizer does not see.
    options = {"TSAN_OPTIONS": "symbolize=0 ignore_noninstrumented_modules=1"}
    # What has a second thread; the damaged parts are thousands, and come by in the other sanitizer's run.
    units = {"unit_recorder": "ChangeGate.*:Part.*:RequestTable.*:Threads.*-Part.ThatIsDamaged*", "unit_live": "*"}


class AddressesAndUndefinedBehaviour(UnderSanitizer, halcyon_test.Behaviour):

    preset = "asan"
    runtime_name = "libasan.so"
    # detect_leaks: MPI and the programs leave much to the end of the process.
    # verify_asan_link_order: it is behind the libraries.
    options = {"ASAN_OPTIONS": "symbolize=0 detect_leaks=0 verify_asan_link_order=0", "UBSAN_OPTIONS": "symbolize=0"}
    units = dict.fromkeys(("unit_recorder", "unit_live", "unit_format", "unit_intm"), "*")

    def test_a_cancelled_thread(self):  # whose way out, past its interceptors, the thread sanitizer does not follow
        self.preloaded(1, HOSTILE, "cancelled")


if __name__ == "__main__":
    halcyon_test.main()
