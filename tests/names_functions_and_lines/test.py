"""Call sites are shown as functions and source lines if the files of the program are still those that ran. Otherwise
the report is the same without them."""
import os
import random
import shutil
import subprocess

import halcyon_test
from halcyon_test import EXAMPLES, PROGRAMS, SOURCE, Profile, editing, make_up_times

HALO = SOURCE / "examples" / "halo.c"
LONG_DELAYS = {"usual": 5e-3, "delay": 0.1}  # so that the verdict is red
ELF_HEADER, FIRST_PAGE = 0x40, 0x1000  # bytes of a program's file


class NamesFunctionsAndLines(halcyon_test.Behaviour):

    def recorded(self, program=EXAMPLES / "halo_c"):
        """Path to a profile of the program whose times are made up, so that it has a verdict."""
        shutil.copy(program, self.directory / "program")
        self.record(2, [self.directory / "program", 400])
        path = self.directory / "run.h5"
        make_up_times(path, **LONG_DELAYS)
        return path

    def groups(self, path):
        report = self.report(path)
        self.assertEqual(report["verdict"], "red", report["warnings"])
        return report["breakdown"]["groups"]

    def change(self, path, column, value):
        with editing(path) as profile:
            profile[column][...] = [value] * len(profile[column])

    def check_unnamed(self, path):
        for group in self.groups(path):
            self.assertEqual((group["function"], group["source"]), (None, None))
            self.assertRegex(group["site"], r"^(\w+@program\+0x[0-9a-f]+|finalize)$")

    def test_of_c_with_the_line_of_the_call(self):
        path = self.recorded()
        group = self.groups(path)[0]
        file, _, line = group["source"].rpartition(":")
        self.assertEqual(file, "halo.c")
        call = "MPI_" + group["site"].partition("@")[0].capitalize()
        self.assertIn(call, HALO.read_text().splitlines()[int(line) - 1])
        self.assertRegex(group["site"], r"^\w+@program\+0x[0-9a-f]+$")
        text = self.halcyon("report", path).output
        self.assertIn(f"{group['function']} ({group['source']})", " ".join(text.split()))

    def test_of_fortran(self):
        sources = {group["source"].partition(":")[0] for group in self.groups(self.recorded(EXAMPLES / "halo_f08"))
                   if group["source"]}
        self.assertEqual(sources, {"halo_f08.f90"})

    def test_of_cplusplus_demangled_and_of_a_library_without_lines(self):
        if shutil.which("lmp") is None:
            self.skipTest("no LAMMPS")
        shutil.copy("/usr/bin/lmp", self.directory)
        melt = (SOURCE / "examples" / "lj.in").read_text()
        (self.directory / "short.in").write_text(melt.replace("run             3000", "run 300"))
        self.record(1, ["lmp", "-in", "short.in", "-log", "none", "-screen", "none"])
        make_up_times(self.directory / "run.h5", **LONG_DELAYS)
        functions = [group["function"] for group in self.groups("run.h5") if group.get("function")]
        self.assertTrue(any(name.startswith("LAMMPS_NS::") and name.endswith(")") for name in functions), functions)

    def test_of_a_recovered_run(self):
        finished = self.mpirun(1, [PROGRAMS / "dies", 200, "abort"], HALCYON_OUTPUT=self.directory / "dead.h5")
        parts = self.directory / "dead.h5.parts"
        self.assertTrue(parts.exists(), finished)
        self.assertEqual(self.halcyon("recover", parts).status, 0)
        profile = Profile(next(self.directory.glob("dead*.h5")))
        self.assertIn(b"dies", list(profile.columns["modules"]))

    def test_not_of_a_file_that_is_another_one_now(self):
        path = self.recorded()
        shutil.copy(EXAMPLES / "plate", self.directory / "program")
        self.check_unnamed(path)

    def test_not_where_the_build_id_is_not_known(self):
        path = self.recorded()
        self.change(path, "module_build_ids", "")
        self.check_unnamed(path)

    def test_not_of_what_is_no_file(self):
        path = self.recorded()
        os.mkfifo(self.directory / "fifo")  # opening it for reading blocks
        for place in (self.directory / "fifo", self.directory, "/dev/zero", "/nowhere", "program", ""):
            with self.subTest(place=place):
                self.change(path, "module_paths", str(place))
                self.check_unnamed(path)

    def test_a_damaged_file_costs_names_at_most(self):
        path = self.recorded()
        program = self.directory / "program"
        whole = program.read_bytes()
        chance = random.Random(1)
        for _ in range(40):
            damaged = bytearray(whole[:chance.choice((len(whole), len(whole), chance.randrange(len(whole))))])
            for _ in range(chance.choice((1, 16, 256))):
                end = min(len(damaged), chance.choice((FIRST_PAGE, len(damaged))))
                at = chance.randrange(ELF_HEADER, end + ELF_HEADER) % len(damaged)
                damaged[at] = chance.choice((0, 0x7f, 0xff, chance.randrange(256)))
            program.write_bytes(damaged)
            finished = self.halcyon("report", "--json", "-", path)
            self.assertEqual((finished.status, finished.errors), (0, ""), finished)

    def test_a_separate_debug_file_beside_it_is_found(self):
        path = self.recorded()
        if shutil.which("objcopy") is None:
            self.skipTest("no objcopy")
        program = self.directory / "program"
        for words in (["objcopy", "--only-keep-debug", program, f"{program}.debug"], ["strip", program],
                      ["objcopy", f"--add-gnu-debuglink={program}.debug", program]):
            subprocess.run(words, check=True)
        self.assertRegex(self.groups(path)[0]["source"], r"^halo\.c:\d+$")


if __name__ == "__main__":
    halcyon_test.main()
