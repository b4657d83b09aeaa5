#!/usr/bin/python3
"""Makes the wrappers of a preloaded tool from mpi.table and posix.table.

usage: generate.py recorder|injector PREPROCESSED_MPI_H MPI_TABLE POSIX_TABLE OUT.cpp
       generate.py list PREPROCESSED_MPI_H MPI_TABLE POSIX_TABLE      (names of the functions to wrap)

MPI prototypes come from the mpi.h that the tool is built for (after the preprocessor), so the table names functions
but never repeats a parameter list.
"""
import re
import sys
from dataclasses import dataclass, field


@dataclass
class Tool:
    header: str  # what the wrappers use
    call: str    # the class of one call


TOOLS = {"recorder": Tool("libprofile/wrappers/recorder_wrappers.hpp", "RecordedCall"),
         "injector": Tool("intm/injected_life.hpp", "DelayedCall")}


@dataclass
class Parameter:
    declaration: str
    name: str


@dataclass
class Function:
    name: str
    result: str
    parameters: list
    kind: str
    note: str
    boundary: str = ""
    root: str = ""  # ", root" if the boundary is half of a rooted pair
    prefixes: list = field(default_factory=list)

    def declared(self):
        return ", ".join(p.declaration for p in self.parameters)

    def passed(self):
        return ", ".join(p.name for p in self.parameters)

    def handle(self):
        """The parameter that is the open file."""
        return next(p.name for p in self.parameters if p.name in ("file", "stream"))

    def is_variadic(self):
        return self.parameters and self.parameters[-1].declaration == "..."

    def has(self, name):
        return any(p.name == name for p in self.parameters)


def fail(message):
    sys.exit(f"generate.py: {message}")


def parse_parameters(text):
    """'const void *buf, int counts[]' -> parameters with their names."""
    text = " ".join(text.split())
    if text in ("void", ""):
        return []
    parameters = []
    for declaration in text.split(","):
        declaration = declaration.strip()
        if declaration == "...":
            parameters.append(Parameter("...", "arguments"))
            continue
        match = re.search(r"(\w+)\s*((?:\[\w*\])*)$", declaration)
        if not match:
            fail(f"cannot read the parameter '{declaration}'")
        parameters.append(Parameter(declaration, match.group(1)))
    return parameters


def read_prototypes(path):
    """All 'int MPI_X(...)' and 'int MPIX_X(...)' of a preprocessed mpi.h. Handles that are ints there become Whole<>."""
    with open(path, encoding="utf-8", errors="replace") as source:
        text = re.sub(r"^#.*$", "", source.read(), flags=re.M)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    handle = r"\b(" + "|".join(re.findall(r"\btypedef\s+int\s+(MPI_\w+)\s*;", text) or [r"(?!)"]) + r")(?=\s+\w+\s*(?:,|$))"
    found = {}
    for name, parameters in re.findall(r"\bint\s+(MPIX?_\w+)\s*\(([^;{]*?)\)\s*;", text):
        found[name] = re.sub(handle, r"Whole<\1>", parameters)
    if "MPI_Init" not in found:
        fail(f"{path} declares no MPI_Init: is it a preprocessed mpi.h?")
    return found


def rows(path, columns):
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            line = line.split("#", 1)[0] if line.startswith("#") else line
            if not line.strip():
                continue
            cells = [cell.strip() for cell in line.split("|", columns - 1)]
            if len(cells) != columns:
                fail(f"{path}:{number}: expected {columns} columns")
            yield number, cells


def read_mpi(table, prototypes):
    functions = []
    for number, (name, kind, note) in rows(table, 3):
        boundary = ""
        root = ""
        match = re.search(r"@boundary\((\w+)(, root)?\)$", note)
        if match:
            boundary, root, note = match.group(1), match.group(2) or "", note[: match.start()].strip()
        variants = [f"MPI_{name}", f"MPI_{name}_c"]
        if name.endswith("_init"):
            variants.append(f"MPIX_{name}")
        for variant in variants:
            if variant in prototypes:
                parameters = parse_parameters(prototypes[variant])
                functions.append(Function(variant, "int", parameters, kind, note, boundary, root, ["", "P"]))
    return functions


def read_posix(table):
    functions = []
    for number, (prototype, note) in rows(table, 2):
        match = re.match(r"(.*?[\s*])(\w+)\((.*)\)$", prototype)
        if not match:
            fail(f"{table}:{number}: cannot read the prototype '{prototype}'")
        result, name, parameters = match.group(1).strip(), match.group(2), match.group(3)
        functions.append(Function(name, result, parse_parameters(parameters), "posixio", note, "", "", [""]))
    return functions


def pointer_type(function):
    return f"{function.result} (*)({function.declared()})"


def slots(functions):
    names = [prefix + f.name for f in functions for prefix in f.prefixes]
    lines = ["enum class Slot : unsigned {"] + [f"  {name}," for name in names] + ["};", ""]
    lines += [f"const char* const slot_names[] = {{"] + [f'  "{name}",' for name in names] + ["};"]
    lines += [f"std::atomic<void*> slot_next[{len(names)}];", ""]
    lines += ["template <class Pointer>",
              "inline Pointer next_of(Slot slot) {",
              "  const auto index = static_cast<unsigned>(slot);",
              "  return reinterpret_cast<Pointer>(halcyon::next_once(slot_next[index], slot_names[index]));",
              "}", ""]
    return lines


def hand_written(function, tool):
    return function.kind == "life" or tool == "recorder" and function.kind.startswith("special")


def body(function, tool):
    """The wrapper itself: one static function, which every exported name of the function calls."""
    f = function
    lines = []
    kind, _, injected = f.kind.partition(":")
    if hand_written(f, tool):
        return []
    kind = injected or kind if kind == "special" else kind
    next_type = pointer_type(f)
    lines.append(f"[[gnu::always_inline]] static inline {f.result} wrap_{f.name}({next_type.replace('(*)', '(*next)')}, Caller caller"
                 + (", " + f.declared() if f.parameters else "") + ") {")
    lines.append(f"  {TOOLS[tool].call} call(CallClass::{kind}, caller);")
    lines.append(f"  if (!call.records()) return next({f.passed()});")
    if tool == "recorder" and "*status" in f.note:
        lines.append("  MPI_Status own_status;")
        lines.append("  if (status == MPI_STATUS_IGNORE) status = &own_status;")
    if "was_regular" in f.note:
        lines.append(f"  const bool was_regular = is_regular({f.handle()});")
    stream = "stream" if f.has("stream") else "stdout" if "stdout" in f.note else ""
    if tool == "injector" and stream and f.note:
        lines.append(f"  call.remember_buffer_of({stream});")
    lines.append(f"  const auto result = next({f.passed()});")
    lines.append("  call.ended();")
    note = f.note if tool == "recorder" or kind == "posixio" else ""
    if note or f.boundary and tool == "recorder":
        success = "succeeded(result)" if f.kind == "posixio" else "result == MPI_SUCCESS"
        lines.append(f"  if ({success}) {{")
        if note:
            for statement in note.split(";"):
                lines.append(f"    call.{statement.strip()};")
        if f.boundary and tool == "recorder":
            if f.has("request"):
                lines.append(f"    call.boundary_posted(*request, Boundary::{f.boundary}, comm{f.root});")
            else:
                lines.append(f"    call.boundary(Boundary::{f.boundary}, comm{f.root});")
        lines.append("  }")
    lines.append("  return result;")
    lines.append("}")
    return lines


def exported(function, tool):
    """The entries of a function: MPI_X and PMPI_X, each forwarding to the next symbol of its own name."""
    f = function
    lines = []
    for prefix in f.prefixes:
        name = prefix + f.name
        arguments = f.passed()
        lines.append(f'extern "C" HALCYON_EXPORT {f.result} entry_{name}({f.declared()}) __asm__("{name}");')
        lines.append(f"{f.result} entry_{name}({f.declared()}) {{")
        if f.is_variadic():
            lines += ["  va_list arguments;", f"  va_start(arguments, {f.parameters[-2].name});",
                      f"  const auto result = wrap_{f.name}(next_of<{pointer_type(f)}>(Slot::{name}), "
                      f"Caller::of_this_function(), {arguments});",
                      "  va_end(arguments);", "  return result;", "}"]
            continue
        lines.append(f"  return wrap_{f.name}(next_of<{pointer_type(f)}>(Slot::{name}), Caller::of_this_function()"
                     + (f", {arguments}" if arguments else "") + ");")
        lines.append("}")
    return lines


def fortran_entries(functions):
    """Thunks that remember where a Fortran program called a boundary.

    MPI's Fortran layer calls MPI_X or PMPI_X itself, so the C wrapper's return address is always inside that layer. All
    Fortran arguments are addresses; passing on twelve is right for every function here, whatever their number.
    """
    addresses = ", ".join(f"void *a{i}" for i in range(12))
    passed = ", ".join(f"a{i}" for i in range(12))
    lines = []
    for function in functions:
        if not function.boundary or function.name.endswith("_c"):
            continue
        name = function.name.lower()
        # For mpi_f08, MPICH has its own names: for PMPI, for routines with buffers, and for large counts.
        in_f08 = [beginning + ending for beginning in (name, f"p{name}", name.replace("mpi", "pmpir", 1))
                  for ending in ("_f08_", "_f08ts_", "_f08ts_large_")]
        for symbol in (f"{name}_", f"p{name}_", *in_f08):
            lines += [f'extern "C" HALCYON_EXPORT void entry_{symbol}({addresses}) __asm__("{symbol}");',
                      f"void entry_{symbol}({addresses}) {{",
                      "  static std::atomic<void*> known;",
                      f'  void* next = halcyon::next_once(known, "{symbol}");',
                      "  const FortranSite site(__builtin_return_address(0));",
                      f"  reinterpret_cast<void (*)({addresses})>(next)({passed});",
                      "}", ""]
    return lines


def main():
    if len(sys.argv) < 5:
        fail(__doc__.strip())
    tool = sys.argv[1]
    if tool not in (*TOOLS, "list"):
        fail(f"'{tool}' is not recorder, injector or list")
    functions = read_mpi(sys.argv[3], read_prototypes(sys.argv[2])) + read_posix(sys.argv[4])
    if tool == "injector":  # it has nothing to do there, and a variadic wrapper cannot pass its arguments on
        functions = [function for function in functions if not function.is_variadic()]
    if tool == "list":
        print("\n".join(f.name for f in functions))
        return
    lines = ["// Made by libprofile/interpose/generate.py from mpi.table and posix.table. Not to be edited.",
             f'#include "{TOOLS[tool].header}"', "#include <cstdarg>", "",
             "using namespace halcyon;", "namespace {", ""]
    lines += slots(functions) + ["}  // namespace", ""]
    lines += ["// NOLINTBEGIN"]
    for function in functions:
        lines += body(function, tool)
        lines += exported(function, tool) + [""]
    if tool == "recorder":
        lines += fortran_entries(functions)
    lines += ["// NOLINTEND"]
    with open(sys.argv[5], "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
