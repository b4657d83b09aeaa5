#!/usr/bin/python3
"""Makes the wrappers of a preloaded tool from mpi.table, posix.table and device.table.

usage: generate.py recorder|injector FUNCTIONS OUT.cpp
       generate.py list FUNCTIONS              (names of the functions to wrap)
       generate.py prototypes FUNCTIONS OUT.h  (their declarations, for a family of which no mpi.h is at hand)

FUNCTIONS, such as 3,4,large, are parts of the tables:
   3, 4, 4.1  what this version of the MPI standard brought
   large      the variants for large counts (_c) that these versions brought
   mpix       persistent collectives under the names that Open MPI 4 gives them (MPIX_)
   posix      the functions of posix.table
   device     those of device.table, which the recorder alone wraps

A library must export no function that the MPI library beside it lacks: programs such as mpi4py ask at run time which
functions there are.
"""
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Tool:
    header: str  # what the wrappers use
    call: str    # the class of one call of MPI
    file_call: str


TOOLS = {"recorder": Tool("libprofile/wrappers/recorder_wrappers.hpp", "RecordedCall", "RecordedFileCall"),
         "injector": Tool("intm/injected_life.hpp", "DelayedCall", "DelayedFileCall")}


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

    def is_variadic(self):
        return self.parameters and self.parameters[-1].declaration == "..."

    def variadic_twin(self):
        """The name of the function that takes in `...` what this one takes in a va_list, as printf beside vprintf."""
        takes_list = self.parameters and self.parameters[-1].declaration.startswith("va_list")
        return re.sub(r"v(?=[fd]?(?:printf|scanf))", "", self.name) if takes_list else ""

    def makes_request(self):
        """Those that complete, start or cancel a request that is there have no other parameter, or are hand-written."""
        return len(self.parameters) > 1 and any(p.declaration == "MPI_Request *request" for p in self.parameters)

    def has(self, name):
        return any(p.name == name for p in self.parameters)


@dataclass
class ConditionalFunction(Function):
    condition: str = ""  # else it is passed on, and nothing is noted


class DeviceFunction(ConditionalFunction):
    """A function of device.table."""


class FileFunction(ConditionalFunction):
    """A function of posix.table."""

    def stream(self):
        standard = re.search(r"\bstd(?:in|out)\b", self.note)
        return "stream" if self.has("stream") else standard.group() if standard else ""

    def closes(self):
        """The arguments of the note closed()."""
        match = re.search(r"\bclosed\((.*?)\)", self.note)
        return match.group(1) if match else ""

    def opens(self):
        return "opened(result)" in self.note

    def opens_path(self):
        return self.opens() and not (self.has("file") or self.has("input"))

    def files(self):
        """What the call is about, as arguments of is_file(): it is recorded if one of them is a file."""
        if self.opens_path():
            return []
        known = {"request": "request->aio_fildes", "list": "Requests{list, count}", "first": "closes"}
        files = [known.get(p.name, p.name) for p in self.parameters
                 if p.name in ("file", "onto", "input", "output", "stream", *known)]
        return files or [self.stream()] if self.stream() else files

    def moves_a_character(self):
        return self.note.startswith("character_")


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


TABLES = Path(__file__).parent
HANDLES = "Comm|Datatype|Errhandler|File|Group|Info|Message|Op|Request|Session|Win"
PARTS = {"3", "4", "4.1", "large", "mpix", "posix", "device"}


def entries(path):
    """The lines of a table without comments: a line that is indented goes on with the one before."""
    whole = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] != " ":
            if whole:
                yield whole
            whole = ""
        whole += " " + line.strip() if whole else line.strip()
    if whole:
        yield whole


def cells(text, columns, entry):
    found = [cell.strip() for cell in text.split("|", columns - 1)]
    if len(found) != columns:
        fail(f"expected {columns} columns: {entry}")
    return found


def variants_of(name, version, prototype, note, parts):
    """The functions that an entry of mpi.table stands for: names, with the parameters as they are there."""
    def spelt(count, displacement):
        return re.sub(r"\bDisplacement\b", displacement, re.sub(r"\bCount\b", count, prototype))

    usual = spelt("int", "int")
    if version in parts:
        yield f"MPI_{name}", usual
    if "large" in parts and usual != prototype and ("4" if version == "3" else version) in parts:
        yield f"MPI_{name}_c", spelt("MPI_Count", "MPI_Aint")
    if "mpix" in parts and "persistent_collective" in note:
        yield f"MPIX_{name}", usual


def read_mpi(parts):
    functions = []
    for entry in entries(TABLES / "mpi.table"):
        match = re.match(r"(\w+)\(([^()]*)\) (.*)$", entry)
        if not match:
            fail(f"mpi.table: cannot read '{entry}'")
        name, prototype, rest = match.groups()
        version, kind, note = cells(rest, 3, entry)
        boundary = ""
        root = ""
        match = re.search(r"@boundary\((\w+)(, root)?\)$", note)
        if match:
            boundary, root, note = match.group(1), match.group(2) or "", note[: match.start()].strip()
        prototype = re.sub(rf"\b(MPI_(?:{HANDLES}))(?=\s+\w+\s*(?:,|$))", r"Passed<\1>", prototype)
        for variant, parameters in variants_of(name, version, prototype, note, parts):
            functions.append(Function(variant, "int", parse_parameters(parameters), kind, note, boundary, root,
                                      ["", "P"]))
    return functions


def read_conditional(table, kind, make):
    functions = []
    for entry in entries(TABLES / table):
        prototype, note = cells(entry, 2, entry)
        match = re.match(r"(.*?[\s*])(\w+)(?:\[(\w+)\])?\((.*)\)$", prototype)
        if not match:
            fail(f"{table}: cannot read the prototype '{prototype}'")
        result, name, variant, parameters = match.groups()
        note, _, condition = note.partition(" if ")
        for spelt in [name, name + variant] if variant else [name]:
            functions.append(make(spelt, result.strip(), parse_parameters(parameters), kind, note, "", "", [""],
                                  condition))
    return functions


def read_tables(parts):
    return (read_mpi(parts) + (read_conditional("device.table", "device", DeviceFunction) if "device" in parts else [])
            + (read_conditional("posix.table", "posixio", FileFunction) if "posix" in parts else []))


def pointer_type(function):
    return f"{function.result} (*)({function.declared()})"


def slots(functions):
    names = [prefix + f.name for f in functions if f.kind != "device" for prefix in f.prefixes]
    if not names:
        return []
    lines = ["enum class Slot : unsigned {"] + [f"  {name}," for name in names] + ["};", ""]
    lines += [f"const char* const slot_names[] = {{"] + [f'  "{name}",' for name in names] + ["};"]
    lines += [f"std::atomic<void*> slot_next[{len(names)}];", ""]
    lines += ["template <class Pointer>",
              "inline Pointer next_of(Slot slot) {",
              "  const auto index = static_cast<unsigned>(slot);",
              "  return reinterpret_cast<Pointer>(halcyon::next_once(slot_next[index], slot_names[index]));",
              "}", ""]
    files = [f for f in functions if f.kind == "posixio"]
    if files:
        # A signal handler may be the first to call one of them, and must not meet the loader's locks.
        lines += ["[[gnu::constructor]] void find_functions_of_libc() {",
                  f"  for (auto i = static_cast<unsigned>(Slot::{files[0].name}); i < {len(names)}; ++i) {{",
                  "    halcyon::next_once(slot_next[i], slot_names[i]);",
                  "  }",
                  "}", ""]
    return lines


def hand_written(function, tool):
    return function.kind == "life" or tool == "recorder" and function.kind.startswith("special")


def head(f, inlined):
    next_type = pointer_type(f).replace("(*)", "(*next)")
    return (f"{'[[gnu::always_inline]] static inline' if inlined else '[[gnu::noinline]] static'} {f.result} "
            f"wrap_{f.name}({', '.join(filter(None, [next_type, 'Caller caller', f.declared()]))}) {{")


def body(function, tool):
    """The wrapper itself: one static function, which every exported name of the function calls."""
    f = function
    lines = []
    kind, _, injected = f.kind.partition(":")
    if hand_written(f, tool):
        return []
    if kind == "device":
        return body_of_device_call(f)
    if kind == "posixio":
        return body_of_file_call(f, tool)
    kind = injected or kind if kind == "special" else kind
    # MPI_X and PMPI_X share it, which halves the time to compile it. Inlined into both, a call takes 2 ns less, which is
    # worth it for messages.
    lines.append(head(f, kind == "p2p"))
    lines.append(f"  {TOOLS[tool].call} call(CallClass::{kind}, caller);")
    lines.append(f"  if (!call.records()) return next({f.passed()});")
    if tool == "recorder" and "*status" in f.note:
        lines.append("  MPI_Status own_status;")
        lines.append("  if (status == MPI_STATUS_IGNORE) status = &own_status;")
    lines.append(f"  const auto result = next({f.passed()});")
    if tool == "recorder" and kind == "poll":
        found = "*flag" if f.has("flag") else "*outcount"
        lines.append(f"  if (result == MPI_SUCCESS && {found} == 0) {{")
        lines.append("    call.found_nothing();")
        lines.append("    return result;")
        lines.append("  }")
    lines.append("  call.ended();")
    if tool == "recorder":
        notes = [f"call.{note};" for note in notes_of(f)]
        if f.boundary and f.has("request"):
            notes.append(f"call.boundary_posted(*request, Boundary::{f.boundary}, comm{f.root});")
        elif f.boundary:
            notes.append(f"call.boundary(Boundary::{f.boundary}, comm{f.root});")
        if notes:
            lines += ["  if (result == MPI_SUCCESS) {", *(f"    {note}" for note in notes), "  }"]
    lines.append("  return result;")
    lines.append("}")
    return lines


def notes_of(function):
    notes = [note.strip() for note in function.note.split(";") if note.strip()]
    return ["request_made(*request)", *notes] if function.makes_request() else notes


def passed_on_unless_condition(function):
    return [f"  if (!({function.condition})) return next({function.passed()});"] if function.condition else []


def body_of_device_call(function):
    f = function
    return [head(f, False), *passed_on_unless_condition(f),
            "  RecordedDeviceCall call(caller);",
            f"  if (!call.records()) return next({f.passed()});",
            f"  const auto result = next({f.passed()});",
            "  call.ended();",
            "  if (device_succeeded(result)) {", *(f"    call.{note};" for note in notes_of(f)), "  }",
            "  return result;", "}"]


def body_of_file_call(function, tool):
    f = function
    lines = [head(f, True), *passed_on_unless_condition(f)]
    returned = "" if f.result == "void" else "result"
    go_on = f"next({f.passed()})"
    if f.closes() or f.opens():
        # Descriptors are forgotten in every call, recorded or not.
        if f.closes():
            lines.append(f"  const Closed closes = Closed::{'range' if ',' in f.closes() else 'one'}({f.closes()});")
        lines.append("  const auto go_on = [&] {")
        if f.closes():
            lines.append("    const Forgotten closed(closes);")
        lines.append(f"    return {f'forgotten({go_on})' if f.opens() else go_on};")
        lines.append("  };")
        go_on = "go_on()"
    kind = "CallClass::posixio"
    if tool == "recorder" and f.moves_a_character():
        kind = f"class_of_{'read' if 'character_from' in f.note else 'write'}({f.stream()})"
    lines.append(f"  {TOOLS[tool].file_call} call({', '.join([kind, 'caller', *f.files()])});")
    if tool == "recorder" and f.name == "write":
        lines.append("  if (!call.records()) note_inner_write(data, size);")
    lines.append(f"  if (!call.records()) return {go_on};")
    if f.closes():
        lines.append("  const unsigned files = closes.files();")
    if "taken" in f.note:
        lines.append(f"  const Taken taken({f.stream()});")
    if tool == "injector" and f.stream() and f.note:
        lines.append(f"  call.remember_buffer_of({f.stream()});")
    lines.append(f"  {f'const auto {returned} = ' if returned else ''}{go_on};")
    if f.opens_path():
        was_file = " && files == 0" if f.closes() else ""
        lines.append(f"  if (succeeded(result) && !is_file(result){was_file}) {{")
        lines.append("    call.was_no_file();")
        lines.append("    return result;")
        lines.append("  }")
    lines.append("  call.ended();")
    success = "succeeded(result)"
    if "taken" in f.note:
        success += " || taken.bytes() > 0"  # it reads up to where it fails
    for note in notes_of(f):
        condition = success
        if re.match(r"(read_from|written_to)\((input|output),", note):
            condition = f"succeeded(result) && is_file({note.split('(')[1].split(',')[0]})"
        # A descriptor is closed, too, if it could not be closed properly.
        always = note in ("closed(file)", "closed(stream)") or not returned
        note = "closed(files)" if note.startswith("closed(") else note
        lines.append(f"  {'' if always else f'if ({condition}) '}call.{note};")
    lines.append(f"  return {returned};" if returned else "  return;")
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
        find = f"next_of<{pointer_type(f)}>(Slot::{name})"
        if f.kind == "device":
            lines.append("  static constinit NextByCaller next;")
            find = f'next_of_device<{pointer_type(f)}>(next, "{name}", __builtin_return_address(0))'
        lines.append(f"  return wrap_{f.name}({', '.join(filter(None, [find, 'Caller::of_this_function()', arguments]))});")
        lines.append("}")
    if f.variadic_twin():
        name, fixed = f.variadic_twin(), f.parameters[:-1]
        declared = ", ".join([*(p.declaration for p in fixed), "..."])
        lines += [f'extern "C" HALCYON_EXPORT {f.result} entry_{name}({declared}) __asm__("{name}");',
                  f"{f.result} entry_{name}({declared}) {{", "  va_list arguments;",
                  f"  va_start(arguments, {fixed[-1].name});",
                  f"  const auto result = wrap_{f.name}(next_of<{pointer_type(f)}>(Slot::{f.name}), "
                  f"Caller::of_this_function(), {arguments});",
                  "  va_end(arguments);", "  return result;", "}"]
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


def wrappers(tool, functions):
    if tool == "injector":  # it has nothing to do there, and a variadic wrapper cannot pass its arguments on
        functions = [f for f in functions if not f.is_variadic() and f.kind != "device"]
    lines = ["// Made by libprofile/interpose/generate.py from its tables. Not to be edited.",
             f'#include "{TOOLS[tool].header}"', "#include <cstdarg>", "",
             "using namespace halcyon;", "namespace {", ""]
    lines += slots(functions) + ["}  // namespace", ""]
    lines += ["// NOLINTBEGIN"]
    for function in functions:
        lines += body(function, tool)
        lines += exported(function, tool) + [""]
    if tool == "recorder":
        lines += fortran_entries(functions)
    return lines + ["// NOLINTEND"]


def prototypes(functions):
    lines = ["/* Made by libprofile/interpose/generate.py from mpi.table. Not to be edited. */"]
    for function in functions:
        parameters = re.sub(r"Passed<(\w+)>", r"\1", function.declared()) or "void"
        lines += [f"int {prefix}{function.name}({parameters});" for prefix in function.prefixes]
    return lines


def main():
    if len(sys.argv) < 3:
        fail(__doc__.strip())
    product, parts, out = sys.argv[1], set(sys.argv[2].split(",")), sys.argv[3:]
    if parts - PARTS:
        fail(f"'{sys.argv[2]}' is not a list of {', '.join(sorted(PARTS))}")
    functions = read_tables(parts)
    if product == "list":
        print("\n".join(name for f in functions for name in (f.name, f.variadic_twin()) if name))
    elif product in TOOLS and out:
        Path(out[0]).write_text("\n".join(wrappers(product, functions)) + "\n", encoding="utf-8")
    elif product == "prototypes" and out:
        Path(out[0]).write_text("\n".join(prototypes(functions)) + "\n", encoding="utf-8")
    else:
        fail(__doc__.strip())


if __name__ == "__main__":
    main()
