"""Beside an MPI library whose handles it does not know, Halcyon says so in one line and leaves the program alone."""
import halcyon_test
from halcyon_test import BUILD

FAKES = BUILD / "tests" / "foreign"


class ForeignMpi(halcyon_test.Behaviour):

    def check_stands_aside(self, fake, suffix, *says, second=()):
        """Runs the program with the fake library and Halcyon's libraries of this suffix."""
        recorder, injector = (BUILD / "lib" / f"lib{name}{suffix}.so" for name in ("halcyon", "intm"))
        finished = self.run_command([FAKES / fake / "program", *second], preload=[recorder, injector],
                                    HALCYON_OUTPUT=self.directory / "run.h5",
                                    INTM_SPEC="class=all,prob=1,mean=1ms,sd=0ms")
        self.assertEqual((finished.status, finished.output), (0, "runs\n"), finished)
        lines = sorted(finished.errors.splitlines())
        self.assertEqual([line.partition(": nothing is ")[0] for line in lines], ["halcyon", "intm"], finished)
        for line in lines:
            for words in says:
                self.assertIn(words, line)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_an_open_mpi_with_other_handles(self):
        self.check_stands_aside("open_mpi_2", "", "libmpi.so.20", "Open MPI 2", "it knows 3 to 5")

    def test_a_library_with_another_interface_than_mpichs(self):
        self.check_stands_aside("mpich_13", "-mpich", "libmpi.so.13", "binary interface 13", "it knows 12")

    def test_a_second_version_of_the_standard_abi(self):
        self.check_stands_aside("abi_2", "-abi", "libmpi_abi.so.2", "version 2 of the standard ABI", "it knows 1")

    def test_the_standard_abi_under_the_library_for_open_mpi(self):
        for suffix in ("", "-openmpi5", "-mpich", "-mpich5"):
            with self.subTest(suffix):
                self.check_stands_aside("abi_2", suffix, "the standard ABI", "-abi.so")

    def test_a_library_with_an_unusual_name_and_a_long_version(self):
        for suffix in ("", "-openmpi5"):
            with self.subTest(suffix):
                self.check_stands_aside("renamed", suffix, "librenamed.so.13", "is no Open MPI")
        for suffix in ("-mpich", "-mpich5"):
            with self.subTest(suffix):
                self.check_stands_aside("renamed", suffix, "librenamed.so.13", "binary interface 13")

    def test_a_library_whose_file_has_no_number_and_that_is_no_mpich(self):
        for suffix in ("-mpich", "-mpich5"):
            with self.subTest(suffix):
                self.check_stands_aside("unnumbered", suffix, "libmpi_mt.so", "it knows MPICH")

    def test_two_families_at_once(self):
        other = next((FAKES / "mpich_13").glob("libmpi.so.*"))
        self.check_stands_aside("open_mpi_2", "", "two MPI libraries", "libmpi.so.20", "libmpi.so.13", second=[other])


if __name__ == "__main__":
    halcyon_test.main()
