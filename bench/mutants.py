#!/usr/bin/python3
"""Which changes of the code no unit test sees: a table of kinds, and the changes that survived, on standard output.

usage: bench/mutants.py [--count N] [--seed N] [--minutes N] [--build DIR] [--tests DIR] [--log FILE] [--again]
                        [--at FILE:LINE]... [--near] [DIR...]

Changes one thing at a time in the sources of DIR (analyzer and libprofile/merge): an operator, a constant, a condition,
a value returned, a statement. The changed source is compiled beside the tree, which stays as it is, and linked in front
of its library into the library's unit tests: first those of the source's directory run, then the others, until one
fails. --count changes are drawn of all by --seed; after --minutes no new one begins. --tests is a build with the unit
tests; --build has the libraries, source by source, so that what changes is seen by all:

  cmake --preset release && cmake --build --preset release
  cmake --preset release -B build/separate -DHALCYON_UNITY_BUILD=OFF
  ninja -C build/separate halcyon_recover halcyon_analyzer halcyon_series halcyon_site halcyon_online

Each outcome is a line of JSON in --log, and not found again; --again judges those that survived there anew, after tests
were added. --at changes everything on one line; --near runs only the tests of the source's directory. What survives is
equivalent, a matter of cost, or a missing test: a person must look. Never passes or fails.
"""
import argparse
import json
import random
import re
import resource
import shlex
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
MOST_MEMORY = 32 << 30  # bytes of address space: some tests start hundreds of threads
SLOW = "*4096Ranks"  # a test that costs more than all others of its program
NUMBER = r"(?<![\w.])(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e-?\d+)?)(?=[FU]?[^\w.'])"
SWAPPED = {"comparison": "< <=  <= <  > >=  >= >  == !=  != ==", "direction": "< >  > <  <= >=  >= <=",
           "arithmetic": "+ -  - +  * /  / *  += -=  -= +=  *= /=  /= *=  % *", "logic": "&& ||  || &&"}
WORDS = {"std::min": "std::max", "std::max": "std::min", "true": "false", "false": "true", "low": "high", "high": "low"}


@dataclass(frozen=True)
class Mutant:
    file: str
    begin: int  # of what is replaced
    end: int
    new: str
    kind: str

    def line(self, text):
        return text.count("\n", 0, self.begin) + 1
    def key(self, text):  # the same in later runs, though lines above may have moved
        start, stop = text.rfind("\n", 0, self.begin) + 1, text.find("\n", self.end)
        return f"{self.file}: {text[start:self.begin]}[{text[self.begin:self.end]} -> {self.new}]{text[self.end:stop]}"


def code_of(text):
    """The text with what is no code blanked: comments, literals, directives, and what only a compiler sees."""
    blank = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^\s*#[^\n]*|\bstatic_assert\(.*?\);"
                       r"|^template[^\n]*|\boperator\S+", re.S | re.M)
    return blank.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def closing(code, at):
    """Behind the bracket that closes the one at this place."""
    depth = 1
    while depth > 0:
        at += 1
        depth += (code[at] in "([{") - (code[at] in ")]}")
    return at + 1


def mutants_of(file):
    text = (SOURCE / file).read_text()
    code = code_of(text)
    found = []
    def add(begin, end, new, kind):
        found.append(Mutant(file, begin, end, new, kind))

    for kind, words in SWAPPED.items():
        swaps = dict(zip(words.split()[::2], words.split()[1::2]))
        for match in re.finditer(r"(?<=[\w)\]}] )(\+=|-=|\*=|/=|<=|>=|==|!=|&&|\|\||[-+*/%<>])(?= [-!\w(*{])", code):
            if match[1] in swaps:
                add(*match.span(), swaps[match[1]], kind)
    for match in re.finditer(NUMBER, code):
        whole = re.fullmatch(r"\d+|0x.*", match[0])
        add(*match.span(), f"({match[0]} + 1)" if whole or float(match[0]) == 0.0 else f"({match[0]} * 1.5)", "constant")
    for match in re.finditer(r"\b(if|while) \(", code):
        end = closing(code, match.end() - 1)
        if ";" in code[match.end():end] or re.match(r"\s*(const )?[\w:<>*&]+ \w+ = ", code[match.end():end]):
            continue  # it declares something
        for always in ("false", "true")[:1 + (match[1] == "if")]:
            add(match.end(), end - 1, always, "condition")
    for match in re.finditer(r"(?<= )\? (?=[^;])", code):
        add(match.start(), match.start() + 1, "&& false ?", "condition")
    for match in re.finditer(r"\breturn ([^;]+);", code):
        if match[1] not in ("{}", "std::nullopt"):
            add(match.start(1), match.end(1), "{}", "return")
    # A statement that is no declaration: a call, an assignment, a step.
    for match in re.finditer(r"(?<=[;{})\n] )(?=\S)((?:--|\+\+)?[\w.\->:*]+(?:\[[^;]*\])?(?:\([^;]*\)| [-+*/|&]?= [^;]*|\+\+|--)?);"
                             r"|\b(?:continue|break);", code):
        if not match[0].startswith("return") and re.search(r"[(=]|\+\+|--|continue|break", match[0]):
            add(*match.span(), ";", "statement")
    for match in re.finditer(r"(?<=[ (])!(?=[\w(])", code):
        add(*match.span(), "", "condition")
    for word, other in WORDS.items():
        for match in re.finditer(rf"(?<![\w:]){re.escape(word)}(?![\w:])", code):
            add(*match.span(), other, "word")
    return found


def ninja(directory, *words):
    return subprocess.run(["ninja", "-C", directory, "-t", *words], capture_output=True, text=True, check=True).stdout


class Build:
    """Compiles and links as the build would, but elsewhere."""

    def __init__(self, directory, of_tests, scratch):
        self.directory, self.of_tests, self.scratch = directory, of_tests, scratch
        self.commands, self.tests = {}, {}  # by source; by directory, the program with its unit tests
        for entry in json.loads(ninja(directory, "compdb")):
            if entry["file"].endswith(".cpp") and Path(entry["file"]).is_relative_to(SOURCE):
                file = Path(entry["file"]).relative_to(SOURCE)
                program = re.match(r"tests/unit/CMakeFiles/(\w+)\.dir/", entry["output"])
                if program and file.is_relative_to("tests/unit"):
                    self.tests.setdefault(file.relative_to("tests/unit").parent, program[1])
                elif "/CMakeFiles/halcyon_" in entry["output"]:
                    self.commands[str(file)] = entry["command"]
        self.links, self.baselines = {}, {}

    def program(self, file):
        return self.tests.get(Path(file).parent, "unit_analyzer")

    def link(self, program):
        if program not in self.links:
            command = ninja(self.of_tests, "commands", f"bin/{program}").splitlines()[-1]
            link = next(part for part in command.split(" && ") if f" -o bin/{program}" in part)
            self.links[program] = [self.directory / word if word.endswith(".a") and (self.directory / word).exists() else
                                   word for word in shlex.split(link)]
        return list(self.links[program])

    def make(self, file, text):
        """The tests with this text in place of the file's, or None if it does not compile."""
        source, made, program = self.scratch / "mutant.cpp", self.scratch / "mutant.o", self.program(file)
        source.write_text(text)
        words = [word for word in shlex.split(self.commands[file])
                 if word not in ("-Werror", "-g1") and not word.endswith("ccache")]
        words[words.index("-o") + 1], words[words.index("-c") + 1] = made, source
        if subprocess.run([*words, "-O1", "-w"], cwd=self.directory, capture_output=True).returncode != 0:
            return None
        tests = self.scratch / program
        words = self.link(program)
        at = words.index("-o")
        words[at:at + 2] = ["-o", tests, made]
        return tests if subprocess.run(words, cwd=self.of_tests, capture_output=True).returncode == 0 else None

    def run(self, tests, pattern, seconds):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        try:
            return subprocess.run([tests, f"--gtest_filter={pattern}", "--gtest_fail_fast", "--gtest_brief=1"],
                                  cwd=self.scratch, preexec_fn=limit, capture_output=True, text=True, errors="replace",
                                  timeout=10 * seconds + 60)
        except subprocess.TimeoutExpired:
            return None

    def patterns(self, file):
        """Of the tests in the file's directory, and of all others of the program."""
        names = {name for test in (SOURCE / "tests" / "unit" / file).parent.glob("*.cpp")
                 for name in re.findall(r"^TEST(?:_F|_P)?\((\w+),", test.read_text(), re.M)}
        near = ":".join(f"*{name}.*" for name in sorted(names))
        return [f"{near}-{SLOW}", f"*-{SLOW}:{near}"] if near else [f"*-{SLOW}"]

    def baseline(self, program, pattern):
        """CPU seconds of the tests as they are; each must pass."""
        if (program, pattern) not in self.baselines:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            finished = self.run(self.of_tests / "bin" / program, pattern, 600)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if finished is None or finished.returncode != 0:
                raise SystemExit(f"{program} fails as it is: {finished and finished.stdout}")
            self.baselines[program, pattern] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return self.baselines[program, pattern]

    def outcome(self, mutant, text, near):
        tests = self.make(mutant.file, text[:mutant.begin] + mutant.new + text[mutant.end:])
        if tests is None:
            return "not compiled", ""
        for pattern in self.patterns(mutant.file)[:1 if near else None]:
            finished = self.run(tests, pattern, 2.0 * self.baseline(tests.name, pattern) + 2.0)
            if finished is None:
                return "killed", "takes too long"
            if finished.returncode != 0:
                failed = re.findall(r"\[  FAILED  \] (\S+)", finished.stdout)
                return "killed", failed[0] if failed else f"status {finished.returncode}"
        return "survived", ""


def main():
    arguments = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    arguments.add_argument("directories", nargs="*", default=["analyzer", "libprofile/merge"])
    for name, default in (("count", 300), ("seed", 1), ("minutes", 1e9), ("build", SOURCE / "build" / "separate"),
                          ("tests", SOURCE / "build" / "release"), ("log", SOURCE / "build" / "mutants.jsonl")):
        arguments.add_argument(f"--{name}", type=Path if isinstance(default, Path) else type(default), default=default)
    arguments.add_argument("--at", action="append")
    for name in ("again", "near"):
        arguments.add_argument(f"--{name}", action="store_true")
    chosen = arguments.parse_args()

    texts = {str(path.relative_to(SOURCE)): path.read_text() for directory in chosen.directories
             for path in sorted((SOURCE / directory).rglob("*.cpp"))}
    every = [mutant for file in texts for mutant in mutants_of(file)]
    log = chosen.log.read_text().splitlines() if chosen.log.exists() else []
    known = {entry["key"]: entry for entry in map(json.loads, log)}
    if chosen.at:
        sample = [mutant for mutant in every if f"{mutant.file}:{mutant.line(texts[mutant.file])}" in chosen.at]
    elif chosen.again:
        survived = {key for key, entry in known.items() if entry["outcome"] == "survived"}
        sample = [mutant for mutant in every if mutant.key(texts[mutant.file]) in survived]
    else:
        sample = random.Random(chosen.seed).sample(every, min(chosen.count, len(every)))
    end = time.monotonic() + 60.0 * chosen.minutes
    judged = {}
    with tempfile.TemporaryDirectory() as scratch, chosen.log.open("a") as log:
        build = Build(chosen.build.resolve(), chosen.tests.resolve(), Path(scratch))
        for mutant in sample:
            key = mutant.key(texts[mutant.file])
            if (key not in known or chosen.again or chosen.at) and time.monotonic() < end:
                outcome, by = build.outcome(mutant, texts[mutant.file], chosen.near)
                known[key] = {"key": key, "kind": mutant.kind, "outcome": outcome, "by": by}
                print(json.dumps(known[key]), file=log, flush=True)
            if key in known:
                judged[key] = known[key] | {"line": mutant.line(texts[mutant.file])}
    outcomes = ("killed", "survived", "not compiled")
    print(f"{len(every)} changes are possible in {len(texts)} sources; {len(judged)} were judged.\n")
    print("| kind | " + " | ".join(outcomes) + " |\n|---|" + "---|" * len(outcomes))
    counts = Counter((entry["kind"], entry["outcome"]) for entry in judged.values())
    for kind in sorted({kind for kind, _ in counts}):
        print(f"| {kind} | " + " | ".join(str(counts[kind, outcome]) for outcome in outcomes) + " |")
    print()
    for key, entry in sorted(judged.items()):
        if entry["outcome"] == "survived":
            print(re.sub(r": +", f":{entry['line']}: ", key, count=1))


if __name__ == "__main__":
    main()
