"""The phases of programs that say themselves when they were: their start-up, and steps in which one rank was slower."""
import re
import shutil
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import MPI, PROGRAMS

PROGRAM = PROGRAMS / "phases"
RANKS = 2
STARTUP = 0.5  # s, about
STEPS = 400
STEP = 4e-3  # s
FACTOR = 1.6  # of slow steps
MOST_ERROR = 0.05  # of the length of a phase
# s; the first segment of the loop of LAMMPS holds several steps. None is like it, so it is not known as repeated work.
FIRST_STEPS = 5e-3
CRACK = Path("/usr/share/lammps/examples/crack/in.crack")


class FindsPhases(halcyon_test.Behaviour):

    def run_of(self, *words):
        """The report of a run, and the times that the program printed."""
        (self.directory / "run.h5").unlink(missing_ok=True)  # of a try before
        finished = self.halcyon("run", "-o", "run.h5", "--no-baseline", "--", *MPI.launch(RANKS), PROGRAM, *words)
        self.assertEqual(finished.status, 0, finished)
        times = dict(line.split() for line in finished.output.splitlines() if not line.startswith("halcyon"))
        times = {name: float(seconds) for name, seconds in times.items()}
        return self.report("run.h5"), times

    def check_startup(self, phases, times):
        startup = phases["startup"]
        self.assertAlmostEqual(startup["until_seconds"], times["startup"], delta=MOST_ERROR * times["startup"])
        self.assertFalse(startup["judged"], startup)
        self.assertEqual(phases["stable"]["from_seconds"], startup["until_seconds"])

    def check_slow_steps(self, first, last):
        def check(_):
            report, times = self.run_of(STARTUP, STEPS, first, last)
            phases = report["phases"]
            self.check_startup(phases, times)
            self.assertEqual(len(phases["changes"]), 1, (phases, times))
            change = phases["changes"][0]
            error = MOST_ERROR * (times["to"] - times["from"])
            self.assertAlmostEqual(change["from_seconds"], times["from"], delta=error)
            self.assertAlmostEqual(change["to_seconds"], times["to"], delta=error)
            self.assertAlmostEqual(change["factor"], FACTOR, delta=0.1)
            self.assertEqual((change["ranks"], change["hosts"]), ([1], report["hosts"]), phases)
            return phases
        return self.check_left_alone(check)

    def test_the_start_up_ends_where_the_program_says_it_does_and_nothing_else_changes(self):
        def check(_):
            report, times = self.run_of(STARTUP, STEPS)
            phases = report["phases"]
            self.check_startup(phases, times)
            self.assertEqual((phases["dominant"], phases["changes"]), (True, []), phases)
        self.check_left_alone(check)

    def test_a_slow_stretch_is_told_with_its_time_and_its_rank(self):
        phases = self.check_slow_steps(150, 250)
        self.assertTrue(phases["dominant"], phases)

    def test_a_slow_stretch_that_takes_more_than_half_of_the_time_in_fewer_steps_is_told_as_slow(self):
        phases = self.check_slow_steps(200, 380)
        self.assertTrue(phases["dominant"], phases)

    @unittest.skipUnless(shutil.which("lmp") and CRACK.is_file(), "no LAMMPS with its examples")
    def test_start_up_and_end_of_lammps_are_what_its_loop_leaves_of_the_run(self):
        def check(_):
            (self.directory / "run.h5").unlink(missing_ok=True)
            finished = self.halcyon("run", "-o", "run.h5", "--no-baseline", "--", *MPI.launch(RANKS),
                                    "lmp", "-in", CRACK, "-log", "log.lammps", "-screen", "none")
            self.assertEqual(finished.status, 0, finished)
            report = self.report("run.h5")
            log = (self.directory / "log.lammps").read_text()
            outside = report["run_time_seconds"] - float(re.search(r"^Loop time of (\S+)", log, re.M)[1])
            phases = report["phases"]
            self.assertAlmostEqual(phases["startup"]["seconds"] + phases["end"]["seconds"], outside,
                                   delta=MOST_ERROR * outside + FIRST_STEPS, msg=phases)
        self.check_left_alone(check)


if __name__ == "__main__":
    halcyon_test.main()
