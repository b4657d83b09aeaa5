"""A program of MPI sessions is recorded from its first communicator of all processes to its last session's end, or to
MPI_Finalize."""
import unittest

import halcyon_test
from halcyon_test import INJECTOR, LIBRARY, MPI, PROGRAMS

PROGRAM = PROGRAMS / "sessions"
# sessions.c: allreduces in the session, barriers and allreduces between MPI_Init and MPI_Finalize, and one at the end
ALLREDUCES, BARRIERS, LAST = 10, 5, 1
BYTES_OF_AN_ALLREDUCE = 4


class MpiSessions(halcyon_test.Behaviour):

    def test_a_program_of_sessions_alone_is_recorded_to_the_end_of_its_last_session(self):
        plain = self.mpirun(2, [PROGRAM], preload=())
        profile = self.record(2, [PROGRAM])
        self.assertEqual(profile.operations(), (ALLREDUCES + LAST) * ["allreduce"] + ["finalize"])
        self.assertEqual(profile.totals(1)["bytes_collective"], (ALLREDUCES + LAST) * BYTES_OF_AN_ALLREDUCE)
        again = self.mpirun(2, [PROGRAM], HALCYON_OUTPUT=self.directory / "again.h5")
        self.assertEqual(again, plain)

    @unittest.skipUnless(MPI.has_init_beside_sessions, "this MPI refuses MPI_Init beside a session")
    def test_mpi_finalize_ends_the_record_of_a_session_beside_it(self):
        plain = self.mpirun(2, [PROGRAM, "init"], preload=())
        profile = self.record(2, [PROGRAM, "init"])
        self.assertEqual(profile.operations(), ALLREDUCES * ["allreduce"] + BARRIERS * ["barrier"]
                         + ALLREDUCES * ["allreduce"] + ["finalize"])
        again = self.mpirun(2, [PROGRAM, "init"], HALCYON_OUTPUT=self.directory / "again.h5")
        self.assertEqual(again, plain)

    def test_without_a_communicator_of_all_processes_one_line_says_why_there_is_no_profile(self):
        finished = self.mpirun(2, [PROGRAM, "apart"], preload=[INJECTOR, LIBRARY],
                               HALCYON_OUTPUT=self.directory / "run.h5")
        why = "the program uses MPI sessions, and no communicator of all processes: no profile is written"
        self.assertEqual((finished.status, finished.errors), (0, f"halcyon: {why}\n"), finished)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_one_line_says_that_sessions_after_the_last_one_are_not_recorded(self):
        plain = self.mpirun(2, [PROGRAM, "again"], preload=())
        if plain.status != 0:
            self.skipTest("this MPI ends a program that opens a session after its last one")
        finished = self.mpirun(2, [PROGRAM, "again"], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output), (0, plain.output), finished)
        why = "the record ended with the last MPI session, and the profile is written: what follows is not recorded"
        self.assertEqual(finished.errors, f"halcyon: {why}\n", finished)
        self.assertTrue((self.directory / "run.h5").exists())

    def test_halcyon_run_gives_the_verdict_of_sessions(self):
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(2), PROGRAM)
        self.assertEqual(finished.status, 0, finished)
        self.assertRegex(finished.errors, r"halcyon: (UNKNOWN|GREEN|YELLOW|RED) ")  # as a rule, it is too short to judge


if __name__ == "__main__":
    if not MPI.has_sessions:
        halcyon_test.skip("this MPI has no sessions")
    halcyon_test.main()
