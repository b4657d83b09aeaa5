"""Untrusted input under libFuzzer: every finding stays fixed, and some seconds more of fuzzing find nothing new.

Builds the fuzz targets with clang (preset fuzz) beside the build under test. HALCYON_FUZZ_SECONDS is the time for each
target; what it finds is left in the directory `findings` of that build.
"""
import concurrent.futures
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, SOURCE

FUZZ_BUILD = BUILD / "fuzz"
FINDINGS = FUZZ_BUILD / "findings"
CORPUS = Path(__file__).resolve().parent / "corpus"
CORPUS_OF_PARTS = FUZZ_BUILD / "corpus_of_parts"  # made anew by each run, since the layout of parts changes
SECONDS = int(os.environ.get("HALCYON_FUZZ_SECONDS", "10"))
MOST_MEGABYTES = 2048  # of one process, sanitizers included
SEED = 1  # what the tests find is found again; longer runs by hand draw their own
SLOWEST_INPUT = 120  # seconds, under sanitizers on a busy machine


def has_libfuzzer():
    program = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
    return shutil.which("clang++") is not None and subprocess.run(
        ["clang++", "-fsanitize=fuzzer", "-x", "c++", "-", "-o", "/dev/null"], input=program, text=True,
        capture_output=True, check=False).returncode == 0


def run(*words):
    finished = subprocess.run([str(word) for word in words], cwd=SOURCE, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return finished.returncode, finished.stdout.decode(errors="replace")


def fuzz(name, corpus):
    """The target with the inputs of its corpus, and for SECONDS with inputs made of them: exit status and output."""
    target = FUZZ_BUILD / "bin" / f"fuzz_{name}"
    limits = [f"-timeout={SLOWEST_INPUT}", f"-rss_limit_mb={MOST_MEGABYTES}", f"-artifact_prefix={FINDINGS}/{name}-"]
    inputs = sorted(corpus.iterdir())
    if not inputs:
        return 1, f"{corpus} is empty"
    status, output = run(target, *limits, *inputs)
    if status != 0:
        return status, output
    with tempfile.TemporaryDirectory(prefix="halcyon-") as found:
        return run(target, *limits, f"-max_total_time={SECONDS}", f"-seed={SEED}", found, corpus)


class Fuzz(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        for words in (["cmake", "--preset", "fuzz", "-B", FUZZ_BUILD], ["cmake", "--build", FUZZ_BUILD, "--target", "fuzz"]):
            status, output = run(*words)
            if status != 0:
                raise RuntimeError(output)
        FINDINGS.mkdir(exist_ok=True)
        pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())  # a target uses one processor
        cls.addClassCleanup(pool.shutdown)
        shutil.rmtree(CORPUS_OF_PARTS, ignore_errors=True)
        CORPUS_OF_PARTS.mkdir()
        status, output = run(FUZZ_BUILD / "bin" / "part_corpus", CORPUS_OF_PARTS)
        if status != 0:
            raise RuntimeError(output)
        corpora = {directory.name: directory for directory in CORPUS.iterdir()} | {"part": CORPUS_OF_PARTS}
        cls.fuzzed = {name: pool.submit(fuzz, name, corpus) for name, corpus in corpora.items()}

    def check_target(self, name):
        status, output = self.fuzzed[name].result()
        self.assertEqual(status, 0, output)

    def test_an_injection_spec_of_any_bytes_is_followed_or_refused_in_one_line(self):
        self.check_target("spec")

    def test_a_spool_file_of_any_bytes_is_a_run_or_refused_in_one_line(self):
        self.check_target("spool")

    def test_frames_of_any_bytes_are_a_profile_or_refused_in_one_line(self):
        self.check_target("frames")

    def test_an_hdf5_file_of_any_kind_is_a_profile_or_refused_in_one_line(self):
        self.check_target("hdf5")

    def test_a_part_of_any_bytes_is_recovered_or_refused_in_one_line(self):
        self.check_target("part")

    def test_a_live_record_of_any_bytes_is_read_or_refused_in_one_line(self):
        self.check_target("live")

    def test_a_running_job_of_any_values_is_shown_with_possible_figures(self):
        self.check_target("watched")

    def test_a_profile_of_any_values_is_reported_or_refused_in_one_line(self):
        self.check_target("profile")


if __name__ == "__main__":
    if not has_libfuzzer():
        halcyon_test.skip("no clang with libFuzzer")
    halcyon_test.main()
