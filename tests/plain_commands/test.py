"""Neither commands without MPI nor children of MPI programs notice that the library is preloaded."""
import os
import re
import shutil
from pathlib import Path

import halcyon_test
from halcyon_test import EXAMPLES, LIBRARY, MPI, PROGRAMS, PYTHON, Profile, output_of

LIBC_ONLY = re.compile(r"libc\.so\.\d+|ld-linux\S*\.so\.\d+")
# What forks.c does to files in the parent, whatever its children do
DONE_BY_THE_PARENT = {"file_opens": 1, "file_closes": 1, "reads": 0, "writes": 1, "bytes_written": len("mine\n")}
# So many segments twice, before and after the children, fill three times the one mebibyte that they are given.
MANY = 50000
TRIES = 5
# Start `program`, which prints the value of LD_PRELOAD, and wait for it.
WAYS_TO_START = {
    "execv": "os.execv(program, words)",
    "execve": "os.execve(program, words, os.environ)",
    "execvp": "os.execvp(program, words)",
    "execl": "ctypes.CDLL(None).execl(*[word.encode() for word in (program, *words)], None)",
    "execlp": "ctypes.CDLL(None).execlp(*[word.encode() for word in (program, *words)], None)",
    "fexecve": "os.execve(os.open(program, os.O_RDONLY), words, os.environ)",
    "posix_spawn": "os.waitpid(os.posix_spawn(program, words, os.environ), 0)",
    "posix_spawnp": "os.waitpid(os.posix_spawnp(program, words, os.environ), 0)",
    "vfork": "subprocess.run(words, executable=program)",
    "system": "os.system(' '.join([program, *words[1:]]))",
}


class PlainCommands(halcyon_test.Behaviour):

    def run_to_its_end(self, command, **options):
        """Runs it again if the launcher died as it also does without the library."""
        for _ in range(TRIES):
            finished = self.run_command(command, **options)
            if finished.status not in MPI.launcher_deaths:
                break
        return finished

    def check_unchanged(self, command):
        profile = self.directory / "never.h5"
        (self.directory / "a file").write_text("one line\nand another\n")
        plain = self.run_to_its_end(command)
        preloaded = self.run_to_its_end(command, preload=[LIBRARY], HALCYON_OUTPUT=str(profile))
        self.assertEqual(preloaded, plain)
        self.assertEqual([path.name for path in self.directory.iterdir() if path.suffix in (".h5", ".partial")], [])
        return plain

    def test_ls_is_unchanged(self):
        self.assertEqual(self.check_unchanged(["ls", "-l", "/usr"]).status, 0)

    def test_a_failing_ls_fails_the_same_way(self):
        self.assertEqual(self.check_unchanged(["ls", "/nowhere/at/all"]).status, 2)

    def test_a_shell_with_pipes_and_redirections_is_unchanged(self):
        script = "echo text > out; cat < out | tr a-z A-Z; ls no such 2>&1; (exit 3) || echo $?; printf end; exit 7"
        finished = self.check_unchanged(["bash", "-c", script])
        self.assertEqual(finished.status, 7)
        self.assertIn("TEXT", finished.output)

    def test_python_is_unchanged(self):
        code = ("import os, subprocess, sys; print(open('a file').read()); open('b', 'w').write('x');"
                "print(subprocess.run(['cat', 'a file'], capture_output=True)); os.fork() or os._exit(0); os.wait();"
                "print('end', file=sys.stderr); sys.exit(6)")
        self.assertEqual(self.check_unchanged([PYTHON, "-c", code]).status, 6)

    def test_a_killed_command_is_killed_the_same_way(self):
        self.assertEqual(self.check_unchanged(["bash", "-c", "kill -TERM $$"]).status, -15)

    def test_mpirun_itself_is_unchanged(self):
        self.assertEqual(self.check_unchanged([*MPI.launcher, "--version"]).status, 0)

    def test_mpirun_of_a_plain_command_is_unchanged(self):
        self.assertEqual(self.check_unchanged([*MPI.launch(2), "echo", "here"]).status, 0)

    def test_a_library_preloaded_into_mpirun_too_still_records_the_ranks(self):
        profile = self.directory / "run.h5"
        finished = self.run_command([*MPI.launch(2), EXAMPLES / "halo_c", "5"], preload=[LIBRARY],
                                    HALCYON_OUTPUT=str(profile))
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        self.assertEqual(Profile(profile).attributes["ranks"], 2)

    def test_a_forking_mpi_program_is_unchanged(self):
        command = [PROGRAMS / "forks", self.directory / "file"]
        plain = self.mpirun(1, command, preload=())
        self.assertEqual(plain.status, 0, plain)
        for expected in ("executed", "written", "said", "executed after vfork", "spawned", "from the shell"):
            self.assertIn(expected + "\n", plain.output)
        written = (self.directory / "file").read_text()
        preloaded = self.mpirun(1, command, HALCYON_OUTPUT=self.directory / "run.h5")
        self.assertEqual(preloaded, plain)
        self.assertEqual((self.directory / "file").read_text(), written)

    def test_what_children_do_to_files_is_not_counted(self):
        path = self.directory / "run.h5"
        self.mpirun(1, [PROGRAMS / "forks", self.directory / "file"], HALCYON_OUTPUT=path)
        totals = Profile(path).totals(0)
        self.assertEqual({name: totals[name] for name in DONE_BY_THE_PARENT}, DONE_BY_THE_PARENT)

    def test_children_of_a_rank_that_has_spilled_leave_its_parts_alone(self):
        command = [PROGRAMS / "forks", self.directory / "file", MANY]
        plain = self.mpirun(1, command, preload=())
        path = self.directory / "run.h5"
        preloaded = self.mpirun(1, command, HALCYON_OUTPUT=path, HALCYON_MEMORY=1)
        self.assertEqual(preloaded, plain)
        profile = Profile(path)
        self.assertEqual((profile.boundaries, profile.attributes["dropped_segments"]), (2 * MANY, 0))
        self.assertEqual(sorted(left.name for left in self.directory.iterdir()), ["file", "run.h5"])

    def preload_of_child(self, program, start):
        """LD_PRELOAD of a child that a process starts which has the library, and libm behind it."""
        code = ("import ctypes, os, subprocess, sys\nsys.stdout.flush()\nprogram = sys.argv[1]\n"
                f"words = [program, 'LD_PRELOAD']\n{start}")
        started = self.run_command([PYTHON, "-c", code, program], preload=[LIBRARY, "libm.so.6"],
                                   PATH=f"{self.directory}:{os.environ['PATH']}")
        self.assertEqual((started.status, started.errors), (0, ""), started)
        return started.output.strip()

    @halcyon_test.needs_python
    def test_programs_of_another_loader_do_not_get_the_library(self):
        # Such as musl's, which ends a program that is to have a library of glibc's. Here, glibc's has its name.
        content = Path(shutil.which("printenv")).read_bytes()
        loader = re.search(rb"/lib[^\0]*/ld-linux[^\0]*\0", content)[0]
        program = self.directory / "of_musl"
        program.write_bytes(content.replace(loader, b"ld-musl".ljust(len(loader), b"\0")))
        (self.directory / "ld-musl").symlink_to(os.fsdecode(loader[:-1]))
        program.chmod(0o755)
        for way, start in WAYS_TO_START.items():
            with self.subTest(way):
                name = program.name if way in ("execvp", "execlp", "posix_spawnp") else program
                self.assertEqual(self.preload_of_child(name, start), "libm.so.6")
                self.assertEqual(self.preload_of_child(shutil.which("printenv"), start), f"{LIBRARY}:libm.so.6")

    def test_the_library_needs_nothing_but_libc(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of(["readelf", "-d", LIBRARY]))
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not LIBC_ONLY.fullmatch(name)], [])


if __name__ == "__main__":
    halcyon_test.main()
