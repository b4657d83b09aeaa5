"""halcyon doctor says in a few lines whether a launch command would be recorded, and what to do if not."""
import json
import os

import halcyon_test
from halcyon_test import BUILD, EXAMPLES, LIBRARY, MPI, OTHER_MPI, check_schema

PROGRAM = EXAMPLES / "halo_c"
MOST_LINES = 12


class Doctor(halcyon_test.Behaviour):

    def findings(self, *launch, status=0, **environment):
        """What the command says of each subject. It must start nothing and print no error."""
        words = ["--", *launch] if launch else []
        finished = self.halcyon("doctor", "--json", *words, **environment)
        self.assertEqual((finished.status, finished.errors), (status, ""), finished)
        report = json.loads(finished.output)
        check_schema(report, "doctor")
        self.assertEqual(report["records"], status == 0)
        text = self.halcyon("doctor", *words, **environment)
        self.assertEqual(text.status, status)
        self.assertLessEqual(len(text.output.splitlines()), MOST_LINES)
        self.assertEqual(list(self.directory.iterdir()), [])
        return {finding["subject"]: finding for finding in report["findings"]}

    def test_a_program_that_can_be_recorded(self):
        found = self.findings(*MPI.launch(2), PROGRAM)
        self.assertIn(MPI.library, found["program"]["finding"])
        self.assertIn(str(LIBRARY), found["recorder"]["finding"])
        for subject in ("launcher", "program", "recorder", "live", "files"):
            self.assertEqual(found[subject]["state"], "good", found)

    def test_the_machine_alone(self):
        self.assertEqual(list(self.findings()), ["counter", "clock", "live", "files"])

    def test_a_machine_without_hardware_counters_is_told_what_is_counted_instead(self):
        counter = self.findings()["counter"]
        if counter["state"] == "good":
            self.skipTest("this machine has hardware counters")
        self.assertIn("CPU time", counter["finding"])

    def test_a_program_of_another_mpi(self):
        program = BUILD / f"examples{OTHER_MPI.programs}" / "halo_c"
        found = self.findings(*MPI.launch(2), program, status=2)
        self.assertIn("not the launcher's MPI", found["program"]["finding"])

    def test_a_static_program(self):
        found = self.findings(*MPI.launch(2), BUILD / "tests" / "static_program", status=2)
        self.assertIn("statically", found["program"]["finding"])

    def test_no_mpi_at_all(self):
        found = self.findings("mpirun", "-np", "2", "./app", status=2, PATH=os.devnull)
        self.assertEqual(found["launcher"]["state"], "problem")

    def test_a_program_whose_name_begins_like_pythons_is_not_started(self):
        script = self.scratch_directory() / "python_job.sh"
        script.write_text("#!/bin/sh\ntouch started\n")
        script.chmod(0o755)
        self.findings(*MPI.launch(2), script)

    def test_a_directory_that_is_gone(self):
        finished = self.run_command(["sh", "-c", f"mkdir x && cd x && rmdir ../x && {BUILD}/bin/halcyon doctor --json"])
        files = json.loads(finished.output)["findings"][-1]
        self.assertEqual((finished.status, files["state"]), (2, "problem"), finished)
        self.assertIn("-o FILE", files["remedy"])


if __name__ == "__main__":
    halcyon_test.main()
