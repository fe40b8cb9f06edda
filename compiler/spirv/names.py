"""Readable names for ids: `OpName`s, and names derived from types and constants.

`%float`, `%v4float`, `%_ptr_Input_v4float`, `%int_7` need no lookup by the reader. Names are made
unique; nothing depends on them.
"""

from __future__ import annotations

import re

from gallette.compiler.spirv.grammar import name_of, opcode, value_of
from gallette.compiler.spirv.literals import format_number
from gallette.compiler.spirv.module import Module, text_of
from gallette.compiler.spirv.operands import Context

_SCALARS = {(8, 1): "char", (8, 0): "uchar", (16, 1): "short", (16, 0): "ushort"}
_SCALARS |= {(32, 1): "int", (32, 0): "uint", (64, 1): "long", (64, 0): "ulong"}
_FLOATS = {16: "half", 32: "float", 64: "double"}
_HANDLES = {
    "OpTypeVoid": "void",
    "OpTypeBool": "bool",
    "OpTypeSampler": "type_sampler",
    "OpConstantTrue": "true",
    "OpConstantFalse": "false",
}
_BUILTIN = value_of("Decoration", "BuiltIn")


class _Namer:
    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.taken: set[str] = set()

    def of(self, id: int) -> str:
        return self.names.get(id) or str(id)

    def give(self, id: int, wish: str) -> None:
        if id in self.names:
            return
        clean = re.sub(r"[^A-Za-z0-9_]", "_", wish) or "_"
        name, n = clean, 0
        while name in self.taken:
            name, n = f"{clean}_{n}", n + 1
        self.taken.add(name)
        self.names[id] = name


def friendly_names(module: Module) -> dict[int, str]:
    """A unique name for every id that is defined or used."""
    namer, context = _Namer(), Context()
    name_op, decorate = opcode("OpName"), opcode("OpDecorate")
    for instr in module.instructions:
        words = instr.words
        if instr.opcode == name_op and len(words) > 1:
            namer.give(words[0], text_of(words, 1)[0])
        elif instr.opcode == decorate and len(words) > 2 and words[1] == _BUILTIN:
            builtin = name_of("BuiltIn", words[2])
            spelled = re.sub(r"Id$", "ID", builtin).replace("Workgroup", "WorkGroup")
            namer.give(words[0], f"gl_{spelled}")
    for instr in module.instructions:
        context.learn(instr)
        wish = _wish(instr.name, instr.words, namer, context) if instr.result_id else ""
        if instr.result_id:
            namer.give(instr.result_id, wish or str(instr.result_id))
    return namer.names


def _wish(name: str, words: tuple[int, ...], namer: _Namer, context: Context) -> str:
    try:
        return _spelled(name, words, namer, context)
    except IndexError:
        return ""


def _spelled(name: str, words: tuple[int, ...], namer: _Namer, context: Context) -> str:
    of = namer.of
    if name in _HANDLES:
        return _HANDLES[name]
    if name == "OpTypeInt":
        return _SCALARS.get((words[1], words[2]), f"{'i' if words[2] else 'u'}{words[1]}")
    if name == "OpTypeFloat":
        return _FLOATS.get(words[1], f"fp{words[1]}")
    if name == "OpTypeVector":
        return f"v{words[2]}{of(words[1])}"
    if name == "OpTypeMatrix":
        return f"mat{words[2]}{of(words[1])}"
    if name == "OpTypeArray":
        return f"_arr_{of(words[1])}_{of(words[2])}"
    if name == "OpTypeRuntimeArray":
        return f"_runtimearr_{of(words[1])}"
    if name == "OpTypePointer":
        return f"_ptr_{name_of('StorageClass', words[1])}_{of(words[2])}"
    if name == "OpTypeStruct":
        return f"_struct_{words[0]}"
    if name == "OpConstant":
        type = context.numbers.get(words[0])
        if type is None:
            return ""
        bits = words[2] | (words[3] << 32 if type.words > 1 else 0)
        text = format_number(bits, type)
        spelled = text.replace("-", "n")
        return f"{of(words[0])}_{spelled}"
    return ""
