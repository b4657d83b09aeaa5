"""In programs of mpi4py, pickled collectives end segments, call sites are lines of the script, and profiles have its
name."""
import collections
from pathlib import Path

import halcyon_test
from halcyon_test import MPI, PYTHON, SOURCE

PICKLED = Path(__file__).parent / "pickled.py"
LINES = Path(__file__).parent / "lines.py"
ROUNDS = 10  # of each method of pickled.py
STEPS = 20  # of lines.py
# Methods that wait for all ranks, and the operation that ends the segment
SYNCHRONISE = {
    "allreduce": "bcast", "allreduce-of-a-duplicate": "bcast", "reduce-bcast": "bcast", "reduce-message-bcast": "bcast",
    "reduce-elsewhere-bcast": "bcast", "gather-bcast": "bcast", "gather-scatter": "scatter", "barrier": "barrier"}
# Methods that do not
DO_NOT = ("bcast", "reduce", "reduce-bcast-from-another", "messages-and-bcast", "scan", "allreduce-of-half")


def line_with(text):
    """The place of the one line of lines.py that has the text, as a call site names it."""
    [number] = [number for number, line in enumerate(LINES.read_text().splitlines(), 1) if text in line]
    return f"{LINES.name}:{number}"


class PythonPrograms(halcyon_test.Behaviour):

    def operations(self, ranks, method, **environment):
        """How many segments each operation ended, MPI_Finalize left out."""
        profile = self.record(ranks, [PYTHON, PICKLED, method], **environment)
        return collections.Counter(profile.operations()[:-1])

    def lines(self, *words, ranks=2):
        """Where segments of lines.py end, as (operation, place) in order of time."""
        profile = self.record(ranks, [PYTHON, LINES, *words])
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
        step = [("allreduce", line_with("world.Allreduce")), ("bcast", line_with("world.allreduce")),
                ("allreduce", line_with("world.Iallreduce")), ("barrier", line_with("world.Barrier")),
                ("barrier", line_with("world.barrier"))]
        self.assertEqual(self.lines(), STEPS * step)
        self.assertEqual(self.lines(ranks=3), STEPS * step)

    def test_python_is_not_asked_while_other_threads_of_it_run(self):
        places = {place.rpartition("+")[0] for _, place in self.lines("threads")}
        self.assertEqual({name.partition(".")[0] for name in places}, {"MPI"})

    def test_a_script_gives_the_profile_its_name(self):
        for words, name in (([PYTHON, "-u", PICKLED, "barrier"], "pickled.py"),
                            ([PYTHON, "-W", "ignore", "-m", "mpi4py", PICKLED, "barrier"], "pickled.py"),
                            ([PYTHON, "-m", "mpi4py.bench", "helloworld"], "mpi4py.bench"),
                            ([PYTHON, "-c", "from mpi4py import MPI"], Path(PYTHON).resolve().name)):
            with self.subTest(name):
                finished = self.halcyon("run", "--", *MPI.launch(2), *words)
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
