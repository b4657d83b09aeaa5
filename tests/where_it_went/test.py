"""After delays of one class on one rank, the report says that the excess is there, and its breakdowns add up."""
import halcyon_test
from halcyon_test import EXAMPLES, MOST_FOREIGN_CPU, MPI, Profile, foreign_cpu_seconds

STEPS = 2000  # each takes some 0.4 ms
LEAST_SHARE = 0.9  # of what was injected, or of all excess if that is less, must be found on the rank
SINGLE_PRECISION = 6e-8  # relative error of a segment's excess; the error of a sum is less
TRIES = 4  # as other processes cause excess, too, which the report rightly finds elsewhere


class WhereItWent(halcyon_test.Behaviour):

    def plate(self, spec, seed):
        file = f"{seed}.h5"
        finished = self.halcyon("run", "-o", file, "--inject", spec, "--", *MPI.launch(2),
                                EXAMPLES / "plate", STEPS, INTM_SEED=str(seed))
        self.assertEqual(finished.status, 0, finished)
        return self.report(file)

    def check_that_it_adds_up(self, report):
        breakdown = report["breakdown"]
        excess = report["run_time_seconds"] - report["undisturbed_time_seconds"]
        parts = {name: sum(share["seconds"] for share in breakdown[name])
                 for name in ("ranks", "hosts", "windows", "groups")}
        parts["kinds"] = sum(breakdown["kinds"].values())
        parts["kinds of the ranks"] = sum(sum(share["kinds"].values()) for share in breakdown["ranks"])
        parts["all"] = breakdown["excess_seconds"]
        for name, seconds in parts.items():
            self.assertAlmostEqual(seconds, excess, delta=SINGLE_PRECISION * excess, msg=name)

    def check(self, injected, kind, rank, probability):
        """Checks that delays of the class `injected` on the rank are found in its calls of this kind."""
        tries_alone = 0
        for seed in range(1, TRIES + 1):
            before = foreign_cpu_seconds()
            report = self.plate(f"class={injected},prob={probability},mean=10ms,sd=2ms,ranks={rank}", seed)
            foreign = (foreign_cpu_seconds() - before) / report["run_time_seconds"]
            breakdown = report["breakdown"]
            if breakdown is None:  # there is no verdict, as other processes made it too uncertain
                continue
            self.check_that_it_adds_up(report)
            to_kind = breakdown["kinds"][kind]
            to_rank = sum(share["seconds"] for share in breakdown["ranks"] if share["rank"] == rank)
            injected_seconds = report["injected_percent"] / 100 * report["run_time_seconds"]
            if min(to_kind, to_rank) >= LEAST_SHARE * min(breakdown["excess_seconds"], injected_seconds):
                return
            tries_alone += foreign < MOST_FOREIGN_CPU
        if tries_alone == 0:
            self.skipTest(f"others used the processors during each of {TRIES} runs; that is excess, too")
        self.fail(f"{injected} on rank {rank} is not what is told: {breakdown}")

    def test_delays_in_point_to_point_calls_of_rank_0(self):
        self.check("p2p", "point_to_point", 0, 0.0014)

    def test_delays_in_point_to_point_calls_of_rank_1(self):
        self.check("p2p", "point_to_point", 1, 0.0014)

    def test_delays_in_collectives_of_rank_0(self):
        self.check("collective", "collective", 0, 0.02)

    def test_delays_in_collectives_of_rank_1(self):
        self.check("collective", "collective", 1, 0.02)

    def test_delays_in_mpi_io_of_rank_0(self):
        self.check("mpiio", "file_io", 0, 0.04)

    def test_delays_in_mpi_io_of_rank_1(self):
        self.check("mpiio", "file_io", 1, 0.04)

    def test_delays_in_posix_io_of_rank_0(self):
        self.check("posixio", "file_io", 0, 0.04)

    def test_delays_in_posix_io_of_rank_1(self):
        self.check("posixio", "file_io", 1, 0.04)

    def test_what_the_operating_system_saw_stands_beside_it(self):
        delay = 5e-3
        for _ in range(TRIES):
            report = self.plate(f"class=p2p,prob=0.0014,mean={delay}s,sd=0ms,ranks=1", 1)
            if report["breakdown"] is not None:
                break
        else:
            self.skipTest(f"no verdict on any of {TRIES} runs: others used the processors")
        evidence = report["breakdown"]["evidence"]
        self.assertEqual([entry["rank"] for entry in evidence["ranks"]], [0, 1])
        self.assertEqual([entry["host"] for entry in evidence["hosts"]], report["hosts"])
        injected = float(Profile(self.directory / "1.h5").columns["injected_requested"].sum())
        self.assertGreater(evidence["ranks"][1]["off_cpu_seconds"], 0.9 * injected)  # intM sleeps during delays
        self.assertGreaterEqual(evidence["ranks"][1]["voluntary_switches"], round(injected / delay))


if __name__ == "__main__":
    halcyon_test.main()
