"""Sessions of MPI 4: beside MPI_Init they are recorded; alone they are not, and one line says so."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import INJECTOR, LAUNCH, LIBRARY, PROGRAMS

PROGRAM = PROGRAMS / "sessions"


class MpiSessions(halcyon_test.Behaviour):

    def test_a_session_beside_mpi_init_is_recorded_from_init_to_finalize(self):
        plain = self.mpirun(2, [PROGRAM, "init"], preload=False)
        profile = self.record(2, [PROGRAM, "init"])
        self.assertEqual([operation for operation, _, _ in profile.sites()],
                         5 * ["barrier"] + 10 * ["allreduce"] + ["finalize"])
        self.assertEqual(profile.totals(1)["bytes_collective"], 40)
        again = self.mpirun(2, [PROGRAM, "init"], HALCYON_OUTPUT=self.directory / "again.h5")
        self.assertEqual(again, plain)

    def test_a_program_of_sessions_alone_runs_as_ever_and_one_line_says_why_there_is_no_profile(self):
        plain = self.mpirun(2, [PROGRAM], preload=False)
        finished = self.mpirun(2, [PROGRAM], LD_PRELOAD=f"{INJECTOR}:{LIBRARY}", preload=False,
                               HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual((finished.status, finished.output), (0, plain.output), finished)
        why = "a program of MPI sessions alone, without MPI_Init, is not recorded: no profile is written"
        self.assertEqual(finished.errors, f"halcyon: {why}\n")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_halcyon_run_says_so_too(self):
        finished = self.halcyon("run", "-o", "run.h5", "--", *LAUNCH, "-np", "2", PROGRAM)
        self.assertEqual(finished.status, 2, finished)
        self.assertIn("sessions alone", finished.errors)


if __name__ == "__main__":
    if not PROGRAM.exists():
        halcyon_test.skip("this MPI has no sessions")
    halcyon_test.main()
