"""Signals that meet a program anywhere: their handlers may be the first of a thread to write to a file, and whatever the
program was doing when they came, none of them waits for ever, and no write is missed."""
import halcyon_test
from halcyon_test import PROGRAMS, WITHOUT_OPENCL

PROGRAM = PROGRAMS / "storm"
ANSWERS = PROGRAMS / "answers"
SIGNALS = 2000


class SignalsAnywhere(halcyon_test.Behaviour):

    def check_that_each_handler_is_counted(self, allocator):
        plain = self.mpirun(1, [PROGRAM, allocator, SIGNALS], preload=())
        self.assertEqual((plain.status, plain.output), (0, f"{SIGNALS}\n"), plain)
        profile = self.record(1, [PROGRAM, allocator, SIGNALS])
        self.assertEqual(profile.totals(0)["writes"], SIGNALS)
        self.assertEqual(profile.totals(0)["bytes_written"], SIGNALS)

    def test_handlers_that_interrupt_the_allocator_are_counted(self):
        self.check_that_each_handler_is_counted("lock")

    def test_handlers_allocate_nothing(self):
        self.check_that_each_handler_is_counted("abort")

    def test_an_allocator_that_often_fails_loses_nothing(self):
        self.check_that_each_handler_is_counted("random")

    def test_a_handler_may_end_the_process(self):
        plain = self.mpirun(1, [PROGRAM, "exit", SIGNALS], preload=())
        recorded = self.mpirun(1, [PROGRAM, "exit", SIGNALS], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((recorded.status, recorded.output), (plain.status, plain.output), recorded)

    def check_answers(self, what):
        """Returns what the program does without the recorder, with which it must do the same."""
        plain = self.mpirun(1, [ANSWERS, what], preload=(), **WITHOUT_OPENCL)
        self.assertEqual(plain.status, 0, plain)
        profile = self.directory / f"{what}.h5"
        self.assertEqual(self.mpirun(1, [ANSWERS, what], HALCYON_OUTPUT=profile, **WITHOUT_OPENCL), plain)
        self.assertTrue(profile.exists())
        return plain

    def test_handlers_that_are_there_before_mpi_init_go_on_as_ever(self):
        for what in ("deep", "tracks", "told"):
            with self.subTest(what):
                self.assertRegex(self.check_answers(what).output, "^[1-9][0-9]* answered, 0 ")

    def test_handlers_that_call_the_one_before_them_and_traps_of_arithmetic_end_nothing(self):
        for what in ("chains", "traps"):
            with self.subTest(what):
                self.check_answers(what)

    def test_a_program_sees_the_handlers_that_it_has_set(self):
        plain = self.check_answers("sees")
        self.assertEqual((plain.output.count("default"), plain.output.count("gives back held")), (5, 1), plain)


if __name__ == "__main__":
    halcyon_test.main()
