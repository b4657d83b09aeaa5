"""Every function of the MPI library on this machine is wrapped, or left out for a reason."""
import fnmatch
import re
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, LIBRARY, MPI, exported_by, output_of, wrapped_functions

LEAST_FUNCTIONS_OF_MPI = 300  # MPI 3.1 has more


def read_left_out(family):
    """Patterns of names, and why the functions that match are not wrapped in the MPI family."""
    reasons = {}
    for line in (Path(__file__).parent / "left_out.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            names, _, reason = (cell.strip() for cell in line.partition("|"))
            pattern, _, only_in = names.partition(" ")
            if only_in in ("", f"({family.name})"):
                reasons[pattern] = reason
    return reasons


def mpi_library():
    return re.search(r"\slibmpi(?:ch)?\.so\S*\s=>\s(\S+)", output_of(["ldd", EXAMPLES / "halo_c"])).group(1)


class FunctionTable(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        cls.left_out = read_left_out(MPI)
        cls.of_mpi = {name for name in exported_by(mpi_library()) if name.startswith(("MPI_", "MPIX_"))}
        cls.of_halcyon = exported_by(LIBRARY)
        cls.wrapped = wrapped_functions()
        cls.wrapped_of_mpi = {name for name in cls.wrapped if name.startswith(("MPI_", "MPIX_"))}

    def patterns_of(self, name):
        return [pattern for pattern in self.left_out if fnmatch.fnmatchcase(name, pattern)]

    def test_every_function_of_mpi_is_wrapped_or_left_out_for_a_reason(self):
        self.assertGreater(len(self.of_mpi), LEAST_FUNCTIONS_OF_MPI)
        self.assertEqual([name for name in sorted(self.of_mpi - self.wrapped_of_mpi) if not self.patterns_of(name)], [])

    def test_no_function_is_both_wrapped_and_left_out(self):
        self.assertEqual({name: self.patterns_of(name) for name in self.wrapped_of_mpi if self.patterns_of(name)}, {})

    def test_no_reason_is_stale(self):
        used = {pattern for name in self.of_mpi - self.wrapped_of_mpi for pattern in self.patterns_of(name)}
        self.assertEqual(sorted(set(self.left_out) - used), [])

    def test_every_reason_is_given(self):
        self.assertEqual([pattern for pattern, reason in self.left_out.items() if not reason], [])

    def test_what_is_wrapped_is_exported_under_both_of_its_names(self):
        both = {prefix + name for name in self.wrapped_of_mpi for prefix in ("", "P")}
        self.assertEqual(both - self.of_halcyon, set())
        self.assertEqual((self.wrapped - self.wrapped_of_mpi) - self.of_halcyon, set())

    def test_what_is_wrapped_exists_in_mpi(self):
        self.assertEqual(self.wrapped_of_mpi - self.of_mpi, set())

    def test_nothing_is_exported_that_would_shadow_the_programs_own_symbols(self):
        # Preloaded symbols win over the program's: an instantiated std:: template of ours would replace its own.
        self.assertEqual(sorted(name for name in self.of_halcyon if name.startswith("_Z")), [])


if __name__ == "__main__":
    halcyon_test.main()
