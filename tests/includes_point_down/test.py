"""A file includes only what its directory may know, as CONTRIBUTING.md says, and no two directories need each other."""
import re
from pathlib import Path

import halcyon_test
from halcyon_test import SOURCE

FLOORS = ("libprofile", "intm", "analyzer", "report", "ledger", "cli")
# Two directories of one thing, whose files may know each other
ROOMS = {("cli", "cli/describe")}


def known_by_directory():
    text = (SOURCE / "CONTRIBUTING.md").read_text()
    return {directory: set() if known == "nothing" else set(known.split())
            for directory, known in re.findall(r"^(\S+) +knows (.+)$", text, re.M)}


def includes():
    """Each include, as (file, its directory, directory of the included file, included file)."""
    for floor in FLOORS:
        for file in sorted((SOURCE / floor).rglob("*.[ch]pp")):
            for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
                path = Path(included)  # generated files, too, are named by their directory
                yield file.relative_to(SOURCE), str(file.parent.relative_to(SOURCE)), str(path.parent), included


class IncludesPointDown(halcyon_test.Behaviour):

    def test_a_file_includes_what_its_directory_may_know(self):
        known = known_by_directory()
        self.assertIn("analyzer/judge", known)
        for file, directory, of, included in includes():
            self.assertIn(directory, known, f"CONTRIBUTING.md does not say what {directory} knows")
            self.assertIn(of, {directory, *known[directory]}, f"{file} includes {included}")

    def test_what_a_directory_may_know_it_does_know(self):
        needed = {}
        for _, directory, of, _ in includes():
            needed.setdefault(directory, set()).add(of)
        for directory, known in known_by_directory().items():
            self.assertEqual(known - needed.get(directory, set()), set(), directory)

    def test_no_two_directories_need_each_other(self):
        known = known_by_directory()
        reached = {}

        def below(directory):
            if directory not in reached:
                reached[directory] = set()
                for of in known[directory]:
                    if (of, directory) not in ROOMS:
                        reached[directory] |= {of} | below(of)
            return reached[directory]
        for directory in known:
            self.assertNotIn(directory, below(directory))

    def test_the_command_knows_of_the_preloaded_libraries_what_both_must_read_alike(self):
        preloaded = ("libprofile/record", "libprofile/life", "libprofile/reduce", "libprofile/wrappers", "intm",
                     "libprofile/interpose")
        for file, directory, of, included in includes():
            if directory.startswith("cli") and of.startswith(preloaded):
                self.assertIn(included, {"intm/spec.hpp", "libprofile/interpose/mpi_names.hpp"}, file)


if __name__ == "__main__":
    halcyon_test.main()
