"""Runs PTX on the processor: every instruction becomes a line of C, so that a GPU's code is tested without a GPU.

It knows the instructions that NVVM writes for games; others raise. The assembler, the driver and the GPU are not
tested: that `mul.rn.f64` rounds once, to nearest, is what the PTX manual promises.
"""

import ctypes
import hashlib
import re
import shutil
import subprocess

import numpy as np

COMPILER = shutil.which("cc")
C_TYPES = {
    **{f"u{bits}": f"uint{bits}_t" for bits in (16, 32, 64)},
    **{f"s{bits}": f"int{bits}_t" for bits in (16, 32, 64)},
    **{f"b{bits}": f"uint{bits}_t" for bits in (16, 32, 64)},
    "f64": "double",
    "pred": "int",
}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "rem": "%"}
CALLS = {
    "sqrt.rn.f64": "sqrt({})",
    "rcp.rn.f64": "1.0 / {}",
    "abs.f64": "fabs({})",
    "fma.rn.f64": "fma({}, {}, {})",
    "neg.f64": "-{}",
    "not.pred": "!{}",
    "max.f64": "fmax({}, {})",
    "min.f64": "fmin({}, {})",
    "copysign.f64": "copysign({1}, {0})",
    "cvt.sat.f64.f64": "saturated({})",
    "cvt.rzi.s64.f64": "truncated({})",
    "mov.u64": "{}",
}
HEAD = """
#include <math.h>
#include <stdint.h>
#include <string.h>
static double of_bits(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static uint64_t bits_of(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
static double saturated(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
static int64_t truncated(double x) {
    return x != x ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}
"""


class Processor:
    """Stands for `compiling.cuda_code.Kernel`.

    Args:
        code: The PTX of one kernel.
        folder: Where to compile it.
        threads: Threads in a block.
    """

    def __init__(self, code, folder, threads=128):
        self._threads = threads
        # A name for each code: a library that is loaded must not be written over.
        digest = hashlib.sha256(code.encode()).hexdigest()[:16]
        source, library = folder / f"{digest}.c", folder / f"{digest}.so"
        source.write_text(in_c(code))
        flags = ["-O1", "-fPIC", "-shared", "-fno-strict-aliasing", "-ffp-contract=off", "-fwrapv"]
        subprocess.run([COMPILER, *flags, "-o", str(library), str(source), "-lm"], check=True)
        self._thread = ctypes.CDLL(str(library)).thread
        self._thread.argtypes = [ctypes.c_void_p, *[ctypes.c_uint32] * 3]

    def put(self, array):
        """Return a copy."""
        return array.copy()

    def get(self, array):
        """Return the array itself."""
        return array

    def __call__(self, threads, *arguments):
        """Let so many threads run, one after the other, and those that fill the last block."""
        words = np.array([word for argument in arguments for word in words_of(argument)], np.uint64)
        for number in range(-(-threads // self._threads) * self._threads):
            self._thread(words.ctypes.data, number % self._threads, number // self._threads, self._threads)


def words_of(argument):
    """Return an argument as numba-cuda passes it to a kernel: of an array, what Numba keeps of it."""
    if not isinstance(argument, np.ndarray):
        return [argument]
    return [0, 0, argument.size, argument.itemsize, argument.ctypes.data, *argument.shape, *argument.strides]


def in_c(code):
    """Return a C function `thread(parameters, thread in its block, block, threads in a block)` for PTX."""
    body = code[code.index("{", code.index(".entry")) + 1 : code.rindex("}")]
    lines = [HEAD, "void thread(const uint64_t *parameters, uint32_t tid, uint32_t ctaid, uint32_t ntid) {"]
    for line in body.splitlines():
        line = line.split("//")[0].strip()
        for part in filter(None, map(str.strip, line.replace("{", "{;", 1).split(";") if line == "{" else [line])):
            lines.append(statement(part.rstrip(";").strip()))
    return "\n".join([*lines, "}"])


def statement(line):
    """Return one line of PTX in C."""
    if line in ("{", "}", ""):
        return line
    if line.startswith(".pragma"):
        return ""
    if line.endswith(":"):
        return f"{label(line[:-1])}: ;"
    if line.startswith("."):
        return declaration(line)
    guard = re.fullmatch(r"@(!?)(%\w+)\s+(.*)", line)
    if guard:
        return f"if ({guard[1]}{name(guard[2])}) {statement(guard[3])}"
    operation, _, rest = line.partition("\t")
    operation = operation.strip()
    if not rest:
        operation, _, rest = line.partition(" ")
    if operation == "ret":
        return "return;"
    if operation in ("bra", "bra.uni"):
        return f"goto {label(rest.strip())};"
    operands = [one.strip() for one in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", rest) if one.strip()]
    return assignment(operation, operands)


def declaration(line):
    """Return the declaration of registers or of local memory."""
    local = re.fullmatch(r"\.local \.align (\d+) \.b8\s+(\w+)\[(\d+)\]", line)
    if local:
        return f"__attribute__((aligned({local[1]}))) unsigned char {local[2]}[{local[3]}];"
    kind, register, _, count = re.fullmatch(r"\.reg \.(\w+)\s+(%\w+)(<(\d+)>)?", line).groups()
    names = [register] if count is None else [f"{register}{number}" for number in range(int(count))]
    return f"{C_TYPES[kind]} {', '.join(f'{name(one)} = 0' for one in names)};"


def assignment(operation, operands):
    """Return an instruction that computes, loads or stores."""
    what, *middle = operation.split(".")
    kind = middle[-1] if middle else ""
    if what in ("ld", "st"):
        return memory(what, middle, kind, operands)
    target, *values = operands
    if operation.startswith("mov.b64") and target.startswith("{"):
        return f"{name(target.strip('{}').split(',')[1].strip())} = (uint32_t)(bits_of({value(values[0])}) >> 32);"
    if operation == "mov.b64" and target.startswith("%fd") != values[0].startswith("%fd"):
        return f"{name(target)} = {'of_bits' if target.startswith('%fd') else 'bits_of'}({value(values[0])});"
    if what == "setp":
        return f"{name(target)} = {comparison(middle, kind, values)};"
    if what == "selp":
        return f"{name(target)} = {value(values[2])} ? {value(values[0])} : {value(values[1])};"
    cast = f"({C_TYPES[kind]})" if kind in C_TYPES else ""
    if operation in CALLS:
        return f"{name(target)} = {CALLS[operation].format(*map(value, values))};"
    if what in ("mov", "cvta"):
        return f"{name(target)} = {value(values[0])};"
    if what in ("min", "max"):
        a, b = (f"{cast}{value(one)}" for one in values)
        return f"{name(target)} = {a} {'<' if what == 'min' else '>'} {b} ? {a} : {b};"
    if what in ("shl", "shr"):
        bits = int(kind[1:])
        a, b = value(values[0]), value(values[1])
        sign = "<<" if what == "shl" else ">>"
        beyond = f"({cast}{a} < 0 ? -1 : 0)" if kind[0] == "s" else "0"
        return f"{name(target)} = {b} < {bits} ? {cast}{a} {sign} {b} : {beyond};"
    if what == "not":
        return f"{name(target)} = ~{value(values[0])};"
    if what == "neg":
        return f"{name(target)} = -{cast}{value(values[0])};"
    if what == "cvt":
        return f"{name(target)} = ({C_TYPES[middle[-2]]})({cast}{value(values[0])});"
    if operation == "mul.hi.s64":
        a, b = (f"(__int128)(int64_t){value(one)}" for one in values)
        return f"{name(target)} = (uint64_t)(({a} * {b}) >> 64);"
    if operation == "mul.wide.s32":
        a, b = (f"(int64_t)(int32_t){value(one)}" for one in values)
        return f"{name(target)} = {a} * {b};"
    if what in OPERATORS and set(middle[:-1]) <= {"rn", "lo"}:
        a, b = (f"{cast}{value(one)}" for one in values)
        return f"{name(target)} = {a} {OPERATORS[what]} {b};"
    raise NotImplementedError(operation)


def comparison(middle, kind, values):
    """Return a comparison; of doubles, with the meaning of NaN that the suffix gives it."""
    a, b = (f"({C_TYPES[kind]}){value(one)}" for one in values)
    if middle[0] in ("nan", "num"):
        return f"{'!' if middle[0] == 'num' else ''}({a} != {a} || {b} != {b})"
    plain = middle[0].removesuffix("u") if kind == "f64" and middle[0] != "u" else middle[0]
    if plain != middle[0]:
        return f"({a} {COMPARE[plain]} {b} || {a} != {a} || {b} != {b})"
    if kind == "f64" and plain == "ne":
        return f"({a} < {b} || {a} > {b})"
    return f"{a} {COMPARE[plain]} {b}"


def memory(what, middle, kind, operands):
    """Return a load or a store, of one or two numbers."""
    place, register = (operands[1], operands[0]) if what == "ld" else operands
    if "param" in middle:
        return f"{name(register)} = parameters[{re.search(r'_param_([0-9]+)', place)[1]}];"
    base, _, offset = place.strip("[]").partition("+")
    registers = [one.strip() for one in register.strip("{}").split(",")]
    width = int(kind[1:]) // 8
    lines = []
    for number, one in enumerate(registers):
        there = f"*({C_TYPES[kind]} *)({value(base)} + {int(offset or 0) + number * width})"
        lines.append(f"{name(one)} = {there};" if what == "ld" else f"{there} = {value(one)};")
    return " ".join(lines) if len(lines) == 1 else "{ " + " ".join(lines) + " }"


def name(register):
    """Return a register's name in C."""
    return register.replace("%", "r_").replace(".", "_")


def label(written):
    """Return a label's name in C."""
    return written.replace("$", "L_")


def value(operand):
    """Return an operand in C: a register, a special register, a number, or an address."""
    if operand in ("%tid.x", "%ctaid.x", "%ntid.x"):
        return operand[1:].split(".")[0]
    if operand.startswith("%"):
        return name(operand)
    if operand.startswith("0d"):
        return f"of_bits(0x{operand[2:]}u)"
    if re.fullmatch(r"-?\d+", operand):
        number = int(operand)
        return "INT64_MIN" if number == -(2**63) else f"({number}LL)"
    return f"(uint64_t){operand}"
