"""The disassembler: from a module to text, in the syntax of the standard tools."""

from __future__ import annotations

from gallette.compiler.spirv.grammar import EnumKind, grammar
from gallette.compiler.spirv.literals import format_number, quote
from gallette.compiler.spirv.module import Instruction, Module
from gallette.compiler.spirv.names import friendly_names
from gallette.compiler.spirv.operands import IDS, Context, Operand, operands_of

_COLUMN = 15
_GENERATORS = {
    0: "Khronos",
    8: "Khronos Glslang Reference Front End",
    6: "Khronos LLVM/SPIR-V Translator",
    7: "Khronos SPIR-V Tools Assembler",
}


def disassemble(module: Module, *, raw_ids: bool = False, header: bool = True) -> str:
    """The text of `module`; `raw_ids` keeps the numbers of ids."""
    names = {} if raw_ids else friendly_names(module)
    context = Context()
    lines = _header(module) if header else []
    for instr in module.instructions:
        lines.append(_line(instr, context, names))
        context.learn(instr)
    return "\n".join(lines) + "\n"


def _header(module: Module) -> list[str]:
    tool, version = module.generator >> 16, module.generator & 0xFFFF
    name = _GENERATORS.get(tool, f"Unknown({tool})")
    return [
        "; SPIR-V",
        f"; Version: {module.version_text}",
        f"; Generator: {name}; {version}",
        f"; Bound: {module.bound}",
        f"; Schema: {module.schema}",
    ]


def _line(instr: Instruction, context: Context, names: dict[int, str]) -> str:
    parts = [instr.name]
    left = ""
    inner = 0
    for operand in operands_of(instr, context):
        if operand.kind == "IdResult":
            left = f"%{names.get(int(operand.value), operand.value)} = "
            continue
        if operand.kind == "LiteralExtInstInteger":
            op = context.extended(inner, int(operand.value))
            parts.append(op.name if op is not None else str(operand.value))
            continue
        if operand.kind in IDS:
            inner = int(operand.value)
        parts.append(_text(operand, names))
    return f"{left:>{_COLUMN}}{' '.join(parts)}"


def _text(operand: Operand, names: dict[int, str]) -> str:
    kind, value = operand.kind, operand.value
    if isinstance(value, str):
        return quote(value)
    if kind in IDS:
        return f"%{names.get(value, value)}"
    enum = grammar().enums.get(kind)
    if enum is not None:
        return _enum_text(enum, value)
    if kind == "LiteralSpecConstantOpInteger":
        return grammar().by_opcode[value].name.removeprefix("Op")
    return format_number(value, operand.type)


def _enum_text(enum: EnumKind, value: int) -> str:
    return "|".join(m.name for m in enum.split(value) or ()) or "None"
