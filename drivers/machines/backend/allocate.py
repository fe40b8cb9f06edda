"""Register allocation: colours the interference graph, and spills registers without a colour.

A spilled register is kept in memory; every instruction that reads or writes it gets a short-lived
register for it.
"""

from __future__ import annotations

from typing import Any, Generic

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass

from .code import Code, CodeOf, Instr, renamed
from .colouring import colour, victims
from .liveness import interference

_ROUNDS = 60


@lazy_dataclass()
class Allocation(Generic[CodeOf]):
    """The result of allocation: the place of each virtual register."""

    places: dict[int, int] = field(default_factory=dict)  # first register by virtual one
    spills: int = 0  # virtual registers that live in memory
    virtual: CodeOf | None = None  # the code before registers were filled in, if asked for


def allocate(
    code: CodeOf, room: int, *, may_spill: bool = True, record: bool = False
) -> Allocation[CodeOf] | None:
    """Assign registers, in place; returns None if that needs spills and they are not allowed."""
    result: Allocation[CodeOf] = Allocation()
    for _ in range(_ROUNDS):
        graph = interference(code)
        costs = _costs(code)
        names = set(graph).union(*(instr.virtual() for instr in code.instrs))
        places, left = colour(
            names, graph, code.sizes, code.alignments(), costs, code.first_register, room
        )
        left += code.misplaced(places)
        if not left:
            result.places = places
            result.virtual = code.copy() if record else None
            _apply(code, places)
            return result
        if not may_spill:
            return None

        def may(nr: int) -> bool:
            return nr not in code.fixed and code.sizes[nr] <= code.most_spilled

        touched = (instr.virtual() for instr in code.instrs)
        chosen = victims(touched, graph, code.sizes, costs, left, may)
        if not chosen:
            break
        for nr in chosen:
            _spill(code, nr)
            result.spills += 1
    raise GalletteError(f"{code.machine} finds no registers for a shader in {room} of them")


def _costs(code: Code[Instr]) -> dict[int, float]:
    """The cost of spilling each register: its uses, those in loops ten times."""
    found: dict[int, float] = {}
    for instr, scale in zip(code.instrs, code.weights(), strict=True):
        for operand in (instr.dst, *instr.srcs):
            if operand.file == "v":
                more = scale + code.reluctance(operand)
                found[operand.nr] = found.get(operand.nr, 0.0) + more
    for nr in code.fixed:
        found[nr] = 1e30
    return found


def _spill(code: Code[Instr], nr: int) -> None:
    """Spill a register: keep it in memory."""
    size = code.sizes[nr]
    slot = code.reserve(size)
    out: list[Instr] = []
    for instr, whole in zip(code.instrs, code.whole_writes(), strict=True):
        reads = any(src.file == "v" and src.nr == nr for src in instr.srcs)
        writes = instr.dst.file == "v" and instr.dst.nr == nr
        if not (reads or writes):
            out.append(instr)
            continue
        temporary = code.new(size)
        code.fixed.add(temporary)
        # What a write leaves alone, be it in other channels, must be there to be left alone.
        filled = reads or not whole
        if filled:
            out += code.fill(temporary, slot, size)
        renamed(instr, {nr: temporary})
        out.append(instr)
        if writes:
            instr.fresh = not filled
            out += code.spill(temporary, slot, size)
    code.instrs = out


def _apply(code: Code[Instr], places: dict[int, int]) -> None:
    def real(operand: Any) -> Any:
        return code.real(operand, places[operand.nr]) if operand.file == "v" else operand

    for instr in code.instrs:
        instr.dst = real(instr.dst)
        instr.srcs = tuple(real(src) for src in instr.srcs)
