"""Halcyon on aarch64, with hardware counters: built for it here, and run on emulated machines whose processors count
instructions exactly. Their time is made up of instructions, so that nothing here says how long anything takes.

By name, or with `ctest -L long`. What it builds stays in build/aarch64 and build/arm64-root. HALCYON_TEST_RELEASE names
the directory of a release (packaging/portable/release), which then runs there, too: `tests/run emulated_arm -k Release`.
"""
import base64
import csv
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from io import BytesIO
from pathlib import Path

import halcyon_test
from halcyon_test import SOURCE, Profile, output_of

HERE = Path(__file__).resolve().parent
ROOT = SOURCE / "build" / "arm64-root"
CROSS = SOURCE / "build" / "aarch64"
KERNEL = Path("/usr/lib/debian-installer/images/12/arm64/text/debian-installer/arm64/linux")
PROGRAMS = ("qemu-system-aarch64", "qemu-aarch64-static", "aarch64-linux-gnu-g++", "aarch64-linux-gnu-gfortran",
            "mmdebstrap", "cpio")
UNIT_TESTS = [line[len("halcyon_unit_test("):].split()[0] for line in
              (SOURCE / "tests/unit/CMakeLists.txt").read_text().splitlines() if line.startswith("halcyon_unit_test(")]
HALCYON_TARGETS = ("recorder", "injector", "halcyon", "halcyon-write", "halcyon_described")
PROGRAM_TARGETS = ("kinds", "dies", "clock_reads")
NOT_UNDER_QEMU = ("OpenFiles.KnowsWhatIsAFile",)  # it puts files of its own in the place of some of /proc
BOOT_LIMIT = 540  # seconds; some 60 s of CPU are usual
STEPS = 60
TURNS = 200_000
INSTRUCTIONS_OF_A_TURN = 2
TURNS_OF_SECOND_PART = 1000
# Instructions in the count of a segment: of the program itself, and of the ways into a call and out of it. With those of
# a reading of PAPI they are 587, and what the recorder does at a boundary are some 3000.
MOST_BESIDE_TURNS = 500
TURNS_OF_STEPS = [TURNS << step % 3 for step in range(STEPS)]
TURNS_WITH_SECOND_PARTS = [turns for of_step in TURNS_OF_STEPS for turns in (of_step, TURNS_OF_SECOND_PART)]
# Libraries of the tree that no program here needs: the largest.
LEFT_OUT = re.compile(r"/(gconv|perl|perl-base|fortran|libicu[^/]*|libmpich[^/]*|lib[a-z]*san\.so[^/]*)(/|$)")


def install_root():
    """The tree of arm64 packages."""
    subprocess.run(["bash", "-c", f". {SOURCE}/cmake/install-packages.sh; install_arm64_root {shlex.quote(str(ROOT))}"],
                   check=True)


def build(*targets):
    """What runs on that tree."""
    install_root()
    subprocess.run(["cmake", "--preset", "aarch64", "-DHALCYON_WARNINGS_AS_ERRORS=ON"], cwd=SOURCE, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "aarch64", "--target", *targets], cwd=SOURCE, check=True,
                   stdout=subprocess.DEVNULL)


def unpacked_release(test_class):
    """The archive for aarch64, in a directory of its own."""
    if "HALCYON_TEST_RELEASE" not in os.environ:
        raise unittest.SkipTest("HALCYON_TEST_RELEASE names no release")
    archive, = Path(os.environ["HALCYON_TEST_RELEASE"]).glob("*-aarch64.tar.gz")
    made = Path(tempfile.mkdtemp(prefix="halcyon-"))
    test_class.addClassCleanup(shutil.rmtree, made, ignore_errors=True)
    with tarfile.open(archive) as content:
        content.extractall(made)
    return made / archive.name.removesuffix(".tar.gz")


def put_together(image, halcyon):
    """The files of the emulated machine, with the Halcyon of this build or installation."""
    for directory in ("lib", "usr/lib/aarch64-linux-gnu"):
        for path in sorted((ROOT / directory).rglob("*.so*")):
            inside = path.relative_to(ROOT)
            if path.is_dir() or LEFT_OUT.search(f"/{inside}"):
                continue
            (image / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, image / inside, follow_symlinks=False)
    for directory in ("etc/openmpi", "usr/share/openmpi", "usr/share/pmix"):
        if (ROOT / directory).exists():
            shutil.copytree(ROOT / directory, image / directory)
    def copy(path, inside):
        (image / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, image / inside)
    for program in ("usr/bin/orterun", "bin/busybox"):
        copy(ROOT / program, program)
    for program in PROGRAM_TARGETS:
        copy(CROSS / "tests" / program, f"halcyon/bin/{program}")
    for pattern in ("bin/halcyon", "lib/**/libhalcyon.so", "lib/**/libintm.so", "libexec/halcyon/halcyon-write"):
        path, = halcyon.glob(pattern)
        copy(path, f"halcyon/{path.relative_to(halcyon)}")
    (image / "usr/bin/mpirun").symlink_to("orterun")
    ldd = image / "usr/bin/ldd"  # Debian's needs bash
    ldd.write_text('#!/bin/sh\nexec /lib/ld-linux-aarch64.so.1 --list "$1"\n')
    ldd.chmod(0o755)
    shutil.copy2(HERE / "guest.sh", image)
    shutil.copy2(HERE / "init.sh", image / "init")
    (image / "init").chmod(0o755)
    (image / "etc/passwd").write_text("root:x:0:0:root:/tmp:/bin/sh\n")
    (image / "etc/hosts").write_text("127.0.0.1 localhost emulated\n")


class Transcript:
    """What the steps of guest.sh printed, and with which status each ended."""

    def __init__(self, text):
        self.text = text
        self.printed = {}
        self.statuses = {}
        for name, printed, status in re.findall(r"^step (\S+)\n(.*?)^status \1 (\d+)$", text, re.M | re.S):
            self.printed[name] = printed
            self.statuses[name] = int(status)


def boot(cpu, directory, halcyon):
    """Runs guest.sh on an emulated machine with this processor: the transcript; the profiles come into `directory`."""
    with tempfile.TemporaryDirectory(prefix="halcyon-") as work:
        image = Path(work) / "image"
        image.mkdir()
        put_together(image, halcyon)
        archive = Path(work) / "initrd"
        with archive.open("wb") as file:
            subprocess.run("find . | cpio --quiet -o -H newc", shell=True, cwd=image, stdout=file, check=True)
        # Its time is made of instructions (icount), which its counter counts. One processor: the instructions of several
        # would be one time, and what spins would slow the others.
        finished = subprocess.run(
            ["qemu-system-aarch64", "-M", "virt", "-cpu", cpu, "-m", "1536", "-icount", "shift=0",
             "-display", "none", "-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot",
             "-kernel", KERNEL, "-initrd", archive, "-append", "console=ttyAMA0 quiet panic=-1"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BOOT_LIMIT, check=False)
    text = finished.stdout.replace("\r", "")
    transcript, _, rest = text.partition("profiles begin\n")
    print(f"--- {cpu}\n{transcript}{finished.stderr}", file=sys.stderr)
    packed, complete, _ = rest.partition("profiles end")
    assert complete, f"the emulated machine did not come to its end\n{text[-2000:]}"
    with tarfile.open(fileobj=BytesIO(base64.b64decode(packed)), mode="r:gz") as files:
        files.extractall(directory)
    return Transcript(transcript)


class OnAnEmulatedMachine:

    @classmethod
    def setUpClass(cls):
        halcyon = cls.halcyon_for_it()
        cls.results = Path(tempfile.mkdtemp(prefix="halcyon-"))
        cls.addClassCleanup(shutil.rmtree, cls.results, ignore_errors=True)
        cls.transcript = boot(cls.cpu, cls.results, halcyon)

    @classmethod
    def halcyon_for_it(cls):
        build(*HALCYON_TARGETS, *PROGRAM_TARGETS)
        return CROSS

    def profile(self, name):
        return Profile(self.results / f"{name}.h5")

    def check_counts(self, name, turns):
        """Each segment counts the instructions of its turns, and the same few beside them as others of as many."""
        profile = self.profile(name)
        self.assertEqual(profile.attributes["counter"], self.counter)
        beside = {}
        # The first segment has the start of the program in it, and the last its end.
        for of_segment, work in list(zip(turns, profile.values("compute")))[1:]:
            beside.setdefault(of_segment, []).append(work - INSTRUCTIONS_OF_A_TURN * of_segment)
        for of_segment, instructions in sorted(beside.items()):
            print(f"{self.cpu}, {name}: {len(instructions)} segments of {of_segment} turns, beside them "
                  f"{min(instructions):.0f} to {max(instructions):.0f} instructions", file=sys.stderr)
            self.assertEqual(len(set(instructions)), 1, (name, of_segment, instructions))
            self.assertTrue(0 <= instructions[0] < MOST_BESIDE_TURNS, (name, of_segment, instructions[0]))

    def test_every_step_ends_well(self):
        steps = ("doctor", "clock_reads", "counted", "beside", "thread", "twice", "cpu_time", "recover", "injected",
                 "reported")
        self.assertEqual({name: self.transcript.statuses.get(name) for name in steps}, dict.fromkeys(steps, 0))

    def test_the_processor_is_known(self):
        for profile in (self.profile("counted"), self.profile("recovered")):
            self.assertEqual(set(profile.columns["rank_cpu"]), {self.model.encode()})

    def test_the_automatic_choice_is_a_counter_and_doctor_says_so(self):
        self.assertRegex(self.transcript.printed["doctor"], rf"(?m)^ +counter +{self.counter}$")

    def test_counts_of_known_loops_are_those_of_their_source(self):
        self.check_counts("counted", TURNS_OF_STEPS)
        self.check_counts("twice", TURNS_WITH_SECOND_PARTS)

    def test_each_thread_counts_by_itself(self):
        self.check_counts("beside", TURNS_OF_STEPS)
        self.check_counts("thread", TURNS_OF_STEPS)

    def test_segments_are_grouped_as_the_source_says(self):
        for name, turns in (("counted", TURNS_OF_STEPS), ("beside", TURNS_OF_STEPS), ("thread", TURNS_OF_STEPS),
                            ("twice", TURNS_WITH_SECOND_PARTS)):
            table = self.halcyon("export", "--csv", "-", self.results / f"{name}.h5")
            rows = list(csv.DictReader(table.output.splitlines()))
            pairs = {(of_segment, row["group"]) for of_segment, row in list(zip(turns, rows))[1:]}
            kinds = len(set(turns))
            self.assertEqual((kinds, len(pairs), len({group for _, group in pairs})), (kinds, kinds, kinds), pairs)

    def test_the_unit_of_work_is_a_step_of_the_source(self):
        self.assertEqual(self.report(self.results / "counted.h5")["unit"]["segments"], 1)
        self.assertEqual(self.report(self.results / "twice.h5")["unit"]["segments"], 2)

    def test_cpu_time_is_there_too(self):
        profile = self.profile("cpu_time")
        self.assertEqual(profile.attributes["counter"], "cpu")
        self.assertEqual(profile.segments, self.profile("counted").segments)

    def test_the_clock_is_the_generic_timer_and_cheap(self):
        self.assertEqual(self.profile("counted").attributes["clock"], "generic timer 62.500 MHz")
        instructions = dict(re.findall(r"^(generic timer|CLOCK_MONOTONIC) ([\d.]+)$",
                                       self.transcript.printed["clock_reads"], re.M))
        self.assertLess(2 * float(instructions["generic timer"]), float(instructions["CLOCK_MONOTONIC"]))

    def test_runs_that_do_not_finish_are_recovered(self):
        killed = self.profile("killed")
        self.assertEqual(killed.attributes["exit_state"], "killed")
        self.assertEqual(killed.attributes["incomplete"], "rank 1 of 2 left nothing")
        recovered = self.profile("recovered")
        self.assertEqual((recovered.attributes["exit_state"], recovered.boundaries), ("aborted", STEPS - 1))

    def test_delays_are_injected_and_found_there_as_here(self):
        here = self.report(self.results / "injected.h5")["injected_percent"]
        self.assertGreater(here, 0)
        self.assertAlmostEqual(json.loads(self.transcript.printed["reported"])["injected_percent"], here)


class OnCortexA57(OnAnEmulatedMachine, halcyon_test.Behaviour):
    cpu = "cortex-a57"
    model = "Arm Cortex-A57"
    counter = "papi:PAPI_TOT_INS"


class OnNeoverseN1(OnAnEmulatedMachine, halcyon_test.Behaviour):
    """PAPI 7.0 has no presets for this one."""
    cpu = "neoverse-n1"
    model = "Arm Neoverse-N1"
    counter = "papi:perf::INSTRUCTIONS"


class ReleaseOnCortexA57(OnCortexA57):
    """The archive of a release in the place of the build."""

    @classmethod
    def halcyon_for_it(cls):
        unpacked = unpacked_release(cls)
        build(*PROGRAM_TARGETS)
        return unpacked


class ReleaseUnderUserEmulation(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        cls.unpacked = unpacked_release(cls)
        install_root()

    def emulated(self, *words):
        finished = self.run_command(["qemu-aarch64-static", "-L", ROOT, self.unpacked / "bin/halcyon", *words])
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return finished.output

    def test_the_command_says_its_version_and_that_nothing_is_missing_but_a_ledger_in_postgresql(self):
        self.assertEqual(self.emulated("--version"), self.halcyon("--version").output)
        findings = json.loads(self.emulated("doctor", "--json", "-"))["findings"]
        missing = [finding["finding"] for finding in findings
                   if finding["subject"] == "build" and finding["state"] != "good"]
        self.assertEqual(len(missing), 1, findings)
        self.assertIn("libpq", missing[0])

    def test_stored_profiles_are_reported_as_this_machine_does(self):
        for stored in sorted((SOURCE / "tests/reads_older_profiles").glob("*.h5.gz")):
            with self.subTest(stored.name):
                file = self.directory / "stored.h5"
                file.write_bytes(gzip.decompress(stored.read_bytes()))
                words = ("report", "--no-baseline", "--json", "-", file)
                self.check_alike(json.loads(self.emulated(*words)), json.loads(self.halcyon(*words).output))

    def check_alike(self, one, other, where="report"):
        """The same to a thousandth: the processors round differently where they multiply and add at once, and what is searched
        for ends elsewhere by a little."""
        self.assertEqual(type(one), type(other), where)
        if isinstance(one, dict):
            self.assertEqual(set(one), set(other), where)
            for key, value in one.items():
                self.check_alike(value, other[key], f"{where}.{key}")
        elif isinstance(one, list):
            self.assertEqual(len(one), len(other), where)
            for index, (value, of_other) in enumerate(zip(one, other)):
                self.check_alike(value, of_other, f"{where}[{index}]")
        elif isinstance(one, float):
            self.assertLessEqual(abs(one - other), 1e-3 * max(abs(one), abs(other), 0.1), where)
        else:
            self.assertEqual(one, other, where)


class UnderUserEmulation(halcyon_test.Behaviour):

    def test_unit_tests_pass(self):
        build(*HALCYON_TARGETS, *UNIT_TESTS)
        for program in UNIT_TESTS:
            with self.subTest(program=program):
                finished = self.run_command(["qemu-aarch64-static", "-L", ROOT, CROSS / "bin" / program,
                                             "--gtest_brief=1", f"--gtest_filter=-{':'.join(NOT_UNDER_QEMU)}"])
                self.assertEqual(finished.status, 0, finished)


if __name__ == "__main__":
    for program in PROGRAMS:
        if shutil.which(program) is None:
            halcyon_test.skip(f"no {program}")
    if not KERNEL.exists():
        halcyon_test.skip(f"no {KERNEL} (debian-installer-12-netboot-arm64)")
    halcyon_test.main()
