"""Instruction selection as a table: the instructions of a machine for each NIR opcode.

    fsub isub: add a -b
    fmin imin umin: sel{l}
    inot@1: xor.b a #1
    imul: madsh.m16 b a (madsh.m16 a b (mull.u a b))
    fabs: |a|
    bcsel: =select

A row has opcodes of NIR and an expression: an instruction, its modifiers in braces, and operands
(by default those of the opcode). `a`, `b`, `c`, `d` are the opcode's operands, `@a` is one in a
register, `#1` a number; parentheses enclose a nested instruction. `name@1` is the opcode with a
result of one bit, and `*` stands for any letters. `=select` is a method of the selector, which gets
the NIR instruction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Alu
from gallette.compiler.nir.ir.opcodes import OPCODES

_TOKEN = re.compile(r"[()]|[^\s()]+")


@lazy_dataclass(frozen=True)
class Leaf:
    """An operand of the opcode, or a number."""

    which: int  # of the operands; -1: a number
    number: int = 0
    negative: bool = False
    absolute: bool = False
    placed: bool = False  # in a register


@lazy_dataclass(frozen=True)
class Pattern:
    """An instruction, or a `method` of the selector. Without a name it is its only operand."""

    name: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Pattern | Leaf, ...] = ()
    method: str = ""


def pattern_table(module: str, name: str) -> Mapping[str, Pattern]:
    """The patterns in a file beside a module: by opcode, and by `opcode@bits`.

    A row for one opcode takes precedence over rows with `*`.
    """
    text = Path(module).with_name(name).read_text("ascii")
    found: dict[str, Pattern] = {}
    general: dict[str, Pattern] = {}
    for row in re.sub(r"(?m)^(#.*)?\n", "", text).splitlines():
        names, _, expression = row.partition(":")
        tokens = _TOKEN.findall(expression)
        for name in names.split():
            opcode = name.partition("@")[0]
            inputs = OPCODES[opcode].num_inputs if opcode in OPCODES else 1
            (general if "*" in name else found)[name] = _parsed(list(tokens), inputs)
    for glob, pattern in general.items():
        for name in OPCODES:
            if fnmatchcase(name, glob):
                found.setdefault(name, pattern)
    return found


def _parsed(tokens: list[str], inputs: int) -> Pattern:
    """The expression that begins with the tokens, up to its closing parenthesis."""
    head = tokens.pop(0)
    if head[0] == "=":
        return Pattern("", method=head[1:])
    if re.fullmatch(r"[-@|]*[abcd]\|?", head):
        return Pattern("", operands=(_leaf(head),))
    name, _, modifiers = head.rstrip("}").partition("{")
    operands: list[Pattern | Leaf] = []
    while tokens and tokens[0] != ")":
        token = tokens.pop(0)
        operands.append(_parsed(tokens, 0) if token == "(" else _leaf(token))
    if tokens:
        del tokens[0]
    if not operands:
        operands = [Leaf(k) for k in range(inputs)]
    return Pattern(name, tuple(modifiers.split()), tuple(operands))


def _leaf(token: str) -> Leaf:
    if token[0] == "#":
        return Leaf(-1, int(token[1:], 0))
    which = "abcd".index(token.strip("-@|"))
    return Leaf(which, 0, token[0] == "-", "|" in token, "@" in token)


def parts_wanted(instr: Alu) -> range:
    """The parts of the operand that an unpacking opcode returns: `_split_x`, `_split_y`, or all."""
    chosen = {"_x": range(1), "_y": range(1, 2)}
    return chosen.get(instr.op.name[-2:], range(instr.result.num_components))
