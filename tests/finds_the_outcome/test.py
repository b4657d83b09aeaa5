"""`halcyon run` finds what its run has left and judges it, whatever becomes of its streams, its directories, its user and
its locale; and where it cannot, it says where that is or why there is nothing."""
import os
import shlex
import shutil
import subprocess
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import HALCYON, LIBRARY, MPI, PROGRAMS, WRITER, Profile

PROGRAM = PROGRAMS / "changes"
SEGMENTS = 100 + 1  # of changes.c, with the last one that MPI_Finalize ends
NOBODY = 65534
LONGEST_MESSAGE = 1000  # bytes
LONGEST_VARIABLE = 128 * 1024  # bytes, of one for which the kernel starts a program
MEBIBYTES = (40, 80)  # of address space: enough to start a run, and not to judge it
as_root = unittest.skipUnless(os.geteuid() == 0, "only root can do this")


class FindsTheOutcome(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        for directory in (self.directory, self.temporary):
            directory.chmod(0o777)  # for runs that become another user

    def words(self, *program, output="run.h5"):
        return [str(word) for word in (HALCYON, "run", "--no-probes", "--no-baseline", "-o", output, "--",
                                       *MPI.launch(2), *(program or (PROGRAM, "nothing")))]

    def run_it(self, *program, output="run.h5", **environment):
        return self.run_command(self.words(*program, output=output), **environment)

    def in_shell(self, before="", after="", output="run.h5"):
        """Runs it by a shell, with `before` before the command, and `after` behind it."""
        return self.run_command(["bash", "-c", f"{before} {shlex.join(self.words(output=output))} {after}"])

    def apart(self, script):
        """Runs a script of a shell in a mount namespace of its own."""
        finished = self.run_command(["unshare", "--mount", "sh", "-c", "mount --make-rprivate / && " + script])
        if "unshare" in finished.errors or "mount:" in finished.errors:
            self.skipTest(f"no file system can be mounted: {finished.errors}")
        return finished

    def check_judged(self, finished, path, *words):
        """Checks that this run was judged, and that nothing of it is left but its profile."""
        self.assertEqual(finished.status, 0, finished)
        self.assertRegex(finished.errors, "halcyon: (UNKNOWN|GREEN|YELLOW|RED) ")  # too short for one, unless it starves
        self.assertIn(f"halcyon report {path}", finished.errors)
        self.assertNotIn("does not see", finished.errors)
        for word in words:
            self.assertIn(word, finished.errors)

    def check_profile(self, path):
        profile = Profile(path)
        self.assertEqual((profile.segments, profile.attributes["exit_state"]), (SEGMENTS, "finalized"))
        return profile

    # Streams

    def test_a_standard_stream_that_is_closed(self):
        for closed in ("0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(closed):
                finished = self.in_shell(after=closed)
                self.assertEqual(finished.status, 0, finished)
                if "2>&-" not in closed:
                    self.check_judged(finished, "run.h5")
                self.check_profile(self.directory / "run.h5")
                (self.directory / "run.h5").unlink()

    def test_output_to_a_closed_stream_fails_as_ever(self):
        self.run_it()
        finished = self.run_command(["sh", "-c", f"{HALCYON} report run.h5 >&-"])
        self.assertEqual((finished.status, finished.errors), (2, "halcyon: cannot write to standard output\n"))

    # Directories

    @as_root
    def test_a_directory_on_a_full_disk(self):
        full = self.directory / "full"
        full.mkdir()
        finished = self.apart(f"mount -t tmpfs -o size=100k none {full} && cat /dev/zero >{full}/filled 2>&-; " +
                              shlex.join(self.words(output=full / "run.h5")))
        found = self.temporary / "run.h5"
        self.check_judged(finished, found, f"the profile is {found}", "No space left on device")
        self.check_profile(found)

    def test_a_directory_that_vanishes_with_all_that_is_in_it(self):
        gone = self.directory / "gone"
        gone.mkdir()
        finished = self.run_it("sh", "-c", f"rm -rf {gone}; exec {PROGRAM} nothing", output=gone / "run.h5")
        self.check_judged(finished, self.temporary / "run.h5", "No such file or directory")

    def test_the_directory_of_the_command_that_is_gone(self):
        finished = self.in_shell(before="mkdir gone; cd gone; rmdir ../gone;")
        self.check_refused(finished, "the current directory is gone")
        finished = self.in_shell(before="mkdir gone; cd gone; rmdir ../gone;", output=self.directory / "no" / "run.h5")
        self.check_refused(finished, "no does not exist")

    def test_a_newline_and_a_quote_in_the_path(self):
        (self.directory / "it's\na").mkdir()
        finished = self.run_it(output="it's\na/run.h5")
        self.check_judged(finished, r"$'it\'s\na/run.h5'")
        self.check_profile(self.directory / "it's\na" / "run.h5")

    def test_a_name_that_ends_with_newlines(self):
        self.check_judged(self.run_it(output="run\n\n"), r"$'run\n\n'")
        self.check_profile(self.directory / "run\n\n")

    @as_root
    def test_shared_memory_that_cannot_be_written(self):
        finished = self.apart(f"mount -t tmpfs -o ro none /dev/shm && {shlex.join(self.words())}")
        self.check_judged(finished, "run.h5")

    @as_root
    def test_nothing_is_left_in_shared_memory(self):
        listed = self.directory / "listed"
        ranks = self.words("sh", "-c", f"ls -A /dev/shm >{listed}.$$; exec {PROGRAM} nothing")
        self.apart(f"mount -t tmpfs none /dev/shm && {shlex.join(ranks)}; ls -A /dev/shm >left")
        during = [file.read_text() for file in self.directory.glob("listed.*")]
        self.assertTrue(during)
        for receipts in during:
            self.assertIn(".halcyon-run-", receipts)
        self.assertNotIn("halcyon", (self.directory / "left").read_text())

    # Processes

    @as_root
    def test_a_program_that_becomes_another_user(self):
        for place in (self.directory, self.directory / "of_root"):
            with self.subTest(place):
                place.mkdir(exist_ok=True)
                finished = self.run_it(PROGRAM, "user", NOBODY, output=place / "run.h5")
                # It cannot write into the second one.
                found = (place if place == self.directory else self.temporary) / "run.h5"
                self.check_judged(finished, "run.h5" if place == self.directory else found)
                # Its ranks may not read each other's memory, so that `halcyon run` makes the profile of their parts.
                self.assertEqual(found.stat().st_uid, os.geteuid())
                found.unlink()

    def test_a_program_with_a_decimal_comma(self):
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.temporary / "de_DE.UTF-8"],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest(f"no locale can be made here: {made.stderr}")
        plain = self.run_it()
        self.assertEqual(plain.status, 0, plain)
        clock = Profile(self.directory / "run.h5").attributes["clock"]
        (self.directory / "run.h5").unlink()
        finished = self.run_it(PROGRAM, "locale", "de_DE.UTF-8", LOCPATH=self.temporary)
        self.assertEqual(finished.status, 0, finished)
        profile = self.check_profile(self.directory / "run.h5")
        self.assertNotIn(",", profile.attributes["clock"])
        self.assertEqual(profile.attributes["clock"].split()[0], clock.split()[0])

    @as_root
    def test_a_machine_without_proc(self):
        finished = self.apart("mount -t tmpfs none /proc && " + shlex.join(self.words()))
        self.check_judged(finished, "run.h5")
        self.check_profile(self.directory / "run.h5")

    def test_too_little_memory_is_called_so_and_the_profile_is_named(self):
        (launcher, *options), ranks = MPI.launcher, ["-np", "2"]
        unlimited = self.directory / Path(launcher).name
        unlimited.write_text(f'#!/bin/sh\nulimit -S -v unlimited\nexec {launcher} "$@"\n')
        unlimited.chmod(0o755)
        words = [HALCYON, "run", "--no-probes", "--no-baseline", "-o", "run.h5", "--", unlimited, *options, *ranks,
                 PROGRAM, "nothing"]
        for mebibytes in MEBIBYTES:
            command = shlex.join(map(str, words))
            finished = self.run_command(["bash", "-c", f"ulimit -S -v {mebibytes * 1024}; {command}"])
            self.assertIn("run.h5", finished.errors)
            if finished.status != 0:
                self.assertIn("there is not enough memory", finished.errors)
            self.check_profile(self.directory / "run.h5")
            (self.directory / "run.h5").unlink()

    def test_more_arguments_than_a_variable_can_hold(self):
        # Launchers themselves make one variable of them: shorter, since it is not quoted.
        arguments = ["a'b"] * (LONGEST_VARIABLE // len(shlex.quote("a'b")))
        finished = self.run_it(PROGRAM, "nothing", *arguments)
        self.check_judged(finished, "run.h5")
        command = Profile(self.directory / "run.h5").attributes["command"]
        self.assertLess(len(command), LONGEST_VARIABLE)
        self.assertTrue(command.startswith(" ".join(MPI.launch(2))), command[:100])
        self.assertTrue(command.endswith(" …"), command[-100:])

    def test_a_suggestion_does_not_repeat_all_arguments(self):
        finished = self.run_command([HALCYON, "run", "--", PROGRAM, *map(str, range(20000))])
        self.check_refused(finished, f"Did you mean: halcyon run -- mpirun -np N {PROGRAM} 0 1 2")
        self.assertLess(len(finished.errors), LONGEST_MESSAGE)


class WithoutItsWriter(halcyon_test.Behaviour):
    """Where no process can write the profile, as in a container without HDF5."""

    def setUp(self):
        super().setUp()
        (self.directory / "bin").mkdir()
        (self.directory / "lib").mkdir()
        shutil.copy(HALCYON, self.directory / "bin")
        self.library = Path(shutil.copy(LIBRARY, self.directory / "lib"))
        self.writer = self.directory / "libexec" / "halcyon" / WRITER.name
        self.parts = self.directory / "run.h5.parts"

    def install(self, script):
        self.writer.parent.mkdir(parents=True)
        self.writer.write_text(script)
        self.writer.chmod(0o755)

    def test_the_command_makes_the_profile_of_the_parts(self):
        finished = self.run_command(["bin/halcyon", "run", "--no-baseline", "-o", "run.h5", "--", *MPI.launch(2), PROGRAM,
                                     "nothing"])
        self.assertEqual(finished.status, 0, finished)
        self.assertIn(f"halcyon-write: No such file or directory; what the ranks recorded is in {self.parts}\n",
                      finished.errors)
        self.assertIn("until the run ended (finalized)\n", finished.errors)
        self.assertIn("halcyon report run.h5", finished.errors)
        profile = Profile(self.directory / "run.h5")
        self.assertEqual((profile.segments, profile.attributes["exit_state"]), (SEGMENTS, "finalized"))
        self.assertNotIn("incomplete", profile.attributes)
        self.assertFalse(self.parts.exists())

    def test_without_the_command_the_parts_say_how_to_go_on(self):
        self.install("#!/bin/sh\nexit 1\n")  # as if it lacked a library
        finished = self.mpirun(2, [PROGRAM, "nothing"], preload=[self.library],
                               HALCYON_OUTPUT=self.directory / "run.h5", TMPDIR=self.temporary)
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("ended without an answer", finished.errors)
        self.assertIn(f"to make a profile of what the ranks recorded: halcyon recover {self.parts}\n", finished.errors)
        recovered = self.halcyon("recover", self.parts)
        self.assertEqual((recovered.status, recovered.errors), (0, ""), recovered)
        self.assertEqual(Profile(self.directory / "run.h5").segments, SEGMENTS)

    def test_where_parts_cannot_be_written_either_all_is_said_in_one_line(self):
        finished = self.mpirun(2, [PROGRAM, "nothing"], preload=[self.library], HALCYON_OUTPUT="/proc/run.h5",
                               TMPDIR="/proc")
        self.assertEqual(finished.status, 0, finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        self.assertIn("what the ranks recorded is lost: cannot write to /proc/run.h5.parts", finished.errors)


if __name__ == "__main__":
    halcyon_test.main()
