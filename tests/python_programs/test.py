"""Programs of mpi4py: what its pickled collectives do ends segments, call sites are lines of the program, and files
have its name."""
import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import halcyon_test
from halcyon_test import LAUNCH, PYTHON, SOURCE

PROGRAMS = Path(__file__).parent
ROUNDS = 10
SYNCHRONISE = {
    "allreduce": "bcast", "allreduce-of-a-duplicate": "bcast", "reduce-bcast": "bcast", "reduce-message-bcast": "bcast",
    "reduce-elsewhere-bcast": "bcast", "gather-bcast": "bcast", "gather-scatter": "scatter", "barrier": "barrier"}
DO_NOT = ("bcast", "reduce", "reduce-bcast-from-another", "messages-and-bcast", "scan", "allreduce-of-half")


class PythonPrograms(halcyon_test.Behaviour):

    def operations(self, ranks, method, **environment):
        profile = self.record(ranks, [PYTHON, PROGRAMS / "pickled.py", method], **environment)
        return collections.Counter(operation for operation, _, _ in profile.sites()[:-1])

    def lines(self, *words, ranks=2):
        """Where segments end, as (operation, place) in order of time."""
        profile = self.record(ranks, [PYTHON, PROGRAMS / "lines.py", *words])
        sites = [text.decode() for text in profile.columns["sites"]]
        return [tuple(sites[index].split("@")) for index in profile.columns["site"]][:-1]

    def test_pickled_collectives_that_wait_for_all_end_a_segment_each(self):
        for method, operation in SYNCHRONISE.items():
            with self.subTest(method):
                self.assertEqual(self.operations(3, method), {operation: ROUNDS})

    def test_on_any_number_of_ranks(self):
        for ranks in (1, 2, 4, 5, 7, 8):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.operations(ranks, "allreduce"), {"bcast": ROUNDS})

    def test_allgather_is_an_allgather_of_lengths_and_one_of_pickles(self):
        self.assertEqual(self.operations(3, "allgather"), {"allgather": ROUNDS, "allgatherv": ROUNDS})

    def test_those_that_do_not_wait_for_all_end_none(self):
        for method in DO_NOT:
            with self.subTest(method):
                self.assertEqual(self.operations(4, method), {})

    def test_marks_of_the_program_end_segments(self):
        self.assertEqual(self.operations(2, "marks", HALCYON_BOUNDARY="pcontrol"), {"pcontrol": ROUNDS})

    def test_call_sites_are_lines_of_the_program(self):
        step = [("allreduce", "lines.py:18"), ("bcast", "lines.py:14"), ("allreduce", "lines.py:19"),
                ("barrier", "lines.py:33"), ("barrier", "lines.py:37")]
        self.assertEqual(self.lines(), 20 * step)
        self.assertEqual(self.lines(ranks=3), 20 * step)

    def test_python_is_not_asked_while_other_threads_of_it_run(self):
        places = {place.rpartition("+")[0] for _, place in self.lines("threads")}
        self.assertEqual({name.partition(".")[0] for name in places}, {"MPI"})

    def test_a_script_gives_the_profile_its_name(self):
        for words, name in (([PYTHON, "-u", PROGRAMS / "pickled.py", "barrier"], "pickled.py"),
                            ([PYTHON, "-W", "ignore", "-m", "mpi4py", PROGRAMS / "pickled.py", "barrier"], "pickled.py"),
                            ([PYTHON, "-m", "mpi4py.bench", "helloworld"], "mpi4py.bench"),
                            ([PYTHON, "-c", "from mpi4py import MPI"], Path(PYTHON).resolve().name)):
            with self.subTest(name):
                finished = self.halcyon("run", "--", *LAUNCH, "-np", "2", *words)
                self.assertEqual(finished.status, 0, finished)
                self.assertEqual([path.name.split(".2p.")[0] for path in self.directory.glob("*.h5")], [name])
                for path in self.directory.glob("*.h5"):
                    path.unlink()

    def test_the_example_names_its_lines(self):
        profile = self.record(2, [PYTHON, SOURCE / "examples" / "halo.py", "20", self.directory / "halo.dat"])
        modules = {text.decode().partition("@")[2].partition(":")[0] for text in profile.columns["sites"]}
        self.assertEqual(modules, {"halo.py", ""})


if __name__ == "__main__":
    halcyon_test.main()
