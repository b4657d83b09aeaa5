"""A run is compared with earlier runs of the same work. Their records are their user's alone. Damage does no harm."""
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

import halcyon_test
from halcyon_test import EXAMPLES, HALCYON, MPI, Profile, check_schema

PROGRAM = [EXAMPLES / "halo_c", "400"]
NAME = r"[0-9a-f]{16}"  # of a work or a host
MOST_WORKS, MOST_HOSTS = 256, 1024  # that are kept
MORE_WORKS, MORE_HOSTS = 300, 1100
WRITERS, WORKS_OF_A_WRITER = 12, 5
NOBODY = 65534  # another user
LARGER_THAN_ANY_RECORD = 1 << 20  # bytes
DEEPER_THAN_ANY_RECORD = "[" * 100000


class KnownRuns(halcyon_test.Behaviour):

    state_after_a_run = None

    def run_of(self, file, *options, program=PROGRAM, **environment):
        # Without a counter the groups do not depend on CPU time, which other processes change.
        finished = self.halcyon("run", "-o", file, "--counter", "none", *options, "--", *MPI.launch(2), *program,
                                **environment)
        self.assertEqual(finished.status, 0, finished)
        return finished

    def know_a_run(self):
        """What is known is what a first run leaves, which is made once for all tests."""
        if self.state_after_a_run is None:
            self.run_of("1.h5")
            type(self).state_after_a_run = tempfile.TemporaryDirectory()
            self.addClassCleanup(self.state_after_a_run.cleanup)
            shutil.copytree(self.state, self.state_after_a_run.name, dirs_exist_ok=True)
        else:
            shutil.copytree(self.state_after_a_run.name, self.state, dirs_exist_ok=True)

    def known_of(self, file, *options):
        finished = self.halcyon("report", "--json", "-", *options, file)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return json.loads(finished.output)["known_runs"]

    def baselines(self, *words, **environment):
        finished = self.halcyon("baselines", *words, **environment)
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return finished.output

    def refused(self, *words, **environment):
        """The one line by which `halcyon baselines` refuses."""
        finished = self.halcyon("baselines", *words, **environment)
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertEqual(len(finished.errors.splitlines()), 1, finished)
        return finished.errors

    def said_by(self, finished):
        """What a run says, without the ends of lines."""
        return " ".join(finished.errors.split())

    def works(self, **environment):
        """Names of the works, as `halcyon baselines list` prints them."""
        return re.findall(rf"^({NAME}-\d)  ", self.baselines("list", **environment), re.M)

    def record(self):
        """The file with the record of the only work."""
        [file] = (self.state / "halcyon" / "baselines").glob("[0-9a-f]*")
        return file

    def exported(self):
        exported = json.loads(self.baselines("export"))
        check_schema(exported, "baselines")
        return exported

    def import_of(self, document, **environment):
        (self.directory / "imported.json").write_text(json.dumps(document))
        return self.halcyon("baselines", "import", "imported.json", **environment)

    # What a run is told of earlier ones

    def test_from_the_second_run_on_a_run_is_held_against_the_best_of_those_before(self):
        first = self.run_of("1.h5")
        self.assertNotIn("known run", first.errors)
        self.assertIsNone(self.known_of("1.h5"))
        second = self.run_of("2.h5")
        self.assertIn("the best of 1 known run", self.said_by(second))
        third = self.run_of("3.h5")
        self.assertIn("the best of 2 known runs", self.said_by(third))
        known = self.known_of("3.h5")
        self.assertEqual(known["runs"], 2)
        low, high = known["interval"]
        self.assertLessEqual(low, known["displacement_percent"])
        self.assertLessEqual(known["displacement_percent"], high)
        self.assertIn("the best of 2 known runs", self.halcyon("report", "--html", "page.html", "3.h5").output)
        self.assertIn("the best of 2 known runs", (self.directory / "page.html").read_text())
        self.assertRegex(self.baselines("list"), rf"(?m)^{NAME}-0 +3 ")

    def test_a_report_says_the_same_whatever_has_become_known_since_and_wherever_it_is_read(self):
        self.know_a_run()
        self.run_of("2.h5")
        then = self.known_of("2.h5")
        self.run_of("3.h5")
        self.assertEqual(self.known_of("2.h5"), then)
        self.baselines("forget", "--all")
        self.assertEqual(self.known_of("2.h5"), then)
        self.assertIsNone(self.known_of("2.h5", "--no-baseline"))
        profile = Profile(self.directory / "2.h5")
        self.assertEqual(profile.attributes["known_runs"], 1)
        self.assertEqual(self.halcyon("info", "2.h5").status, 0)

    def test_another_command_or_other_input_is_other_work(self):
        self.know_a_run()
        other = self.run_of("2.h5", program=[EXAMPLES / "halo_c", "401"])
        self.assertNotIn("known run", other.errors)
        self.assertIsNone(self.known_of("2.h5"))
        self.assertEqual(len(self.works()), 2)

    def test_a_run_that_was_disturbed_on_purpose_is_compared_but_not_learnt_from(self):
        self.know_a_run()
        injected = self.run_of("2.h5", "--inject", "class=p2p,prob=0.2,mean=0.2ms")
        self.assertIn("the best of 1 known run", self.said_by(injected))
        third = self.run_of("3.h5")
        self.assertIn("the best of 1 known run", self.said_by(third))

    def test_what_does_not_repeat_or_does_not_end_teaches_nothing(self):
        self.run_of("short.h5", program=[EXAMPLES / "halo_c", "3"])
        self.assertEqual(self.works(), [])

    def test_without_a_baseline_nothing_is_kept_and_nothing_compared(self):
        self.run_of("1.h5", "--no-baseline")
        self.assertEqual(list(self.state.iterdir()), [])
        self.run_of("2.h5")
        self.assertNotIn("known run", self.run_of("3.h5", "--no-baseline").errors)
        self.assertIsNone(self.known_of("3.h5"))

    # What `halcyon baselines` does with the records

    def test_works_and_hosts_are_listed_shown_and_forgotten(self):
        self.assertIn("nothing is known yet", self.baselines("list"))
        self.know_a_run()
        [work] = self.works()
        listed = self.baselines("list")
        self.assertIn("halo_c 400", listed)
        [host] = re.findall(rf"^({NAME})  ", listed, re.M)
        self.assertIn("best median", self.baselines("show", work))
        self.assertIn("registers", self.baselines("show", host))
        self.assertIn("no record", self.refused("show", "0123456789abcdef-0"))
        self.assertIn("no record", self.refused("forget", "../baselines"))
        self.assertIn("--all", self.refused("forget"))
        self.baselines("forget", work, host)
        self.assertIn("nothing is known yet", self.baselines("list"))
        self.assertNotIn("known run", self.run_of("2.h5").errors)

    def test_what_is_exported_here_is_known_where_it_is_imported(self):
        self.know_a_run()
        (self.directory / "known.json").write_text(self.baselines("export"))
        elsewhere = str(self.scratch_directory())
        self.assertIn("2 imported", self.baselines("import", "known.json", XDG_STATE_HOME=elsewhere))
        self.assertEqual(self.baselines("export", XDG_STATE_HOME=elsewhere), self.baselines("export"))
        self.assertIn("0 imported", self.baselines("import", "known.json", XDG_STATE_HOME=elsewhere))
        finished = self.run_of("2.h5", XDG_STATE_HOME=elsewhere)
        self.assertIn("the best of 1 known run", self.said_by(finished))

    def test_there_are_no_more_than_there_may_be_and_the_last_used_stay(self):
        self.know_a_run()
        document = self.exported()
        [work] = document["works"]
        [host] = document["hosts"]
        document["works"] = [{**work, "command": f"program {number}"} for number in range(MORE_WORKS)]
        document["hosts"] = [{**host, "host": f"node{number}"} for number in range(MORE_HOSTS)]
        self.assertEqual(self.import_of(document).status, 0)
        listed = self.baselines("list")
        self.assertEqual(len(re.findall(r"program \d+$", listed, re.M)), MOST_WORKS)
        self.assertEqual(len(re.findall(r"node\d+,", listed)), MOST_HOSTS)
        for kept in (f"program {MORE_WORKS - 1}", f"node{MORE_HOSTS - 1},"):
            self.assertIn(kept, listed)
        for forgotten in ("program 0\n", "node0,", "halo_c"):
            self.assertNotIn(forgotten, listed)

    def test_many_at_once_lose_nothing(self):
        self.know_a_run()
        document = self.exported()
        [work] = document["works"]
        environment = self.own_environment()
        writers = []
        for number in range(WRITERS):
            works = [{**work, "command": f"program {number}-{each}"} for each in range(WORKS_OF_A_WRITER)]
            one = {**document, "hosts": [], "works": works}
            file = self.directory / f"{number}.json"
            file.write_text(json.dumps(one))
            writers.append(subprocess.Popen([HALCYON, "baselines", "import", file], env=environment,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        for writer in writers:
            self.assertEqual((writer.communicate()[1], writer.returncode), ("", 0))
        listed = self.baselines("list")
        for number in range(WRITERS):
            for each in range(WORKS_OF_A_WRITER):
                self.assertIn(f"program {number}-{each}\n", listed)

    # Records of others, and damaged ones

    def test_records_are_for_their_user_alone(self):
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        self.run_of("1.h5")
        kept = list((self.state / "halcyon").rglob("*"))
        self.assertTrue(any(path.is_file() for path in kept), kept)
        for path in kept:
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(mode, 0o700 if path.is_dir() else 0o600, path)

    def check_nothing_is_kept(self, file, reason, **environment):
        """The run succeeds, and one line says why nothing of it is kept."""
        finished = self.run_of(file, **environment)
        told = [line for line in finished.errors.splitlines() if "this run was not added to the baselines" in line]
        self.assertEqual(len(told), 1, finished)
        self.assertIn(reason, told[0])
        self.assertIn("halcyon report", finished.errors)

    def test_a_directory_that_others_may_write_to_is_refused(self):
        self.know_a_run()
        (self.state / "halcyon" / "baselines").chmod(0o777)
        self.check_nothing_is_kept("2.h5", "is writable by others")
        self.assertIn("is writable by others", self.refused("list"))

    @unittest.skipIf(os.geteuid() != 0, "only root can give a directory away")
    def test_a_directory_of_another_user_is_refused(self):
        self.know_a_run()
        os.chown(self.state / "halcyon", NOBODY, NOBODY)
        self.check_nothing_is_kept("2.h5", "belongs to another user")

    def test_a_link_is_not_followed(self):
        elsewhere = self.scratch_directory()
        (self.state / "halcyon").symlink_to(elsewhere)
        self.check_nothing_is_kept("1.h5", "halcyon")
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_where_nothing_can_be_written_one_line_says_so(self):
        self.check_nothing_is_kept("1.h5", "/proc/nowhere", XDG_STATE_HOME="/proc/nowhere")
        self.check_nothing_is_kept("2.h5", "HOME", XDG_STATE_HOME="", HOME="")

    def test_a_damaged_record_is_told_of_once_and_replaced(self):
        self.know_a_run()
        record = self.record()
        whole = record.read_text()
        target = self.directory / "target"
        target.write_text("not ours")

        def write(text):
            record.write_text(text)

        def link():
            record.unlink()
            record.symlink_to(target)

        def pipe():
            record.unlink()
            os.mkfifo(record)

        damages = ((lambda: write("{"), "is damaged"),
                   (lambda: write(whole[:len(whole) // 2]), "is damaged"),
                   (lambda: write(DEEPER_THAN_ANY_RECORD), "is damaged"),
                   (lambda: write(" " * LARGER_THAN_ANY_RECORD), "is larger than any record"),
                   (lambda: record.chmod(0o666), "is writable by others"),
                   (link, "cannot open"),
                   (pipe, "is not a file"))
        for number, (damage, reason) in enumerate(damages):
            with self.subTest(reason, number=number):
                damage()
                listed = self.halcyon("baselines", "list")
                self.assertEqual(listed.status, 0, listed)
                self.assertEqual(len(listed.errors.splitlines()), 1, listed)
                self.assertIn(reason, listed.errors)
                finished = self.run_of(f"damaged{number}.h5")
                told = [line for line in finished.errors.splitlines() if reason in line]
                self.assertEqual(len(told), 1, finished)
                self.assertNotIn("known run ", finished.errors)
                self.assertEqual(len(self.works()), 1)
        self.assertEqual(target.read_text(), "not ours")

    def test_what_was_not_exported_is_not_imported(self):
        self.know_a_run()
        damaged = self.exported()
        damaged["works"][0]["groups"][0]["segments"] = -1  # tests/unit/cli/kept damages every field
        elsewhere = str(self.scratch_directory())
        finished = self.import_of(damaged, XDG_STATE_HOME=elsewhere)
        self.assertEqual((finished.status, finished.output), (2, ""), finished)
        self.assertRegex(finished.errors, r"^halcyon: work 1 of imported.json: in a group, its segments .*\n$")
        for text in ("", "{}", "[]", "null", "\x00", '{"kind": 7}', DEEPER_THAN_ANY_RECORD):
            (self.directory / "imported.json").write_text(text)
            self.assertIn("export", self.refused("import", "imported.json", XDG_STATE_HOME=elsewhere))
        self.assertIn("missing.json", self.refused("import", "missing.json", XDG_STATE_HOME=elsewhere))


if __name__ == "__main__":
    halcyon_test.main()
