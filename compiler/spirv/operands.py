"""Decodes the words of an instruction by the grammar.

Some operands depend on earlier instructions: a constant is as wide as its type, an extended
instruction belongs to the set that its first operand imported. `Context` records these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.spirv.grammar import Instr, OperandSpec, grammar, opcode
from gallette.compiler.spirv.module import Instruction, text_of

IDS = frozenset({"IdRef", "IdResult", "IdResultType", "IdScope", "IdMemorySemantics"})


class NumberType(NamedTuple):
    """The type of a literal."""

    is_float: bool
    width: int
    signed: bool

    @property
    def words(self) -> int:
        return max((self.width + 31) // 32, 1)


WORD = NumberType(False, 32, False)


class Operand(NamedTuple):
    """One operand: a number (raw bits for literals wider than a word) or a string."""

    kind: str
    value: int | str
    type: NumberType = WORD


@lazy_dataclass()
class Context:
    """Facts about ids that affect how operands are decoded."""

    numbers: dict[int, NumberType] = field(default_factory=dict)
    types: dict[int, int] = field(default_factory=dict)
    sets: dict[int, str] = field(default_factory=dict)

    def learn(self, instr: Instruction) -> None:
        """Record an instruction that was decoded."""
        words = instr.words
        if instr.opcode == _TYPE_INT and len(words) > 2:
            self.numbers[words[0]] = NumberType(False, words[1], bool(words[2]))
        elif instr.opcode == _TYPE_FLOAT and len(words) > 1:
            self.numbers[words[0]] = NumberType(True, words[1], True)
        elif instr.opcode == _IMPORT and len(words) > 1:
            self.sets[words[0]] = text_of(words, 1)[0]
        elif instr.info.has_type and instr.info.has_result and len(words) > 1:
            self.types[words[1]] = words[0]

    def extended(self, set_id: int, number: int) -> Instr | None:
        """The instruction of an imported set; None for unknown sets and numbers."""
        name = self.sets.get(set_id, "")
        group = grammar().extended.get(name)
        return None if group is None else group.by_opcode.get(number)


def following(spec_kind: str, value: int, context: Context) -> Sequence[OperandSpec] | None:
    """The operands of an enumerant; None if the value is unknown."""
    members = grammar().enums[spec_kind].split(value)
    if members is None:
        return None
    return [p for m in members for p in m.parameters]


def operands_of(instr: Instruction, context: Context) -> list[Operand]:
    """Every operand of `instr`; raises if they do not fit the grammar."""
    info = instr.info
    words = instr.words
    out: list[Operand] = []
    if info.simple:
        for spec, word in zip(info.operands, words, strict=False):
            out.append(Operand(spec.kind, word))
        repeated = bool(info.operands) and info.operands[-1].quantifier == "*"
        if repeated:
            out.extend(Operand(info.operands[-1].kind, w) for w in words[len(out) :])
        if len(words) < info.required or (len(words) > len(info.operands) and not repeated):
            raise instr.error(_count(info, len(words)))
        return out
    pending = list(reversed(info.operands))
    at = 0
    while pending:
        spec = pending.pop()
        if at == len(words):
            if spec.quantifier:
                continue
            raise instr.error(f"ends where {_spec_name(spec)} is expected")
        if spec.quantifier == "*":
            pending.append(spec)
        at = _one(instr, spec, at, context, out, pending)
    if at != len(words):
        raise instr.error(f"{len(words) - at} words too many")
    return out


def _one(
    instr: Instruction,
    spec: OperandSpec,
    at: int,
    context: Context,
    out: list[Operand],
    pending: list[OperandSpec],
) -> int:
    words, kind = instr.words, spec.kind
    if kind in IDS or kind == "LiteralInteger":
        out.append(Operand(kind, words[at]))
        return at + 1
    if kind == "LiteralString":
        text, end = text_of(words, at)
        if end < 0:
            raise instr.error("a string has no end")
        out.append(Operand(kind, text))
        return end
    if kind in grammar().enums:
        extra = following(kind, words[at], context)
        if extra is None:
            raise instr.error(f"{words[at]} is no {kind}")
        out.append(Operand(kind, words[at]))
        pending.extend(reversed(extra))
        return at + 1
    if kind in grammar().pairs:
        first, second = grammar().pairs[kind]
        if instr.opcode == _SWITCH:
            first = "LiteralContextDependentNumber"
        for part in (first, second):
            if at >= len(words):
                raise instr.error(f"ends in the middle of {_spec_name(spec)}")
            at = _one(instr, OperandSpec(part), at, context, out, pending)
        return at
    if kind == "LiteralContextDependentNumber":
        type = number_type(instr.opcode, words, context)
        if at + type.words > len(words):
            raise instr.error("the literal is cut off")
        value = words[at] | (words[at + 1] << 32 if type.words > 1 else 0)
        out.append(Operand(kind, value, type))
        return at + type.words
    if kind == "LiteralExtInstInteger":
        op = context.extended(words[at - 1], words[at])
        if op is None:
            name = context.sets.get(words[at - 1])
            if name is None:
                raise instr.error(f"%{words[at - 1]} imports no set of instructions")
            if name in grammar().extended:
                raise instr.error(f"{name} has no instruction {words[at]}")
        elif op.operands or not op.name.startswith("NonSemantic"):
            pending[:] = list(reversed(op.operands))
        out.append(Operand(kind, words[at]))
        return at + 1
    assert kind == "LiteralSpecConstantOpInteger", kind
    inner = grammar().by_opcode.get(words[at])
    if inner is None or not inner.has_result:
        raise instr.error(f"{words[at]} is no operation on constants")
    out.append(Operand(kind, words[at]))
    pending.extend(reversed([s for s in inner.operands if not s.kind.startswith("IdResult")]))
    return at + 1


def number_type(op: int, words: Sequence[int], context: Context) -> NumberType:
    """The type of a literal: that of the constant, or of a switch's selector."""
    type_id = context.types.get(words[0], 0) if op == _SWITCH else words[0]
    return context.numbers.get(type_id, WORD)


def _spec_name(spec: OperandSpec) -> str:
    return f"{spec.kind} ({spec.name.replace('_', ' ')})" if spec.name else spec.kind


def _count(info: Instr, found: int) -> str:
    return f"{found} words of operands, but {info.required} are expected"


_TYPE_INT = opcode("OpTypeInt")
_TYPE_FLOAT = opcode("OpTypeFloat")
_IMPORT = opcode("OpExtInstImport")
_SWITCH = opcode("OpSwitch")
