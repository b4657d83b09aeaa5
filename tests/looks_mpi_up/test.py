"""Programs that open the MPI library and look its functions up are recorded as those that are linked with it, each call
once, also beside other tools; and dlsym means for these what it means without us."""
import shutil
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import INJECTOR, LIBRARY, MPI, OTHER_MPI, PROGRAMS, PYTHON, Profile, library_of

HERE = Path(__file__).parent
ROUNDS = 50  # of all programs
COUNTED = {"collectives_all_to_all": ROUNDS, "bytes_collective": 4 * ROUNDS, "sends_blocking": ROUNDS,
           "receives_blocking": ROUNDS, "bytes_sent": 4 * ROUNDS, "bytes_received": 4 * ROUNDS}
WAYS = ("local", "global", "deep", "default", "next", "self", "pmpi", "made")
PLAIN_TOOL = PROGRAMS / "libtool.so"  # goes on to PMPI, which is linked
NEXT_LIBRARY = PROGRAMS / "libnext_library.so"
LOOKING_TOOL = PROGRAMS / "liblooking_tool.so"
ANSWERING_TOOL = PROGRAMS / "libanswering_tool.so"
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4")
WORLD = "ompi_mpi_comm_world" if MPI.interface == "Open MPI" else "0x44000000"


def is_found(library):
    return not subprocess.run(["env", f"LD_PRELOAD={library}", "true"], capture_output=True, check=True).stderr


class LooksMpiUp(halcyon_test.Behaviour):
    without_us = {}  # what programs do beside other tools alone

    def plain(self, command, others, **environment):
        key = (command[0], *others, environment.get("LOOKS"))  # all ways of looking up end alike
        if key not in self.without_us:
            self.without_us[key] = self.mpirun(2, command, preload=others, **environment)
        return self.without_us[key]

    def run_both(self, command, libraries=(LIBRARY,), **environment):
        """Runs a program with the recorder and other libraries, and with those alone: it says the same. Returns the run
        without recorder, and the profile."""
        output = self.directory / "run.h5"
        output.unlink(missing_ok=True)
        environment = {"MPI_LIBRARY": MPI.library, **environment}
        without = self.plain(command, [library for library in libraries if library != LIBRARY], **environment)
        self.assertEqual(without.status, 0, without)
        recorded = self.mpirun(2, command, preload=libraries, HALCYON_OUTPUT=output, **environment)
        self.assertEqual(recorded, without)
        return without, Profile(output)

    def check(self, command, libraries=(LIBRARY,), counted=None, **environment):
        """The same, where all calls are recorded once. Returns the run without recorder."""
        without, profile = self.run_both(command, libraries, **environment)
        self.check_counts(profile, counted)
        return without

    def check_counts(self, profile, counted=None):
        self.assertEqual((profile.boundaries, profile.attributes["exit_state"]), (ROUNDS, "finalized"))
        for rank in range(2):
            self.assertEqual(profile.nonzero_totals(rank), counted or COUNTED)

    def in_both_orders(self, library):
        for libraries in ((LIBRARY, library), (library, LIBRARY)):
            with self.subTest(first=Path(libraries[0]).name):
                yield libraries

    def test_in_c_by_every_way_of_opening_it(self):
        for way in WAYS:
            with self.subTest(way):
                self.check([PROGRAMS / "looks_up", way, MPI.library])

    def test_through_a_plugin_that_is_linked_with_it(self):
        for way in ("local", "deep"):
            with self.subTest(way):
                self.check([PROGRAMS / "looks_up", way, PROGRAMS / "libdeep_plugin.so"])

    def test_beside_calls_that_are_linked_which_have_the_same_address(self):
        said = self.check([PROGRAMS / "looks_up_linked", "local", MPI.library])
        self.assertIn("the function that is linked is the one looked up", said.output)

    def test_by_a_library_between_us_and_mpi_that_asks_for_the_next_one_when_it_is_loaded(self):
        reduced = {"collectives_all_to_all": ROUNDS, "bytes_collective": 4 * ROUNDS}
        for libraries in self.in_both_orders(NEXT_LIBRARY):
            self.check([PROGRAMS / "looks_next"], libraries, reduced)
        self.check([PROGRAMS / "looks_next"], (LIBRARY, NEXT_LIBRARY, LOOKING_TOOL), reduced, LOOKS="next")
        self.check([PROGRAMS / "looks_next"], (LIBRARY, INJECTOR, NEXT_LIBRARY), reduced)

    def test_a_library_behind_mpi_has_no_next_one(self):
        said, profile = self.run_both([PROGRAMS / "looks_next", NEXT_LIBRARY])
        self.assertEqual((said.output, profile.boundaries), ("there is no next one\n", 0))

    def test_a_program_that_searches_the_library_where_the_loader_says_that_mpi_is(self):
        reduced = {"collectives_all_to_all": ROUNDS, "bytes_collective": 4 * ROUNDS}
        for libraries in ((LIBRARY,), (LIBRARY, INJECTOR), (INJECTOR, LIBRARY)):
            said = self.check([PROGRAMS / "asks_where"], libraries, reduced)
            self.assertIn(f"MPI_Allreduce is in {Path(MPI.library).name}", said.output)

    @halcyon_test.needs_python
    def test_by_ctypes_and_cffi(self):
        for module in ("ctypes", "cffi"):
            if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
                self.skipTest(f"Python has no {module}")
            for scope in ("local", "global"):
                with self.subTest(module, scope=scope):
                    self.check([PYTHON, HERE / "looks.py", module, MPI.library, scope, WORLD],
                               counted={"collectives_all_to_all": ROUNDS})

    @unittest.skipUnless(MPI is halcyon_test.OPEN_MPI, "the program is written for Open MPI's handles and library")
    def test_rust(self):
        compiler = shutil.which("rustc", path="/usr/bin")
        if compiler is None:
            self.skipTest("there is no rustc")
        program = self.directory / "linked"
        subprocess.run([compiler, "-o", program, HERE / "linked.rs"], check=True)
        self.check([program], counted={"collectives_all_to_all": ROUNDS})

    def test_a_tool_that_goes_on_to_pmpi_hears_what_it_hears_without_us(self):
        for program in ("looks_up", "looks_up_linked"):
            for libraries in self.in_both_orders(PLAIN_TOOL):
                said = self.check([PROGRAMS / program, "local", MPI.library], libraries)
                self.assertNotIn("tool: ", said.output)  # it counts until MPI_Finalize, which is looked up past it

    def test_a_tool_that_looks_up_what_it_goes_on_to(self):
        for way in ("next", "handle", "pmpi"):
            for program, calls in (("looks_up", 0), ("looks_up_linked", ROUNDS // 2)):
                for libraries in self.in_both_orders(LOOKING_TOOL):
                    said = self.check([PROGRAMS / program, "local", MPI.library], libraries, LOOKS=way)
                    self.assertEqual(said.errors, f"tool: {calls}\n" * 2 if calls else "")

    def test_a_tool_that_answers_dlsym_itself(self):
        said = self.check([PROGRAMS / "looks_up", "local", MPI.library], (ANSWERING_TOOL, LIBRARY))
        self.assertEqual(said.errors, f"tool: {ROUNDS}\n" * 2)
        # Behind the recorder, what it answers with is called as without the recorder, which does not see the call.
        said, profile = self.run_both([PROGRAMS / "looks_up", "local", MPI.library], (LIBRARY, ANSWERING_TOOL))
        self.assertEqual(said.errors, f"tool: {ROUNDS}\n" * 2)
        for rank in range(2):
            totals = profile.totals(rank)
            self.assertEqual((totals["collectives_all_to_all"], totals["sends_blocking"]), (0, ROUNDS))

    def test_two_tools_around_us(self):
        for last in (PLAIN_TOOL, LOOKING_TOOL):
            with self.subTest(last=last.name):
                libraries = (ANSWERING_TOOL, LIBRARY, last)
                self.check([PROGRAMS / "looks_up", "local", MPI.library], libraries, LOOKS="handle")
                self.check([PROGRAMS / "looks_up_linked", "local", MPI.library], libraries, LOOKS="next")

    def test_the_injector_delays_each_call_once(self):
        for libraries in self.in_both_orders(INJECTOR):
            self.check([PROGRAMS / "looks_up", "local", MPI.library], libraries,
                       INTM_SPEC="class=collective,prob=1,mean=1ms,sd=0ms")
            requested = Profile(self.directory / "run.h5").columns["injected_requested"]
            self.assertAlmostEqual(float(sum(requested)), 2 * ROUNDS * 1e-3, places=6)

    def test_allocators_that_look_functions_up_before_anything_has_begun(self):
        for allocator in ALLOCATORS:
            if not is_found(allocator):
                self.skipTest(f"there is no {allocator}")
            for libraries in self.in_both_orders(allocator):
                self.check([PROGRAMS / "looks_up", "local", MPI.library], libraries)

    def test_a_program_that_is_built_with_a_sanitizer(self):
        program = PROGRAMS / "looks_up_checked"
        if not program.exists():
            self.skipTest("the compiler has no address sanitizer")
        options = {"ASAN_OPTIONS": "detect_leaks=0"}
        plain = self.run_command([*MPI.launch(2), program, "local", MPI.library], **options)
        if plain.status != 0:
            self.skipTest(f"this MPI cannot be used with it: {plain.errors}")
        runtime = next(word for word in halcyon_test.output_of(["ldd", program]).split() if word.startswith("libasan"))
        output = self.directory / "run.h5"
        finished = self.mpirun(2, [program, "local", MPI.library], preload=(runtime, LIBRARY), HALCYON_OUTPUT=output,
                               **options)
        self.assertEqual(finished, plain)
        self.check_counts(Profile(output))

    def test_the_setting_that_turns_it_off(self):
        output = self.directory / "run.h5"
        command = [PROGRAMS / "looks_up", "local", MPI.library]
        finished = self.mpirun(2, command, HALCYON_OUTPUT=output, HALCYON_DLSYM="off")
        self.assertEqual((finished.status, finished.errors.count("calls that are looked up with dlsym bypass it")), (0, 1),
                         finished)
        self.assertFalse(output.exists())
        finished = self.mpirun(2, command, HALCYON_OUTPUT=output, HALCYON_DLSYM="never")
        self.assertIn("HALCYON_DLSYM=never is neither on nor off", finished.errors)
        self.check_counts(Profile(output))

    def test_the_recorder_for_another_family_stands_aside(self):
        recorder = library_of(OTHER_MPI, "halcyon")
        if not recorder.exists():
            self.skipTest("built for one MPI family only")
        command = [PROGRAMS / "looks_up", "local", MPI.library]
        plain = self.plain(command, [])
        finished = self.mpirun(2, command, preload=[recorder], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output), (0, plain.output), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        for name in (MPI.interface, OTHER_MPI.interface, recorder.name):
            self.assertIn(name, finished.errors)


if __name__ == "__main__":
    halcyon_test.main()
