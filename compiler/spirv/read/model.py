"""Records of a module's declarations: types, constants, blocks, functions, entry points."""

from __future__ import annotations

from typing import Any, TypeAlias

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction

Data: TypeAlias = "tuple[Any, ...]"


@lazy_dataclass(eq=False)
class SpvType:
    """A type of the module; `nir` is its NIR type."""

    kind: str
    nir: Type = t.VOID
    element: SpvType | None = None
    members: tuple[SpvType, ...] = ()
    count: int = 0
    storage: str = ""
    id: int = 0
    format: str = ""
    block: bool = False

    @property
    def inner(self) -> SpvType:
        """Element, pointee, image or return type."""
        assert self.element is not None
        return self.element


@lazy_dataclass()
class Constant:
    """A constant; `undefined` if its bits are arbitrary."""

    type: SpvType
    data: Data
    undefined: bool = False


@lazy_dataclass()
class Block:
    """A basic block: its instructions, merge instruction and terminator."""

    label: int
    phis: list[Instruction] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    merge: Instruction | None = None
    end: Instruction | None = None
    wide: bool = False
    """Whether a switch at the end has a 64-bit selector."""


def targets(block: Block) -> tuple[int, ...]:
    """The indices of a terminator's words that are labels."""
    i = block.end
    if i is None:
        return ()
    if i.opcode == _SWITCH:
        # A literal has as many words as the selector.
        return (1, *range(4 if block.wide else 3, len(i.words), 3 if block.wide else 2))
    return _TARGETS.get(i.opcode, ())


def successors(block: Block) -> list[int]:
    """The labels of a terminator's targets."""
    words = block.end.words if block.end is not None else ()
    return [words[at] for at in targets(block)]


_SWITCH = opcode("OpSwitch")
_TARGETS = {opcode("OpBranch"): (0,), opcode("OpBranchConditional"): (1, 2)}


@lazy_dataclass()
class FunctionCode:
    """A function of the module."""

    id: int
    type: SpvType
    returns: SpvType
    params: list[tuple[int, SpvType]] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)
    first: int = 0
    type_ids: dict[int, int] = field(default_factory=dict)
    """ids of parameters and results, with those of their types (see `Declarations.type_of`)"""
    redirected: bool = False
    """Whether a loop got a new header (see `irreducible`)."""


@lazy_dataclass()
class EntryPoint:
    """An entry point and its execution modes."""

    model: str
    function: int
    name: str
    interface: tuple[int, ...]
    modes: dict[str, tuple[int, ...]] = field(default_factory=dict)


def by_name(table: dict[str, Any]) -> dict[int, Any]:
    """Handlers by opcode, from a table of (several) names."""
    out = {}
    for names, handler in table.items():
        for name in names.split():
            out[opcode(name)] = handler
    return out
