#!/usr/bin/python3
"""How many results change when one constant of the analyzer changes by a fifth: a Markdown table on standard output.

usage: bench/constants.py [--draws N] [--runs DIR] [--csv FILE] [--only FILE...] [--constants A,B] [--list]

Finds the named numbers (constexpr) of analyzer/{groups,estimate,phases,evidence,judge,known,attribution}, and makes them settable in a copy
of the tree, build/constants/tree (bench/tuned.hpp). A program of that copy (bench/constants.cpp) judges runs of laws
(bench/laws.hpp), the profiles *.h5 below DIR, and those of tests/reads_older_profiles: first with every constant at its
value, then with each alone at 0.8 and 1.2 times that. What one call found is kept in the CSV, and not computed again;
--draws 2 takes about an hour on two processors. Sizes of arrays and other numbers that only a compiler knows are listed,
but not changed. --list prints the constants and changes nothing. Never passes or fails.

A comment that begins with "Numerics", beside a constant or above its paragraph, says that it is no assumption: it only
decides how finely something is computed. The table has those apart, and those that follow from others.

With --check, the copy's results at the constants' values are compared with those of the tree as it is.
"""
import argparse
import csv
import gzip
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from programs import SOURCE, machine

FOLDERS = ("groups", "estimate", "phases", "evidence", "judge", "known", "attribution")
WORK = SOURCE / "build" / "constants"
FACTORS = (0.8, 1.2)
EVERYDAY = {0.0, 0.01, 0.5, 1.0, 2.0, 100.0, 1e3, 1e-3, 1e9, 1e-9}
KNOWN_TO_THE_COMPILER = WORK / "known_to_the_compiler.txt"  # found by earlier builds
COMPILE_TIME = "structure: the compiler must know it"
ASSUMED, NUMERICS, DERIVED = KINDS = ("What is assumed", "How finely it is computed", "What follows from others, or is no number")
COLUMNS = ("constant", "factor", "runs", "read by", "verdicts", "numbers", "small", "most", "intervals", "most of ends",
           "width", "error", "causes", "warnings", "phases", "others", "failed")

# `constexpr TYPE NAME = VALUE;` or `constexpr TYPE NAME{VALUE};`, not a function
DECLARATION = re.compile(r"^(?P<indent> *)(?P<kind>(?:(?:inline|static) )*)constexpr (?P<type>[\w:]+(?:<[^;={]*?>)?) "
                         r"(?P<name>\w+)(?P<value>(?: =\s|\{)[^;]*);(?P<behind>[^\n]*)$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.'])\d[\d']*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.'])")
NUMERIC = re.compile(r"(?:double|float|int|long|unsigned|(?:std::)?(?:size_t|ptrdiff_t|u?int\d+_t)|Eigen::Index)$")


@dataclass
class Constant:
    file: str
    name: str
    type: str
    value: str
    comment: str
    scope: str      # global, local, class
    begin: int      # of the declaration in the file's text
    end: int
    line: int
    inline: bool
    is_numerics: bool = False
    why_not: str = ""  # changed

    @property
    def kind(self):
        if self.is_numerics:
            return NUMERICS
        names_others = re.search(r"(?<![\w:'.])(?!std\b)[a-z]\w{3,}\b(?!\s*[:(<])", self.value)
        return DERIVED if names_others or "std::n" in self.value or self.why_not not in ("", COMPILE_TIME) else ASSUMED

    @property
    def key(self):
        return f"{self.file}:{self.name}" + (f":{self.line}" if self.scope == "local" else "")


def comment_of(text, found):
    """What is said behind a constant, and above it or the paragraph that it is part of."""
    behind = found["behind"].partition("//")[2].strip()
    follows = text[found.end():].split("\n")[1:]
    for line in follows:  # a comment behind goes on below, aligned
        if not behind or not re.match(r" {20,}// ", line):
            break
        behind += " " + line.strip().removeprefix("// ")
    above = []
    lines = text[:found.start()].split("\n")[:-1]
    while lines and lines[-1].strip().startswith("//"):
        above.insert(0, lines.pop().strip().lstrip("/").strip())
    if not above and not behind:  # that of the paragraph
        while lines and "constexpr" in lines[-1]:
            lines.pop()
            comment = []
            while lines and lines[-1].strip().startswith("//"):
                comment.insert(0, lines.pop().strip().lstrip("/").strip())
            if comment:
                above = ["(with others)", *comment]
                break
    return "; ".join(part for part in (" ".join(above), behind) if part)


def is_numerics(text, found, comment):
    """By the constant's own comment, or by the one above its paragraph."""
    if "Numerics" in comment:
        return True
    head = ""
    for line in reversed(text[:found.start()].split("\n")[:-1]):
        if not line.strip().startswith("//") and "constexpr" not in line:
            break
        head = line
    return head.strip().lstrip("/ ").startswith("Numerics")


def constants_of(path, text):
    found_all = []
    for found in DECLARATION.finditer(text):
        value = found["value"].removeprefix(" =").strip()
        indent, kind = found["indent"], found["kind"]
        scope = "global" if not indent else "class" if "static" in kind else "local"
        comment = comment_of(text, found)
        found_all.append(Constant(str(path), found["name"], found["type"], value, comment, scope, found.start(),
                                  found.end("value") + 1, text[:found.start()].count("\n") + 1, "inline" in kind,
                                  is_numerics(text, found, comment)))
    return found_all


def scaled_literals(value):
    """Of an array: each number that stands alone between braces and commas."""
    return re.sub(r"(?<=[{ ])(-?" + NUMBER.pattern + r")(?=\s*[,}])", r"scaled(\1)", value)


def say_why_not(constants):
    """Which of them are no numbers that may be changed."""
    for constant in constants:
        if not NUMERIC.match(constant.type):
            if scaled_literals(constant.value) == constant.value:
                constant.why_not = "no number"
        elif re.fullmatch(r"\{?(?:\w+::)*[A-Za-z_]\w*\}?", constant.value) and not constant.value.startswith("std::numbers"):
            constant.why_not = f"another name of {constant.value}"
        elif "~" in constant.value or ".size()" in constant.value or re.search(r"\b(?!double\b)\w+\(", constant.value):
            constant.why_not = "structure"


def settable(constant):
    """The declaration in the copy."""
    numeric = NUMERIC.match(constant.type)
    value = f"scaled(static_cast<{constant.type}>({constant.value}))" if numeric else \
        f"{constant.type}{scaled_literals(constant.value)}" if constant.value.startswith("{") else scaled_literals(constant.value)
    kind = {"global": "inline " if constant.inline else "static ", "local": "static ", "class": "static inline "}[constant.scope]
    return (f"{kind}const {constant.type}& {constant.name} = halcyon::tuned<{constant.type}>(\"{constant.key}\", "
            f"[]([[maybe_unused]] halcyon::Scale scaled) -> {constant.type} {{ return {value}; }});")


def rewritten(text, constants):
    for constant in sorted(constants, key=lambda one: -one.begin):
        if not constant.why_not:
            indent = re.match(" *", text[constant.begin:])[0]
            declaration = settable(constant) + "\n" * text[constant.begin:constant.end].count("\n")  # lines stay
            text = text[:constant.begin] + indent + declaration + text[constant.end:]
    return text


def replaced(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


def with_kept_tables(file, text):
    """Values that the analyzer makes of constants once must be made again; what costs most is made once for all runs."""
    if file == "analyzer/estimate/law_lattice.cpp":
        return replaced(text, "static const std::vector<LatticePlace> places = make_places();",
                        "static const auto& places = halcyon::made_of_tuned<std::vector<LatticePlace>>(\"places\", "
                        "[] { return make_places(); });")
    if file == "analyzer/estimate/compound.cpp":
        text = replaced(text, "namespace halcyon {\nnamespace {",
                        "namespace halcyon { RunEstimate kept_estimate(const JudgedDurations& run, Detail detail);"
                        " std::vector<Explanation> kept_explanations(const Cells& cells, double wide_jitter, bool may_be_two_kinds);\nnamespace {")
        text = replaced(text, "explain(groups[i].cells, laws, ", "kept_explanations(groups[i].cells, ")
        text = replaced(text, "                                DurationLaws& laws) {", "                                DurationLaws&) {")
        return replaced(text, "  DurationLaws laws;\n  return estimate_compound(run, detail, laws);",
                        "  return kept_estimate(run, detail);\n")
    if file == "analyzer/attribution/time_pattern.cpp":
        text = replaced(text, "namespace halcyon {\nnamespace {",
                        "namespace halcyon { std::vector<double> kept_spectrum(std::vector<double>, std::size_t,"
                        " std::vector<double> (*)(std::vector<double>, std::size_t));\nnamespace {")
        return replaced(text, "= spectrum(excess.bins, 2 * most_periods + 1);",
                        "= kept_spectrum(excess.bins, 2 * most_periods + 1, spectrum);")
    return text


def all_constants():
    found = []
    for folder in FOLDERS:
        for path in sorted((SOURCE / "analyzer" / folder).iterdir()):
            if path.suffix in (".cpp", ".hpp"):
                found += constants_of(path.relative_to(SOURCE), path.read_text())
    say_why_not(found)
    of_earlier = KNOWN_TO_THE_COMPILER.read_text().split("\n") if KNOWN_TO_THE_COMPILER.exists() else []
    for constant in found:
        if constant.key in of_earlier:
            constant.why_not = COMPILE_TIME
    return found


def unnamed_numbers(folder, constants):
    """How many numbers with a point or an exponent stand in the code itself, but for those that every formula has."""
    count = 0
    for path in sorted((SOURCE / "analyzer" / folder).iterdir()):
        text = path.read_text()
        for constant in sorted((one for one in constants if SOURCE / one.file == path), key=lambda one: -one.begin):
            text = text[:constant.begin] + text[constant.end:]
        code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', "", text)
        count += sum(("." in number or "e" in number) and float(number.replace("'", "")) not in EVERYDAY
                     for number in NUMBER.findall(code))
    return count


def copy_tree(tree):
    """The tracked files and those of this program. What is unchanged keeps its time, so that it is not built again."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=SOURCE, stdout=subprocess.PIPE,
                            text=True, check=True).stdout.split("\n")
    for name in filter(None, listed):
        if (SOURCE / name).is_file():
            write_if_changed(tree / name, (SOURCE / name).read_bytes(), SOURCE / name)


def write_if_changed(path, content, like=None):
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if like:
        shutil.copymode(like, path)


def build(tree, jobs, *options):
    """True if it was built. The messages are in build.log."""
    if not (tree / "build" / "release" / "build.ninja").exists():
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "--preset", "release", *options, *launcher], cwd=tree,
                       stdout=subprocess.DEVNULL, check=True)
    finished = subprocess.run(["nice", "-n", "15", "ninja", "-C", "build/release", "-k", "0", f"-j{jobs}", "constants"], cwd=tree,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    (WORK / "build.log").write_text(finished.stdout)
    return finished.returncode == 0


def keep_compile_time(constants):
    """Of the messages of a failed build: which constants must be known to the compiler. How many more there are now."""
    more = 0
    messages = (WORK / "build.log").read_text()
    needed = set(re.findall(r"the value of [‘'](?:[^’'\n]*::)?(\w+)[’'] is not usable in a constant expression", messages))
    needed |= set(re.findall(r"[‘'](?:[^’'\n]*::)?(\w+)[’'] was not initialized with a constant expression", messages))
    needed |= set(re.findall(r"reference [‘'](?:[^’'\n]*::)?(\w+)[’'] is not usable", messages))
    lines = set(re.findall(r"(analyzer/\w+/\w+\.[ch]pp):(\d+):\d+: error", messages))
    for constant in constants:
        if not constant.why_not and (constant.name in needed or (constant.file, str(constant.line)) in lines):
            constant.why_not = COMPILE_TIME
            more += 1
    return more


def make_copy(constants, jobs):
    tree = WORK / "tree"
    copy_tree(tree)
    lists = tree / "bench" / "CMakeLists.txt"
    write_if_changed(lists, ((SOURCE / "bench" / "CMakeLists.txt").read_text() + """
add_executable(constants constants.cpp draw.cpp laws.cpp)
target_link_libraries(constants PRIVATE halcyon_analyzer halcyon_truth halcyon_format CLI11::CLI11 fmt::fmt)
""").encode())
    names = {}
    for constant in constants:
        names.setdefault(constant.file, []).append(constant)
    files = {*names, "analyzer/estimate/law_lattice.cpp", "analyzer/estimate/compound.cpp", "analyzer/attribution/time_pattern.cpp"}
    while True:
        for file in sorted(files):
            text = rewritten((SOURCE / file).read_text(), names.get(file, []))
            text = with_kept_tables(file, text)
            # Before anything else, but behind `#pragma once` of a header, in the same line: numbers of lines stay.
            include = '#include "bench/tuned.hpp"\n#line 1\n'
            write_if_changed(tree / file, (include + text).encode())
        print("building the copy", file=sys.stderr)
        if build(tree, jobs, "-DHALCYON_UNITY_BUILD=OFF"):
            return tree / "build" / "release" / "bench" / "constants"
        if not keep_compile_time(constants):
            sys.exit(f"The copy cannot be built: {WORK / 'build.log'}")
        KNOWN_TO_THE_COMPILER.write_text("".join(f"{constant.key}\n" for constant in constants if constant.why_not == COMPILE_TIME))


def stored_profiles(runs):
    unpacked = WORK / "profiles"
    unpacked.mkdir(parents=True, exist_ok=True)
    for packed in sorted((SOURCE / "tests" / "reads_older_profiles").glob("*.h5.gz")):
        write_if_changed(unpacked / packed.name.removesuffix(".gz"), gzip.decompress(packed.read_bytes()))
    return sorted(unpacked.glob("*.h5")) + (sorted(runs.rglob("*.h5")) if runs and runs.is_dir() else [])


def rows_of(path):
    if not path.exists():
        return {}
    with path.open() as lines:
        return {(row["constant"], float(row["factor"])): row for row in csv.DictReader(lines)}


def measure(program, keys, arguments, kept):
    """Appends to the CSV what it does not have yet."""
    rows = rows_of(kept)
    missing = [key for key in keys if any((key, factor) not in rows for factor in FACTORS)]
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(",".join(COLUMNS) + "\n")
    if not missing:
        return
    files = WORK / "profiles.txt"
    if not files.exists() or not rows:  # the same for all parts of a table
        files.write_text("".join(f"{path}\n" for path in stored_profiles(arguments.runs)))
    options = ["--draws", str(arguments.draws), "--files", str(files), "--jobs", str(arguments.jobs)]
    with kept.open("a") as output:
        subprocess.run(["nice", "-n", "15", program, *options, *(f"--key={key}" for key in missing)], stdout=output, check=True)


def check(program, arguments):
    """The same runs, judged by the tree as it is: built beside the copy, with constants that nobody made settable."""
    plain = WORK / "plain"
    copy_tree(plain)  # bench/constants.cpp is part of it, and runs, but changes nothing there
    write_if_changed(plain / "bench" / "CMakeLists.txt", (WORK / "tree" / "bench" / "CMakeLists.txt").read_bytes())
    if not build(plain, arguments.jobs):
        sys.exit(f"The tree cannot be built: {WORK / 'build.log'}")
    files = WORK / "profiles.txt"
    files.write_text("".join(f"{path}\n" for path in stored_profiles(arguments.runs)))
    options = ["--base", "--draws", str(arguments.draws), "--files", str(files)]
    outputs = [subprocess.run(["nice", "-n", "15", binary, *options], stdout=subprocess.PIPE, text=True, check=True).stdout
               for binary in (program, plain / "build" / "release" / "bench" / "constants")]
    differ = sum(a != b for a, b in zip(*(output.split("\n") for output in outputs)))
    print(f"{differ} of {len(outputs[0].splitlines())} runs differ between the copy and the tree.")


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def shortened(text, most=60):
    return text if len(text) <= most else text[:most] + "…"


def nothing_at_all(down, up):
    return all(int(row["verdicts"]) == 0 and float(row["most"]) <= 0.1 and not row["failed"] for row in (down, up))


def nothing_told(down, up):
    return all(int(row[what]) == 0 for row in (down, up) for what in ("causes", "warnings", "phases", "others", "intervals"))


def effect(rows):
    return max((1e6 if row["failed"] else 100.0 * int(row["verdicts"]) + float(row["most"])) for row in rows)


def print_row(constant, rows):
    name = f"{constant.file.removeprefix('analyzer/')}: `{constant.name}`"
    value = shortened(cell(re.sub(r"\s+", " ", constant.value)))
    meaning = cell(re.sub(r"Numerics[:.]? ?", "", constant.comment)) or "–"
    if not rows:
        print(f"| {name} | `{value}` | {meaning} | {constant.why_not or 'not measured'} | – | – | – | – |")
        return
    both = lambda show: " / ".join("fails" if row["failed"] else show(row) for row in rows)
    print(f"| {name} | `{value}` | {meaning} | {rows[0]['read by']} | {both(lambda row: row['verdicts'])} "
          f"| {both(lambda row: str(max(int(row[what]) for what in ('intervals', 'causes', 'warnings', 'phases'))))} "
          f"| {both(lambda row: format(float(row['most']), '.1f'))} | {both(lambda row: format(float(row['error']), '+.2f'))} |")


def print_table(constants, rows, arguments):
    measured = {constant.key: tuple(rows[constant.key, factor] for factor in FACTORS) for constant in constants
                if all((constant.key, factor) in rows for factor in FACTORS)}
    if not measured:
        sys.exit("Nothing was measured.")
    counts = {row["runs"] for pair in measured.values() for row in pair}
    if len(counts) > 1:
        sys.exit(f"The CSV has results of different sets of runs ({', '.join(sorted(counts))} runs): begin a new one.")
    runs = counts.pop()
    left = sum(not constant.why_not and constant.key not in measured for constant in constants)
    print("# The constants of the analyzer\n\n"
          "For those who change the analysis or doubt it: each named number, and what depends on it. Made by\n"
          f"`bench/constants.py --draws {arguments.draws}` on {date.today()}: {machine()}.\n\n"
          f"{runs} runs: {arguments.draws} of each law of `bench/laws.cpp`, a quarter of them once more with known runs, and stored\n"
          "profiles. At 0.8 / 1.2 times the value: how many verdicts change, how many of the other results that reports tell\n"
          "(intervals by more than 1 point, causes, warnings, phases; the largest), by how many points the estimate moves\n"
          "most, and how the mean error of the laws changes, in points. Steps of grids, limits of iterations and sizes of\n"
          "samples are no assumptions: they should change nothing.\n")
    if left:
        print(f"**Not complete:** {left} constants are not measured yet; no total below has them.\n")
    for kind in KINDS:
        of_kind = [constant for constant in constants if constant.kind == kind]
        print(f"## {kind}\n")
        print("| constant | value | unit, meaning, source | read by runs | verdicts | other results | estimate moves | mean error |")
        print("|---" * 8 + "|")
        for constant in of_kind:
            print_row(constant, measured.get(constant.key))
        print()

    print("## How many\n")
    print("| folder | assumed | numerics | derived | of those measured: change a verdict | change an estimate by 0.1 points "
          "| change neither | of these: nothing else, either | of these: read by no run | further numbers without a name |")
    print("|---" * 10 + "|")
    for folder in (*FOLDERS, "all"):
        of_folder = [constant for constant in constants if folder in ("all", constant.file.split("/")[1])]
        pairs = [measured[constant.key] for constant in of_folder if constant.key in measured]
        none = [pair for pair in pairs if nothing_at_all(*pair)]
        silent = [pair for pair in none if nothing_told(*pair)]
        print(f"| {folder} | " + " | ".join(str(sum(constant.kind == kind for constant in of_folder)) for kind in KINDS) +
              f" | {sum(any(int(row['verdicts']) or row['failed'] for row in pair) for pair in pairs)} "
              f"| {sum(any(float(row['most']) > 0.1 or row['failed'] for row in pair) for pair in pairs)} "
              f"| {len(none)} | {len(silent)} | {sum(int(pair[0]['read by']) == 0 for pair in silent)} "
              f"| {sum(unnamed_numbers(one, constants) for one in (FOLDERS if folder == 'all' else (folder,)))} |")

    none = [constant for constant in constants if constant.key in measured and nothing_at_all(*measured[constant.key])]
    groups = {
        "Read by no run, so that these runs do not tell whether they are needed":
            [constant for constant in none if int(measured[constant.key][0]["read by"]) == 0],
        "Read, and no result changes": [constant for constant in none if int(measured[constant.key][0]["read by"]) > 0
                                        and nothing_told(*measured[constant.key])],
        "Read, and only other results change (intervals, causes, warnings, phases, shares)":
            [constant for constant in none if int(measured[constant.key][0]["read by"]) > 0
             and not nothing_told(*measured[constant.key])]}
    print("\nNo verdict changes, and no estimate by more than 0.1 points:")
    for title, members in groups.items():
        print(f"\n**{title}** ({len(members)})\n")
        for constant in members:
            print(f"- {constant.file.removeprefix('analyzer/')}: `{constant.name}`")

    print("\n**Most effect**, by verdicts, then by the estimate\n")
    print("| constant | verdicts | numbers by more than 1 point | estimate moves | mean error |")
    print("|---" * 5 + "|")
    for key, pair in sorted(measured.items(), key=lambda item: -effect(item[1]))[:40]:
        both = lambda show: " / ".join("fails" if row["failed"] else show(row) for row in pair)
        print(f"| {key.removeprefix('analyzer/')} | {both(lambda row: row['verdicts'])} | {both(lambda row: row['numbers'])} "
              f"| {both(lambda row: format(float(row['most']), '.1f'))} | {both(lambda row: format(float(row['error']), '+.2f'))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1, help="runs of each law")
    parser.add_argument("--runs", type=Path, help="directory of stored profiles")
    parser.add_argument("--csv", type=Path, default=WORK / "constants.csv", help="file that keeps results")
    parser.add_argument("--only", nargs="+", metavar="FILE", default=[], help="only the constants of these files")
    parser.add_argument("--constants", default="", help="only these, with commas between them")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time")
    parser.add_argument("--list", action="store_true", help="print the constants, and change nothing")
    parser.add_argument("--check", action="store_true", help="compare the copy with the tree")
    parser.add_argument("--table", action="store_true", help="print the table of what the CSV has, and measure nothing")
    arguments = parser.parse_args()
    constants = all_constants()
    wanted = set(filter(None, arguments.constants.split(",")))
    if arguments.list:
        for constant in constants:
            print(f"{constant.kind}\t{constant.key}\t{constant.type}\t{' '.join(constant.value.split())}\t{constant.why_not}\t{constant.comment}")
        return
    WORK.mkdir(parents=True, exist_ok=True)
    if not arguments.table:
        program = make_copy(constants, arguments.jobs)
        if arguments.check:
            check(program, arguments)
            return
        # Those first that need no new estimates: so most of the table is there soon.
        by_cost = sorted(constants, key=lambda one: ("groups" in one.file) + 2 * ("estimate" in one.file))
        keys = [constant.key for constant in by_cost if not constant.why_not
                and (not arguments.only or any(constant.file.endswith(file) for file in arguments.only))
                and (not wanted or constant.name in wanted or constant.key in wanted)]
        measure(program, keys, arguments, arguments.csv)
    print_table(constants, rows_of(arguments.csv), arguments)


if __name__ == "__main__":
    main()
