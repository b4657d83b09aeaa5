"""Man pages and completions have all that `halcyon --help` has, are well formed, and work in the shells themselves."""
import re
import shlex
import shutil
import unittest
from pathlib import Path

import halcyon_test
from halcyon_test import BUILD

SHARE = BUILD / "share"
PAGES = sorted((SHARE / "man/man1").glob("*.1"))
BASH = SHARE / "bash-completion/completions/halcyon"
ZSH = SHARE / "zsh/site-functions/_halcyon"
FISH = SHARE / "fish/vendor_completions.d/halcyon.fish"
LIBRARY_OF_BASH = Path("/usr/share/bash-completion/bash_completion")


def needs(program):
    return unittest.skipIf(shutil.which(program) is None, f"no {program}")


class ManualAndCompletions(halcyon_test.Behaviour):

    def setUp(self):
        super().setUp()
        (self.directory / "first run.h5").touch()
        (self.directory / "second.h5").touch()
        (self.directory / "sub").mkdir()

    def check(self, finished):
        self.assertEqual((finished.status, finished.errors), (0, ""), finished)
        return finished.output

    def options_of(self, *command):
        return re.findall(r"^  (?:    |-\w, )(--[\w-]+)", self.check(self.halcyon(*command, "--help")), re.M)

    def subcommands(self):
        """The subcommands and the options of each, as --help lists them."""
        listed = self.check(self.halcyon("--help")).partition("Commands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  ([a-z]+) ", listed, re.M)
        self.assertIn("run", names)
        return {name: self.options_of(name) for name in names}

    def test_every_subcommand_has_a_page_with_all_its_options(self):
        subcommands = self.subcommands()
        self.assertEqual([page.name for page in PAGES],
                         sorted(["halcyon.1", *(f"halcyon-{name}.1" for name in subcommands)]))
        for name, options in subcommands.items():
            text = self.check(self.run_command(["man", "-l", SHARE / f"man/man1/halcyon-{name}.1"], MANWIDTH="200"))
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SEE ALSO"):
                self.assertRegex(text, rf"(?m)^{heading}$", name)
            for option in options:
                self.assertRegex(text, rf"(?m)^ +(-\w, )?{option}\b", name)

    def test_the_first_page_lists_the_subcommands(self):
        text = self.check(self.run_command(["man", "-l", SHARE / "man/man1/halcyon.1"], MANWIDTH="200"))
        for name in self.subcommands():
            self.assertRegex(text, rf"(?m)^ +{name}\b")
            self.assertIn(f"halcyon-{name}(1)", text)

    @needs("groff")
    def test_groff_has_no_warnings(self):
        for page in PAGES:
            finished = self.run_command(["groff", "-man", "-Tutf8", "-k", "-ww", "-z", page])
            self.assertEqual((finished.status, finished.errors), (0, ""), page)

    @needs("mandoc")
    def test_mandoc_has_no_complaints(self):
        for page in PAGES:
            self.assertEqual(self.check(self.run_command(["mandoc", "-Tlint", "-Wwarning", page])), "", page)

    def completed_by_bash(self, line, library=None):
        """The words that bash offers for the line, which is split as readline splits it."""
        words = re.findall(r"[=:]|[^\s=:]+", line) + ([""] if line.endswith((" ", "=")) else [])
        script = f"""
            {f'source {library}' if library else ''}
            source {BASH}
            compopt() {{ :; }}  # bash's own works only during a completion
            COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)} COMP_WORDS=({' '.join(map(shlex.quote, words))})
            COMP_CWORD={len(words) - 1}
            _halcyon halcyon "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
            for reply in "${{COMPREPLY[@]}}"; do echo "$reply"; done
        """
        return sorted(self.check(self.run_command(["bash", "--norc", "-c", script])).split("\n")[:-1])

    def test_bash_completes_subcommands_and_options(self):
        subcommands = self.subcommands()
        self.assertEqual(self.completed_by_bash("halcyon "), sorted([*subcommands, "-h", "--help", "--version"]))
        self.assertEqual(self.completed_by_bash("halcyon repo"), ["report"])
        for name, options in subcommands.items():
            offered = self.completed_by_bash(f"halcyon {name} --")
            self.assertEqual([option for option in offered if option != "--"], sorted(options))

    def test_commands_within_a_command_are_completed_and_in_its_page(self):
        for line, offered in (("halcyon baselines ex", ["export"]), ("halcyon baselines forget --a", ["--all"]),
                              ("halcyon baselines import s", ["second.h5", "sub"])):
            self.assertEqual(self.completed_by_bash(line), offered)
        text = self.check(self.run_command(["man", "-l", SHARE / "man/man1/halcyon-baselines.1"], MANWIDTH="200"))
        for word in ("list", "show", "forget", "export", "import", "--all", "--output"):
            self.assertRegex(text, rf"(?m)^ +(-\w, )?{word}\b")
        self.assertIn("--all", self.check(self.halcyon("baselines", "forget", "--help")))

    def test_bash_completes_values(self):
        self.assertEqual(self.completed_by_bash("halcyon report --fail-on "), ["red", "yellow"])
        self.assertEqual(self.completed_by_bash("halcyon report --fail-on=y"), ["yellow"])
        self.assertEqual(self.completed_by_bash("halcyon run --counter "), ["auto", "cpu", "none", "papi:"])
        self.assertEqual(self.completed_by_bash("halcyon report --method c"), ["compound"])
        self.assertEqual(self.completed_by_bash("halcyon validate -o "), ["sub"])
        self.assertEqual(self.completed_by_bash("halcyon report f"), ["first run.h5"])
        self.assertEqual(self.completed_by_bash("halcyon compare second.h5 f"), ["first run.h5"])
        self.assertEqual(self.completed_by_bash("halcyon run --memory "), [])

    def test_bash_completes_the_program_behind_two_dashes(self):
        libraries = [None] + [LIBRARY_OF_BASH] * LIBRARY_OF_BASH.exists()
        for library in libraries:
            self.assertIn("mpirun", self.completed_by_bash("halcyon run --counter cpu -- mpiru", library))
            self.assertEqual(self.completed_by_bash("halcyon run -- mpirun sec", library), ["second.h5"])

    @needs("zsh")
    def test_zsh_takes_the_file_and_completes_by_it(self):
        self.check(self.run_command(["zsh", "-n", ZSH]))
        for name, options in self.subcommands().items():
            part = re.search(rf"(?s)\n    {name}\)\n(.*?)\n      ;;\n", ZSH.read_text())[1]
            for option in options:
                self.assertRegex(part, rf"[)*,'{{]{option}[=\['}}]", name)
        # zsh runs in a terminal of its own, where the script presses the key that lists completions.
        script = f"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "fpath=({ZSH.parent} \\$fpath)"
            zpty -w shell "autoload -U compinit; compinit -u -d {self.directory}/dump"
            zpty -w shell "zstyle ':completion:*' list-separator '#'; bindkey '^I' list-choices; LISTMAX=10000"
            zpty -w shell "PS1='re''ady>'"
            zpty -r -m shell line '*ready>*'  # the line editor is ready; keys that are pressed earlier may be lost
            zpty -w -n shell $1$'\\t'
            zpty -r -m shell line $2 && print -r -- $line
            zpty -d shell
        """

        def completed(line, pattern):
            return self.run_command(["timeout", "60", "zsh", "-f", "-c", script, "zsh", line, pattern])
        for line, pattern in (("halcyon ", "*validate*#*"), ("halcyon report --fail-on ", "*yellow*"),
                              ("halcyon compose sec", "*second.h5*"), ("halcyon run --", "*--spill*#*"),
                              ("halcyon run --counter cpu -- mpirun sec", "*second.h5*")):
            finished = completed(line, pattern)
            self.assertEqual(finished.status, 0, (line, finished))

    def completed_by_fish(self, line):
        finished = self.run_command(["fish", "--no-config", "-c", f"source {FISH}; complete -C {shlex.quote(line)}"],
                                    HOME=str(self.directory))
        return sorted(entry.split("\t")[0] for entry in self.check(finished).splitlines())

    @needs("fish")
    def test_fish_completes(self):
        self.check(self.run_command(["fish", "-n", FISH]))
        subcommands = self.subcommands()
        self.assertEqual(self.completed_by_fish("halcyon "), sorted(subcommands))
        for name, options in subcommands.items():
            self.assertEqual(self.completed_by_fish(f"halcyon {name} --"), sorted(options))
        self.assertEqual(self.completed_by_fish("halcyon report --fail-on "), ["red", "yellow"])
        self.assertEqual(self.completed_by_fish("halcyon compare s"), ["second.h5", "sub/"])
        self.assertEqual(self.completed_by_fish("halcyon validate -o "), ["sub/"])
        self.assertIn("mpirun", self.completed_by_fish("halcyon run --counter cpu -- mpiru"))
        self.assertEqual(self.completed_by_fish("halcyon run -- mpirun sec"), ["second.h5"])


if __name__ == "__main__":
    halcyon_test.main()
