"""The grammar of SPIR-V as data: instructions, operand kinds, extended instructions.

Reader, writer, assembler, disassembler and validator are derived from one table
(`data/grammar.txt`), which is read when first used.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.text_tables import table_rows

MAGIC = 0x07230203


@lazy_dataclass(frozen=True)
class OperandSpec:
    """One operand: its kind, `?` (optional) or `*` (repeated), and its name."""

    kind: str
    quantifier: str = ""
    name: str = ""


@lazy_dataclass(frozen=True)
class Instr:
    """One core or extended instruction."""

    name: str
    opcode: int
    kind: str
    capabilities: tuple[str, ...]
    operands: tuple[OperandSpec, ...]
    has_type: bool
    has_result: bool
    simple: bool
    """Every operand is one word: ids and plain enums only."""
    required: int
    """The minimum number of operand words."""


@lazy_dataclass(frozen=True)
class Enumerant:
    """A member of an enum, with the operands that follow it."""

    name: str
    value: int
    capabilities: tuple[str, ...]
    parameters: tuple[OperandSpec, ...]


@lazy_dataclass()
class EnumKind:
    """An operand kind whose values have names; of several names for a value the first is shown."""

    name: str
    is_mask: bool
    by_value: dict[int, Enumerant] = field(default_factory=dict)
    by_name: dict[str, Enumerant] = field(default_factory=dict)

    def split(self, value: int) -> list[Enumerant] | None:
        """The members that make up `value`; None if it has unknown bits."""
        exact = self.by_value.get(value)
        if not self.is_mask:
            return None if exact is None else [exact]
        if value == 0:
            return [exact] if exact is not None else []
        found = []
        bit = 1
        while value:
            if value & bit:
                member = self.by_value.get(bit)
                if member is None:
                    return None
                found.append(member)
                value &= ~bit
            bit <<= 1
        return found


@lazy_dataclass()
class ExtendedSet:
    """A set of extended instructions."""

    name: str
    by_opcode: dict[int, Instr] = field(default_factory=dict)
    by_name: dict[str, Instr] = field(default_factory=dict)


@lazy_dataclass()
class Grammar:
    """The whole table."""

    by_opcode: dict[int, Instr] = field(default_factory=dict)
    by_name: dict[str, Instr] = field(default_factory=dict)
    enums: dict[str, EnumKind] = field(default_factory=dict)
    pairs: dict[str, tuple[str, str]] = field(default_factory=dict)
    extended: dict[str, ExtendedSet] = field(default_factory=dict)


_ONE_WORD = frozenset({"IdRef", "IdResult", "IdResultType", "IdScope", "IdMemorySemantics"})


def _operand(text: str) -> OperandSpec:
    kind, _, name = text.partition(":")
    quantifier = kind[-1] if kind[-1] in "?*" else ""
    return OperandSpec(kind.rstrip("?*"), quantifier, name)


def _capabilities(text: str) -> tuple[str, ...]:
    return () if text == "-" else tuple(text.split("|"))


def _instr(name: str, number: str, kind: str, capabilities: str, operands: list[str]) -> Instr:
    specs = tuple(map(_operand, operands))
    kinds = {s.kind for s in specs}
    return Instr(
        name,
        int(number),
        kind,
        _capabilities(capabilities),
        specs,
        "IdResultType" in kinds,
        "IdResult" in kinds,
        kinds <= _ONE_WORD,
        sum(1 for s in specs if not s.quantifier),
    )


@cache
def grammar() -> Grammar:
    """The table, read once."""
    table = Grammar()
    enum = EnumKind("", False)
    for line in table_rows(Path(__file__).with_name("data") / "grammar.txt"):
        form, *rest = line.split(" ")
        if form == "op":
            op = _instr(rest[0], rest[1], rest[2], rest[3], rest[4:])
            table.by_opcode.setdefault(op.opcode, op)
            table.by_name[op.name] = op
        elif form == "enum":
            enum = EnumKind(rest[0], rest[1] == "mask")
            table.enums[rest[0]] = enum
        elif form == ".":
            parameters = tuple(map(_operand, rest[3:]))
            member = Enumerant(rest[0], int(rest[1]), _capabilities(rest[2]), parameters)
            enum.by_value.setdefault(member.value, member)
            enum.by_name[member.name] = member
        elif form == "pair":
            table.pairs[rest[0]] = (rest[1], rest[2])
        else:
            group = table.extended.setdefault(rest[0], ExtendedSet(rest[0]))
            op = _instr(rest[1], rest[2], "Extended", "-", rest[3:])
            group.by_opcode.setdefault(op.opcode, op)
            group.by_name[op.name] = op
    return table


@cache
def opcode(name: str) -> int:
    """Number of a core instruction: `opcode("OpFAdd")`."""
    return grammar().by_name[name].opcode


@cache
def value_of(kind: str, name: str) -> int:
    """Number of an enumerant: `value_of("StorageClass", "Uniform")`."""
    return grammar().enums[kind].by_name[name].value


@cache
def name_of(kind: str, value: int) -> str:
    """Name of an enumerant, or its number where it has none."""
    member = grammar().enums[kind].by_value.get(value)
    return str(value) if member is None else member.name
