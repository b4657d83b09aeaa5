"""intM delays the named calls by what was asked for, and the profile says by how much."""
import halcyon_test
from halcyon_test import EXAMPLES, INJECTOR, MPI, PYTHON, Profile

STEPS = 20
COLLECTIVES = ("collectives_one_to_all", "collectives_all_to_one", "collectives_all_to_all")
FILE_OPERATIONS = ("file_opens", "file_closes", "reads", "writes")
EVERY_COLLECTIVE = "class=collective,prob=1,mean=1ms,sd=0ms"
FOUR_FILE_CALLS = """
from mpi4py import MPI
import os
MPI.COMM_WORLD.Barrier()
file = os.open('data', os.O_CREAT | os.O_RDWR)
os.write(file, b'x' * 100)
os.pread(file, 10, 0)
os.close(file)
source, sink = os.pipe()  # is no file
os.write(sink, b'y')
os.read(source, 1)
MPI.COMM_WORLD.Barrier()
"""
SINGLE_PRECISION = 1e-6  # relative


def total_over_ranks(profile, names):
    return sum(int(profile.columns["total_" + name].sum()) for name in names)


class InjectedTruth(halcyon_test.Behaviour):

    def halo(self, *specs, seed="1"):
        (self.directory / "run.h5").unlink(missing_ok=True)
        options = [word for spec in specs for word in ("--inject", spec)]
        finished = self.halcyon("run", "-o", "run.h5", *options, "--", *MPI.launch(2),
                                EXAMPLES / "halo_c", STEPS, INTM_SEED=seed)
        self.assertEqual(finished.status, 0, finished)
        return Profile(self.directory / "run.h5")

    def requested(self, profile):
        return [float(seconds) for seconds in profile.columns["injected_requested"]]

    def test_every_collective_is_delayed_by_what_was_asked_for(self):
        profile = self.halo(EVERY_COLLECTIVE)
        self.assertAlmostEqual(sum(self.requested(profile)), total_over_ranks(profile, COLLECTIVES) * 1e-3, places=6)

    def test_the_actual_delay_is_never_shorter_than_the_requested_one(self):
        profile = self.halo("class=all,prob=0.5,mean=1ms,sd=0.5ms")
        for requested, actual in zip(self.requested(profile), profile.columns["injected_actual"]):
            self.assertGreaterEqual(actual, requested * (1 - SINGLE_PRECISION))

    def test_the_delay_lies_inside_the_segment_it_is_recorded_with(self):
        profile = self.halo("class=p2p,prob=0.2,mean=2ms,sd=0ms")
        self.assertGreater(sum(self.requested(profile)), 0.0)
        for duration, critical in zip(profile.columns["duration"], profile.columns["injected_critical"]):
            # The delay of the slowest rank delays all ranks. The duration is the mean over ranks that leave together.
            self.assertGreaterEqual(duration, 0.5 * critical)

    def test_the_critical_path_is_the_largest_delay_of_a_rank(self):
        both = self.halo(EVERY_COLLECTIVE)
        for actual, critical in zip(both.columns["injected_actual"], both.columns["injected_critical"]):
            self.assertLessEqual(critical, actual * (1 + SINGLE_PRECISION))
            self.assertGreaterEqual(critical, 0.5 * actual * (1 - SINGLE_PRECISION))
        one = self.halo(EVERY_COLLECTIVE + ",ranks=1")
        for actual, critical in zip(one.columns["injected_actual"], one.columns["injected_critical"]):
            self.assertAlmostEqual(actual, critical, places=6)

    def test_only_the_named_ranks_are_delayed(self):
        both = sum(self.requested(self.halo(EVERY_COLLECTIVE)))
        one = sum(self.requested(self.halo(EVERY_COLLECTIVE + ",ranks=1")))
        none = sum(self.requested(self.halo(EVERY_COLLECTIVE + ",ranks=2-9")))
        self.assertAlmostEqual(one, both / 2, places=6)
        self.assertEqual(none, 0.0)

    def test_a_run_is_repeatable_by_its_seed(self):
        spec = "class=all,prob=0.2,mean=1ms,sd=0.3ms"
        first, again, other = (self.requested(self.halo(spec, seed=seed)) for seed in ("7", "7", "8"))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_several_specs_add_up(self):
        one = sum(self.requested(self.halo(EVERY_COLLECTIVE)))
        two = sum(self.requested(self.halo(EVERY_COLLECTIVE, "class=collective,prob=1,mean=2ms,sd=0ms")))
        self.assertAlmostEqual(two, 3 * one, places=5)

    def test_mpi_io_calls_are_delayed_once_though_they_make_posix_calls(self):
        mpiio = self.halo("class=mpiio,prob=1,mean=1ms,sd=0ms")
        posixio = self.halo("class=posixio,prob=1,mean=1ms,sd=0ms")
        self.assertGreaterEqual(round(1e3 * sum(self.requested(mpiio))), total_over_ranks(mpiio, FILE_OPERATIONS))
        self.assertEqual(sum(self.requested(posixio)), 0.0)

    def test_posix_calls_are_delayed_where_they_meet_a_file(self):
        finished = self.halcyon("run", "-o", "posix.h5", "--inject", "class=posixio,prob=1,mean=1ms,sd=0ms", "--",
                                *MPI.launch(1), PYTHON, "-c", FOUR_FILE_CALLS)
        self.assertEqual(finished.status, 0, finished)
        _, between_the_barriers, _ = self.requested(Profile(self.directory / "posix.h5"))
        self.assertAlmostEqual(between_the_barriers, 4 * 1e-3, places=6)

    def test_a_window_that_never_opens_delays_nothing(self):
        self.assertEqual(sum(self.requested(self.halo("class=all,prob=1,mean=1ms,after=9000s"))), 0.0)

    def test_the_spec_is_kept_in_the_profile(self):
        profile = self.halo(EVERY_COLLECTIVE, seed="5")
        self.assertEqual(profile.attributes["inject"], f"{EVERY_COLLECTIVE} seed=5")

    def injector_alone(self, **environment):
        return self.mpirun(2, [EXAMPLES / "halo_c", STEPS], preload=[INJECTOR], **environment)

    def test_the_injector_works_without_the_recorder(self):
        finished = self.injector_alone(INTM_SPEC="class=collective,prob=1,mean=1ms")
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)

    def test_a_bad_seed_is_said_in_one_line_and_nothing_is_injected(self):
        finished = self.injector_alone(INTM_SEED="abc", INTM_SPEC="class=all,prob=1,mean=1ms")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("INTM_SEED=abc", finished.errors)

    def test_a_bad_spec_is_said_in_one_line_and_nothing_is_injected(self):
        finished = self.injector_alone(INTM_SPEC="class=nothing")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("class=nothing", finished.errors)


if __name__ == "__main__":
    halcyon_test.main()
