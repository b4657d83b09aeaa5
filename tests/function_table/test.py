"""Every function of the MPI library and every I/O function of libc is wrapped, or left out for a reason."""
import fnmatch
import re
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, LIBRARY, MPI, SOURCE, exported_by, output_of, wrapped_functions
from halcyon_test.mpi_family import WHEELS

LEAST_FUNCTIONS_OF_MPI = 300  # MPI 3.1 has more
LEAST_CONSTANTS = 20
LEAST_FUNCTIONS_OF_LIBC = 250
HEADERS_OF_IO = "aio.h fcntl.h stdio.h stdio_ext.h stdlib.h sys/mman.h sys/sendfile.h sys/uio.h unistd.h wchar.h"


def read_left_out(name):
    """Patterns of names, with the family that alone has them (else "") and why functions that match are not wrapped."""
    left_out = {}
    for line in (Path(__file__).parent / name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            names, _, reason = (cell.strip() for cell in line.partition("|"))
            pattern, _, only_in = names.partition(" ")
            left_out[pattern] = (only_in.strip("()"), reason)
    return left_out


def library_of(program, name):
    loaded = output_of(["env", *(f"{name}={value}" for name, value in MPI.environment.items()), "ldd", program])
    return re.search(rf"\s{re.escape(name)}\s=>\s(\S+)", loaded).group(1)


def io_functions_of_libc():
    """What the headers declare that is about streams or descriptors, or opens something, and libc exports."""
    source = "".join(f"#include <{header}>\n" for header in HEADERS_OF_IO.split())
    declared = subprocess.run(["gcc", "-E", "-P", "-O2", "-D_GNU_SOURCE", "-D_FORTIFY_SOURCE=2", "-x", "c", "-"],
                              input=source, capture_output=True, text=True, check=True).stdout
    functions = set()
    for declaration in re.findall(r"\bextern\b([^;{]*\([^;{]*)[;{]", declared):
        result, name, parameters, symbol = re.match(
            r"(.*?[\s*])(\w+) ?\((.*?)\)(?: __asm__ ?\(\"\" \"(\w+)\"\))?", " ".join(declaration.split())).groups()
        is_about_file = re.search(r"FILE\b|\bint (__)?(\w*fd(in|out)?|fildes)\b|aiocb", result + parameters)
        if is_about_file or re.search(r"open|creat|tmp|temp|^dup|^perror|printf|scanf|puts|char$", name):
            functions.add(symbol or name)
    return functions & exported_by(library_of(EXAMPLES / "halo_c", "libc.so.6"))


class FunctionTable(halcyon_test.Behaviour):

    @classmethod
    def setUpClass(cls):
        cls.left_out = read_left_out("left_out.txt")
        mpi_library = library_of(EXAMPLES / "halo_c", MPI.library)
        cls.of_mpi = {name for name in exported_by(mpi_library) if name.startswith(("MPI_", "MPIX_"))}
        cls.of_halcyon = exported_by(LIBRARY)
        cls.wrapped = wrapped_functions()
        cls.wrapped_of_mpi = {name for name in cls.wrapped if name.startswith(("MPI_", "MPIX_"))}

    def patterns_of(self, name):
        return [pattern for pattern, (only_in, _) in self.left_out.items()
                if (only_in != "newer" or not MPI.is_debians) and fnmatch.fnmatchcase(name, pattern)]

    def test_every_function_of_mpi_is_wrapped_or_left_out_for_a_reason(self):
        self.assertGreater(len(self.of_mpi), LEAST_FUNCTIONS_OF_MPI)
        self.assertEqual([name for name in sorted(self.of_mpi - self.wrapped_of_mpi) if not self.patterns_of(name)], [])

    def test_no_function_is_both_wrapped_and_left_out(self):
        self.assertEqual({name: self.patterns_of(name) for name in self.wrapped_of_mpi if self.patterns_of(name)}, {})

    @unittest.skipUnless(MPI.is_debians, "the list is kept for Debian's libraries")
    def test_no_reason_is_stale(self):
        used = {pattern for name in self.of_mpi - self.wrapped_of_mpi for pattern in self.patterns_of(name)}
        expected = {pattern for pattern, (only_in, _) in self.left_out.items() if only_in in ("", MPI.name)}
        self.assertEqual(sorted(expected - used), [])

    def test_every_reason_is_given(self):
        self.assertEqual([pattern for pattern, (_, reason) in self.left_out.items() if not reason], [])

    def test_what_is_wrapped_is_exported_under_both_of_its_names(self):
        both = {prefix + name for name in self.wrapped_of_mpi for prefix in ("", "P")}
        self.assertEqual(both - self.of_halcyon, set())
        self.assertEqual((self.wrapped - self.wrapped_of_mpi) - self.of_halcyon, set())

    def test_what_is_wrapped_exists_in_mpi(self):
        self.assertEqual(self.wrapped_of_mpi - self.of_mpi, set())

    def test_every_io_function_of_libc_is_wrapped_or_left_out_for_a_reason(self):
        of_libc = io_functions_of_libc()
        self.assertGreater(len(of_libc), LEAST_FUNCTIONS_OF_LIBC)
        reasons = read_left_out("left_out_of_libc.txt")
        matching = {name: [pattern for pattern in reasons if fnmatch.fnmatchcase(name, pattern)] for name in of_libc}
        self.assertEqual([name for name in sorted(of_libc - self.wrapped) if not matching[name]], [])
        used = {pattern for name in of_libc - self.wrapped for pattern in matching[name]}
        self.assertEqual(sorted(set(reasons) - used), [], "reasons that are stale")
        self.assertEqual([pattern for pattern, (_, reason) in reasons.items() if not reason], [])

    @unittest.skipUnless(MPI.name.startswith("MPICH 5 with"), "the header of that library is compared")
    def test_our_header_of_the_standard_abi_says_what_the_librarys_says(self):
        ours, theirs = (self.values_of(place) for place in (SOURCE / "libprofile/interpose/standard_abi/mpi.h",
                                                            WHEELS / "mpich5/include/mpi_abi.h"))
        self.assertGreater(len(ours), LEAST_CONSTANTS)
        self.assertEqual({name: theirs.get(name) for name in ours}, ours)

    @staticmethod
    def values_of(header):
        """Constants of MPI as the header defines them: the numbers alone, without the types of handles."""
        pattern = r"\b(MPI_[A-Z_0-9]+)\s*(?:=|\s(?=\())\s*(?:\(\((?:\w+\s*\*?)\)(\w+)\)|(-?\w+))|#define\s+(MPI_MAX\w+)\s+(\d+)"
        found = re.findall(pattern, header.read_text())
        return {name or size: int(handle or number or limit, 0) for name, handle, number, size, limit in found}

    def test_nothing_is_exported_that_would_shadow_the_programs_own_symbols(self):
        # Preloaded symbols win over the program's: an instantiated std:: template of ours would replace its own.
        self.assertEqual(sorted(name for name in self.of_halcyon if name.startswith("_Z")), [])


if __name__ == "__main__":
    halcyon_test.main()
