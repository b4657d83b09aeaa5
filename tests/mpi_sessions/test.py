"""Sessions of MPI 4 are recorded in a program that calls MPI_Init. Without it they are not, and one line says so."""
import halcyon_test
from halcyon_test import INJECTOR, LIBRARY, MPI, PROGRAMS

PROGRAM = PROGRAMS / "sessions"
BARRIERS, ALLREDUCES = 5, 10  # between MPI_Init and MPI_Finalize
BYTES_OF_AN_ALLREDUCE = 4


class MpiSessions(halcyon_test.Behaviour):

    def test_a_session_beside_mpi_init_is_recorded_from_init_to_finalize(self):
        plain = self.mpirun(2, [PROGRAM, "init"], preload=())
        profile = self.record(2, [PROGRAM, "init"])
        self.assertEqual(profile.operations(), BARRIERS * ["barrier"] + ALLREDUCES * ["allreduce"] + ["finalize"])
        self.assertEqual(profile.totals(1)["bytes_collective"], ALLREDUCES * BYTES_OF_AN_ALLREDUCE)
        again = self.mpirun(2, [PROGRAM, "init"], HALCYON_OUTPUT=self.directory / "again.h5")
        self.assertEqual(again, plain)

    def test_a_program_of_sessions_alone_runs_as_ever_and_one_line_says_why_there_is_no_profile(self):
        plain = self.mpirun(2, [PROGRAM], preload=())
        finished = self.mpirun(2, [PROGRAM], preload=[INJECTOR, LIBRARY], HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output), (0, plain.output), finished)
        why = "the program uses MPI sessions without MPI_Init, which Halcyon cannot record: no profile is written"
        self.assertEqual(finished.errors, f"halcyon: {why}\n")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_halcyon_run_says_so_too(self):
        finished = self.halcyon("run", "-o", "run.h5", "--", *MPI.launch(2), PROGRAM)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("sessions without MPI_Init", finished.errors)


if __name__ == "__main__":
    if not MPI.has_sessions:
        halcyon_test.skip("this MPI has no sessions")
    halcyon_test.main()
