"""Calls of devices are a kind of time of their own: waiting for one is not the program's work, however it waits. What a
device gets to do are features.

CUDA and HIP are a stand-in (stand_in.c) with the same symbols, whose device is a clock. OpenCL is real, on the CPU, where
a driver for it is installed (pocl-opencl-icd).
"""
import re
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD, LIBRARY, PROGRAMS, SOURCE, Profile, exported_by

RANKS = 2
STEPS = 40
ITEMS, BYTES = 2000, 1000  # of each step: 3 ms of the stand-in's device, at 1 µs for each of both
DEVICE_SECONDS = STEPS * (ITEMS + BYTES) * 1e-6
STAND_IN = BUILD / "tests/libby_cuda_and_hip.so"
NAMELESS = BUILD / "tests/libby_nameless.so"
OPENCL = BUILD / "tests/libby_opencl.so"
HERE = Path(__file__).parent
IN_NO_HEADER = ("hipLaunchCooperativeKernel", "hipExtModuleLaunchKernel")  # by C++ templates, or in one for C++ alone
# Where headers are, and how those that declare the functions of a library begin.
HEADERS = {"cl": ("/usr/include", "CL/cl.h"), "cuda": ("/usr/local/cuda/include", "cuda_runtime_api.h"),
           "cu": ("/usr/local/cuda/include", "cuda.h"), "hip": ("/usr/include", "hip/hip_runtime_api.h")}


def declared_here():
    """The functions of device.table: name, result and parameters."""
    table = (SOURCE / "libprofile/interpose/device.table").read_text()
    for line in table.splitlines():
        match = re.match(r"(\w[\w *]*[ *])(\w+)(?:\[\w+\])?\((.*?)\) *\|", line)
        if match and not line.startswith("#"):
            yield match.group(2), match.group(1).strip(), match.group(3)


class DeviceTime(halcyon_test.Behaviour):

    def run_program(self, plugin, step, *late, **environment):
        path = self.directory / "run.h5"
        path.unlink(missing_ok=True)
        finished = self.mpirun(RANKS, [PROGRAMS / "kernels", STEPS, ITEMS, BYTES, plugin, step, *late],
                               HALCYON_OUTPUT=path, **environment)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        seconds, on_cpu = map(float, finished.output.split())
        return Profile(path), seconds, on_cpu

    def check(self, profile):
        for rank in range(RANKS):
            self.assertEqual({name: total for name, total in profile.totals(rank).items() if name.startswith("device")},
                             {"device_launches": STEPS, "device_items": STEPS * ITEMS, "device_bytes": STEPS * BYTES})
        for feature, of_step in ("device_launches", 1), ("device_items", ITEMS), ("device_bytes", BYTES):
            self.assertEqual(set(profile.values(feature)[:STEPS]), {float(RANKS * of_step)})

    def check_time(self, profile, seconds):
        on_devices = sum(map(float, profile.columns["rank_device"][:len(profile.columns["section_place"])]))
        # On a busy machine, a thread may lose its CPU between two calls.
        self.assertGreater(on_devices, 0.5 * DEVICE_SECONDS)
        self.assertLess(on_devices, 1.05 * seconds)

    def test_spinning_for_a_device_is_no_work(self):
        for step in "by_runtime", "by_polls":
            with self.subTest(step):
                profile, seconds, on_cpu = self.run_program(STAND_IN, step)
                self.check(profile)
                self.check_time(profile, seconds)
                self.assertLess(1e-9 * sum(profile.values("compute")[:STEPS]), 0.5 * on_cpu)

    def test_a_thread_that_sleeps_in_a_call_waits_for_the_device(self):
        for step in "by_driver", "by_hip":
            with self.subTest(step):
                profile, seconds, _ = self.run_program(STAND_IN, step)
                self.check(profile)
                self.check_time(profile, seconds)

    def test_a_library_that_is_opened_late_by_a_plugin_that_nothing_else_may_use(self):
        profile, seconds, _ = self.run_program(STAND_IN, "by_runtime", "late")
        self.check(profile)
        self.check_time(profile, seconds)

    def test_a_library_by_another_name_that_only_its_plugin_finds(self):
        for step in "by_runtime", "by_hip":  # the second calls a function of the library within one of it
            with self.subTest(step):
                self.check(self.run_program(NAMELESS, step, "late")[0])

    def test_the_report_names_the_time_of_devices(self):
        self.run_program(STAND_IN, "by_driver")
        said = self.halcyon("report", self.directory / "run.h5").output
        share = float(re.search(r"devices (\S+) %", said).group(1))
        self.assertGreater(share, 10.0)

    @unittest.skipUnless(OPENCL.exists() and any(Path("/etc/OpenCL/vendors").glob("*.icd")),
                         "OpenCL or a driver was not found (ocl-icd-opencl-dev, opencl-c-headers, pocl-opencl-icd)")
    def test_opencl_on_the_cpu(self):
        for step in "by_finish", "by_event":
            with self.subTest(step):
                self.check(self.run_program(OPENCL, step)[0])

    def test_the_recorder_has_each_function_and_its_variants(self):
        exported = exported_by(LIBRARY)
        self.assertLess(60, sum(name in exported for name, _, _ in declared_here()))
        self.assertEqual([name for name, _, _ in declared_here() if name not in exported], [])

    def test_parameters_are_as_wide_as_in_the_headers(self):
        for library, (directory, header) in HEADERS.items():
            with self.subTest(header):
                if not (Path(directory) / header).exists():
                    self.skipTest(f"there is no {header}")
                functions = [one for one in declared_here() if re.match(rf"{library}(?=[A-Z])", one[0]) and one[0] not in IN_NO_HEADER]
                self.assertGreater(len(functions), 10)
                checks = "\n".join(
                    f'static_assert(widths_of(&::{name}) == widths_of(({result} (*)({parameters}))nullptr), "{name}");'
                    for name, result, parameters in functions)
                source = self.directory / "widths.cpp"
                source.write_text(f'#define CL_TARGET_OPENCL_VERSION 300\n#define __HIP_PLATFORM_AMD__ 1\n'
                                  f'#include <{header}>\n#include "{HERE}/widths.hpp"\n{checks}\n')
                compiled = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wno-deprecated-declarations",
                                           f"-I{SOURCE}", "-idirafter", directory, source], capture_output=True, text=True)
                self.assertEqual(compiled.returncode, 0, compiled.stderr)


if __name__ == "__main__":
    halcyon_test.main()
