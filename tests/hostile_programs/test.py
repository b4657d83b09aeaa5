"""Programs that do what is allowed but seldom expected by tools: they run as ever, and their profile is right."""
import unittest

import halcyon_test
from halcyon_test import LIBRARY, MPI, PROGRAMS, PYTHON, Profile, only_open_mpi

PROGRAM = PROGRAMS / "hostile"
PLUGIN = PROGRAMS / "libplugin.so"
OWN_NAMES = PROGRAMS / "libown_names.so"
HOST = PROGRAMS / "host"
DIES = PROGRAMS / "libdies_module.so"
MANY = 100000  # more segments than fit into a mebibyte
MILLIONS = 2000000

# What hostile.c does
BARRIERS = 10  # before each case
THREADS, ROUNDS = 8, 300  # of the cases with threads; each thread has these rounds
EARLY_WRITES = 1000
SHORT_LIVED_THREADS = 1000
FAILED_SENDS = 5  # of the case `handler`, each with a barrier behind it
LEVELS_OF_PCONTROL = 4  # a barrier behind each
ABORT_STATUS = 9
# Case `truncated`: each round has a message that is longer than the room for it, and two that fit
TRUNCATED_ROUNDS = 100
BYTES_TOO_LONG, BYTES_OF_ROOM, BYTES_THAT_FIT = 16, 4, (64, 32)
# Case `jumps`: each round leaves a failed call by a jump. Even rounds then exchange a byte once, odd rounds twice
JUMPS = 30
EXCHANGES_AFTER_JUMPS = JUMPS // 2 * (1 + 2)
LINES, BYTES_OF_A_LINE = 30, 7  # of case `logs`
FIBER_ROUNDS = 30  # of case `fibers`, each with an exchange of a byte and a barrier
UNSEEN_ROUNDS, CALLS_LOST_UNSEEN = 1000, 130  # of case `unseen`: at most so many are taken for calls of MPI
LATE_RECEIVES, BYTES_OF_A_LATE_RECEIVE = 30, 100  # of cases `seen` and `within`
# Case `threads`
BYTES_OF_AN_ISEND = 8
# Case `collectives`, in each round of a thread
BYTES_OF_A_NUMBER = 4
BYTES_OF_A_PERSISTENT_SEND, BYTES_OF_A_SENDRECV = 8, 4

EXCEPTIONS = 30  # of throws.cpp, each with a send and a barrier behind it
CALLS_PLUGIN = f"""
import ctypes
from mpi4py import MPI
plugin = ctypes.CDLL({str(PLUGIN)!r}, mode=ctypes.RTLD_LOCAL)
total = ctypes.c_int()
plugin.sum_over_ranks(ctypes.byref(total))
assert total.value == 2, total
"""
needs_errors = unittest.skipUnless(MPI.checks_arguments and MPI.returns_errors,
                                   "the library does not tell the program of wrong arguments")


class HostilePrograms(halcyon_test.Behaviour):

    def check(self, case, ranks=2):
        """Checks that the case prints the same with the recorder as without, and returns its profile."""
        path = self.directory / "run.h5"
        path.unlink(missing_ok=True)
        plain = self.mpirun(ranks, [PROGRAM, case], preload=())
        recorded = self.mpirun(ranks, [PROGRAM, case], HALCYON_OUTPUT=path)
        self.assertEqual(recorded, plain)
        self.assertEqual((recorded.status, recorded.errors), (0, ""), recorded)
        return Profile(path)

    def test_a_cancelled_thread_is_unwound_through_the_wrappers(self):
        self.assertEqual(self.check("cancelled", ranks=1).boundaries, BARRIERS)

    def test_callbacks_on_the_world_are_not_called(self):
        self.assertEqual(self.check("attribute").boundaries, BARRIERS)

    def test_closed_standard_files_cost_nothing(self):
        self.assertEqual(self.check("closed").boundaries, BARRIERS)

    def test_threads_that_share_mpi_lose_no_boundary_and_no_byte(self):
        profile = self.check("threads")
        boundaries = messages = THREADS // 2 * ROUNDS  # half of the threads has boundaries, and half has messages
        self.assertEqual(profile.boundaries, BARRIERS + boundaries)
        for rank in range(2):
            totals = profile.totals(rank)
            self.assertEqual(totals["bytes_received"], messages * BYTES_OF_AN_ISEND)
            self.assertEqual(totals["sends_nonblocking"], messages)

    def test_a_thread_that_was_there_before_mpi_init_counts_from_then_on(self):
        profile = self.check("early", ranks=1)
        self.assertEqual(profile.boundaries, BARRIERS)
        self.assertGreaterEqual(profile.totals(0)["writes"], EARLY_WRITES)

    def test_an_abort_amid_the_boundaries_of_other_threads_loses_nothing(self):
        path = self.directory / "run.h5"
        finished = self.mpirun(1, [PROGRAM, "aborts"], HALCYON_OUTPUT=path)
        self.assertIn(finished.status, MPI.statuses_of_abort(ABORT_STATUS), finished)
        recovered = self.halcyon("recover", f"{path}.parts")
        self.assertEqual(recovered.status, 0, recovered)
        self.assertGreaterEqual(Profile(path).segments, BARRIERS + ROUNDS)

    def test_collectives_of_eight_threads_at_a_time_are_counted_exactly(self):
        profile = self.check("collectives")
        calls = THREADS * ROUNDS
        self.assertEqual(profile.boundaries, BARRIERS + calls)
        bytes_of_messages = (BYTES_OF_A_PERSISTENT_SEND + BYTES_OF_A_SENDRECV) * calls
        for rank, numbers_given in ((0, 2), (1, 1)):  # both ranks give to the allreduce, and rank 0 to the bcast
            self.assertEqual(profile.nonzero_totals(rank),
                             {"collectives_all_to_all": BARRIERS + calls, "collectives_one_to_all": calls,
                              "bytes_collective": numbers_given * BYTES_OF_A_NUMBER * calls,
                              "sends_nonblocking": calls, "receives_nonblocking": calls,
                              "sends_blocking": calls, "receives_blocking": calls,
                              "bytes_sent": bytes_of_messages, "bytes_received": bytes_of_messages})

    def test_boundaries_of_several_threads_in_no_common_order_are_counted_and_not_guessed_over(self):
        path = self.directory / "run.h5"
        finished = self.mpirun(2, [PROGRAM, "kinds"], HALCYON_OUTPUT=path)
        self.assertEqual(finished.status, 0, finished)
        profile = Profile(path)
        for rank in range(2):
            self.assertEqual(profile.totals(rank)["collectives_all_to_all"], BARRIERS + THREADS * ROUNDS)
        if finished.errors:  # the threads' order differed
            self.assertIn("the ranks' boundaries differ", finished.errors)
            self.assertEqual((len(finished.errors.splitlines()), profile.segments), (1, 0))

    def test_threads_that_have_ended_are_remembered(self):
        self.assertEqual(self.check("shortlived", ranks=1).totals(0)["sends_blocking"], SHORT_LIVED_THREADS)

    @needs_errors
    def test_failed_calls_fail_the_same_way_and_count_for_nothing(self):
        self.assertEqual(self.check("failing").nonzero_totals(0), {"collectives_all_to_all": BARRIERS})

    @needs_errors
    def test_requests_flags_and_counts_that_are_not_there_are_mpis_to_refuse(self):
        self.assertEqual(self.check("null", ranks=1).nonzero_totals(0), {"collectives_all_to_all": BARRIERS})

    @unittest.skipUnless(MPI.returns_errors, "the library ends the program at an error")
    def test_a_receive_that_fails_leaves_nothing_to_what_has_its_handle_next(self):
        totals = self.check("truncated", ranks=1).nonzero_totals(0)
        # Open MPI 4.1 calls a receive a success though the message is too long; then the beginning has arrived.
        failed = int(self.mpirun(1, [PROGRAM, "truncated"], preload=()).output.split()[0])
        rounds = TRUNCATED_ROUNDS
        self.assertEqual(totals, {
            "collectives_all_to_all": BARRIERS,
            "sends_blocking": rounds, "receives_blocking": rounds,
            "sends_nonblocking": 2 * rounds, "receives_nonblocking": 2 * rounds,
            "bytes_sent": rounds * (BYTES_TOO_LONG + sum(BYTES_THAT_FIT)),
            "bytes_received": rounds * sum(BYTES_THAT_FIT) + (rounds - failed) * BYTES_OF_ROOM})

    @needs_errors
    def test_calls_that_fail_reach_the_error_handler_of_the_program_and_count_for_nothing(self):
        profile = self.check("handler")
        self.assertEqual(profile.boundaries, BARRIERS + FAILED_SENDS)
        self.assertEqual(profile.nonzero_totals(0), {"collectives_all_to_all": BARRIERS + FAILED_SENDS})

    @only_open_mpi("under MPI_THREAD_MULTIPLE, MPICH keeps its lock in a call that is left by a jump")
    def test_a_call_that_is_left_by_a_jump_is_over(self):
        profile = self.check("jumps")
        self.assertEqual(profile.boundaries, BARRIERS + JUMPS)
        self.assertEqual(profile.nonzero_totals(0),
                         {"collectives_all_to_all": BARRIERS + JUMPS,
                          **dict.fromkeys(("sends_blocking", "receives_blocking", "bytes_sent", "bytes_received"),
                                          EXCHANGES_AFTER_JUMPS)})

    @only_open_mpi("under MPI_THREAD_MULTIPLE, MPICH keeps its lock in a call that is left by a jump")
    def test_what_an_error_handler_calls_before_it_jumps_counts_from_then_on(self):
        totals = self.check("logs", ranks=1).nonzero_totals(0)
        self.assertEqual((totals["writes"], totals["bytes_written"]), (LINES, LINES * BYTES_OF_A_LINE))

    @only_open_mpi("under MPI_THREAD_MULTIPLE, MPICH keeps its lock in a call that is left by a jump")
    def test_a_call_that_is_left_for_another_fiber_is_over(self):
        profile = self.check("fibers")
        self.assertEqual(profile.boundaries, BARRIERS + FIBER_ROUNDS)
        self.assertEqual(profile.nonzero_totals(0),
                         {"collectives_all_to_all": BARRIERS + FIBER_ROUNDS,
                          **dict.fromkeys(("sends_blocking", "receives_blocking", "bytes_sent", "bytes_received"),
                                          FIBER_ROUNDS)})

    def test_mpi_begins_in_a_fiber(self):
        self.assertEqual(self.check("begun").boundaries, BARRIERS)

    @only_open_mpi("under MPI_THREAD_MULTIPLE, MPICH keeps its lock in a call that is left by a jump")
    def test_a_call_that_is_left_for_another_context_is_over(self):
        self.assertEqual(self.check("contexts").boundaries, BARRIERS + FIBER_ROUNDS)

    @only_open_mpi("under MPI_THREAD_MULTIPLE, MPICH keeps its lock in a call that is left by a jump")
    def test_the_stack_of_a_call_that_is_left_may_be_gone(self):
        self.assertEqual(self.check("unmapped").boundaries, BARRIERS + FIBER_ROUNDS)

    @only_open_mpi("under MPI_THREAD_MULTIPLE, MPICH keeps its lock in a call that is left by a jump")
    def test_a_call_that_is_left_unseen_costs_few_calls_and_is_said(self):
        output = self.directory / "run.h5"
        finished = self.mpirun(1, [PROGRAM, "unseen"], HALCYON_OUTPUT=output)
        self.assertEqual(finished.status, 0, finished)
        profile = Profile(output)
        self.assertGreater(profile.boundaries, BARRIERS + UNSEEN_ROUNDS - CALLS_LOST_UNSEEN)
        self.assertIn("some calls are missing", profile.attributes["incomplete"])
        self.assertIn("some calls are missing", finished.errors)

    def late_receives(self, bytes_received):
        return {"collectives_all_to_all": BARRIERS, "sends_blocking": LATE_RECEIVES,
                "receives_nonblocking": LATE_RECEIVES, "bytes_sent": LATE_RECEIVES * BYTES_OF_A_LATE_RECEIVE,
                **bytes_received}

    def test_a_receive_that_is_freed_once_it_is_seen_to_be_complete_has_its_bytes(self):
        self.assertEqual(self.check("seen", ranks=1).nonzero_totals(0),
                         self.late_receives({"bytes_received": LATE_RECEIVES * BYTES_OF_A_LATE_RECEIVE}))

    def test_a_receive_that_a_callback_completes_leaves_nothing_to_what_has_its_handle_next(self):
        self.assertEqual(self.check("within", ranks=1).nonzero_totals(0), self.late_receives({}))

    def test_a_call_that_is_left_by_an_exception_is_over(self):
        profile = self.record(2, [PROGRAMS / "throws"])
        self.assertEqual(profile.boundaries, EXCEPTIONS)
        self.assertEqual(profile.nonzero_totals(0),
                         {"collectives_all_to_all": EXCEPTIONS, "sends_blocking": EXCEPTIONS})

    @needs_errors
    def test_messages_that_a_failed_collective_left_on_the_world_do_not_meet_the_merge(self):
        self.assertEqual(self.record(2, [PROGRAM, "leftover"]).boundaries, BARRIERS)  # UCX may tell of the messages

    def test_pcontrol_halts_nothing_whatever_its_level(self):
        self.assertEqual(self.check("pcontrol", ranks=1).boundaries, BARRIERS + LEVELS_OF_PCONTROL)

    def test_a_c_plugin_in_a_scope_of_its_own_is_recorded(self):
        for barriers, mebibytes in ((BARRIERS, 512), (MANY, 1)):  # the second does not fit and is spilled
            with self.subTest(barriers=barriers):
                profile = self.record(2, [HOST, DIES, barriers, "finalize"], HALCYON_MEMORY=mebibytes)
                self.assertEqual(profile.boundaries, barriers)
                self.assertEqual(profile.values("sends_blocking")[:3], [0.0, 2.0, 4.0])
                self.assertEqual({module for _, module, _ in profile.sites()[:BARRIERS]}, {DIES.name})

    def test_a_c_plugin_in_a_scope_of_its_own_that_aborts_leaves_its_parts(self):
        finished = self.mpirun(1, [HOST, DIES, MANY, "abort"], HALCYON_MEMORY=1,
                               HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertIn(finished.status, MPI.statuses_of_abort(ABORT_STATUS), finished)
        self.assertIn(f"halcyon recover {self.directory}/run.h5.parts", finished.errors)
        recovered = self.halcyon("recover", self.directory / "run.h5.parts")
        self.assertIn(f"{MANY} segments of 1 of 1 rank,", recovered.output)

    def deep(self, who):
        """Runs deep.c under `halcyon run`."""
        finished = self.halcyon("run", "--no-probes", "--no-baseline", "-o", "run.h5", "--", *MPI.launch(2),
                                PROGRAMS / "deep", PROGRAMS / "libdeep_plugin.so", who)
        self.assertNotIn("std::", finished.errors)
        return finished

    def warnings(self):
        return {warning["code"]: warning["message"] for warning in self.report("run.h5")["warnings"]}

    def test_calls_of_a_plugin_that_is_bound_to_mpi_itself_are_called_missing(self):
        missing = "calls of MPI by libdeep_plugin.so are missing: they bypassed the recorder"
        for who, barriers in (("exchanges", 0), ("partly", 1)):
            with self.subTest(who):
                finished = self.deep(who)
                self.assertEqual(finished.status, 0, finished)
                self.assertEqual(finished.errors.count(f"halcyon: {missing}\n"), 1, finished)
                self.assertEqual(self.warnings()["bypassed-calls"], missing)
                profile = Profile(self.directory / "run.h5")
                self.assertEqual((profile.boundaries, profile.attributes["exit_state"]), (barriers, "finalized"))
                (self.directory / "run.h5").unlink()

    def test_a_plugin_that_is_closed_leaves_a_profile_that_says_that_it_has_nothing(self):
        finished = self.deep("closed")
        self.assertEqual(finished.status, 0, finished)
        self.assertIn("no communication was recorded", self.warnings()["bypassed-calls"])

    def test_a_plugin_that_calls_mpi_finalize_past_the_recorder(self):
        finished = self.deep("finalizes")
        self.assertIn("halcyon: MPI_Finalize did not come through the recorder: calls of libdeep_plugin.so bypass it\n",
                      finished.errors)

    def test_a_program_whose_mpi_init_bypasses_the_recorder_is_told_so(self):
        finished = self.deep("all")
        self.assertIn("halcyon: nothing is recorded: MPI was used, and MPI_Init did not come through the recorder: calls "
                      "of libdeep_plugin.so bypass it\n", finished.errors)
        self.assertIn("halcyon: no profile was written", finished.errors)

    def test_a_program_at_a_fixed_address_bypasses_nothing(self):
        profile = self.record(2, [PROGRAMS / "borrows"])
        self.assertEqual((profile.boundaries, profile.attributes.get("incomplete", "")), (BARRIERS, ""))

    def test_memory_that_cannot_be_read_is_the_kernels_to_refuse(self):
        self.assertEqual(self.check("unreadable", ranks=1).boundaries, BARRIERS)

    @only_open_mpi("libraries below MPICH call signal(), and crash in the program's own, with or without the recorder")
    def test_a_library_with_functions_of_its_own_by_names_of_libc_keeps_them(self):
        words = [PROGRAMS / "dies", BARRIERS, "finalize"]
        plain = self.mpirun(1, words, preload=[OWN_NAMES])
        self.assertIn("kill 18 1.5, raise 1024, signal 42, execl 36\n", plain.output)
        recorded = self.mpirun(1, words, preload=[LIBRARY, OWN_NAMES], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual(recorded, plain)
        self.assertEqual(Profile(self.directory / "run.h5").boundaries, BARRIERS)

    def test_a_program_that_forgets_its_environment_is_recorded_as_it_was_asked_for(self):
        finished = self.halcyon("run", "--no-probes", "--no-baseline", "-o", "run.h5", "--inject",
                                "class=collective,prob=1,mean=1ms", "--", *MPI.launch(2), PROGRAM, "forgets")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(Profile(self.directory / "run.h5").boundaries, BARRIERS)
        self.assertGreater(self.report("run.h5")["injected_percent"], 0)

    def test_libraries_of_libc_that_are_preloaded_themselves(self):
        libraries = [word for word in halcyon_test.output_of(["ldd", LIBRARY]).split() if word.startswith("/lib")]
        self.assertTrue(any("libc.so" in library for library in libraries), libraries)
        for preload in ((*libraries, LIBRARY), (LIBRARY, *libraries)):
            with self.subTest(preload=preload):
                path = self.directory / "run.h5"
                path.unlink(missing_ok=True)
                finished = self.mpirun(2, [PROGRAMS / "dies", BARRIERS, "finalize"], preload=preload,
                                       HALCYON_OUTPUT=path)
                self.assertEqual((finished.status, finished.errors), (0, ""), finished)
                self.assertEqual(Profile(path).boundaries, BARRIERS)

    def test_programs_without_any_call(self):
        profile = self.record(2, [PROGRAMS / "dies", 0, "finalize"])
        self.assertEqual((profile.boundaries, profile.operations()), (0, ["finalize"]))
        self.assertEqual({value for rank in range(2) for value in profile.totals(rank).values()}, {0})
        report = self.report("run.h5")
        self.assertEqual(report["verdict"], "unknown")

    def test_millions_of_tiny_segments_in_a_mebibyte(self):
        profile = self.record(1, [PROGRAMS / "dies", MILLIONS, "finalize"], HALCYON_MEMORY=1)
        self.assertEqual((profile.boundaries, profile.attributes["dropped_segments"]), (MILLIONS, 0))
        self.assertEqual(profile.values("sends_blocking")[:-1], [float(i % 3) for i in range(MILLIONS)])
        self.assertFalse((self.directory / "run.h5.parts").exists())

    def test_no_stranger_is_among_the_programs_children(self):
        self.check("children")

    @unittest.skipUnless(MPI.is_debians, "the plugin is linked with the Fortran interface of Debian's library")
    def test_a_fortran_plugin_in_a_scope_of_its_own_still_reaches_mpi(self):
        finished = self.mpirun(2, [PYTHON, "-c", CALLS_PLUGIN], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output, finished.errors), (0, "", ""), finished)
        self.assertEqual(Profile(self.directory / "run.h5").boundaries, 1)


if __name__ == "__main__":
    halcyon_test.main()
