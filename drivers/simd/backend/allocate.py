"""Register allocation: colours the interference graph, and spills what has no colour.

This is Chaitin and Briggs's algorithm for registers of several sizes: a node is easy if a register
is left for it however its neighbours are coloured. Easy nodes are removed first, then the cheapest
to spill; in reverse order each gets the lowest free register. A value without a register is
spilled: it lives in scratch memory, and every instruction that uses it gets a short-lived register
for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gallette.compiler.errors import GalletteError
from gallette.drivers.common.machine.colouring import colour, victims
from gallette.drivers.common.machine.messages import pack
from gallette.drivers.simd.isa.instruction import NULL, Instruction, Message, Region
from gallette.drivers.simd.isa.types import TYPES

from .cleanup import interference
from .code import ROOM, Code
from .liveness import LiveRanges, layouts

__all__ = ["Allocation", "allocate"]

UD = TYPES["UD"]
_ROUNDS = 60


@dataclass(slots=True)
class Allocation:
    """The result of register allocation."""

    places: dict[int, int]  # physical register by virtual register
    spills: int = 0  # spilled virtual registers
    traffic: int = 0  # instructions that spill and fill
    virtual: Code | None = None  # the code before registers were assigned, if requested


def alignments(code: Code) -> dict[int, int]:
    """The alignment of each virtual register, so that values of equal layout line up."""
    keys, _ = layouts(code)
    found = {}
    for nr, key in keys.items():
        wanted = 1 if key is None or key[1] else max(1, code.width * key[0] // 32)
        found[nr] = wanted if code.sizes[nr] % wanted == 0 else 1
    return found


def allocate(
    code: Code,
    ranges: LiveRanges,
    room: int = ROOM,
    may_spill: bool = True,
    record: bool = False,
) -> Allocation | None:
    """Assign registers in place; None if that needs spills and they are not allowed."""
    result = Allocation({})
    for _ in range(_ROUNDS):
        graph = interference(code, ranges)
        costs = _costs(code)
        first = code.constant_registers.stop
        names = set(graph).union(*(code.virtual(instr) for instr in code.instrs))
        places, left = colour(names, graph, code.sizes, alignments(code), costs, first, room)
        if not left:
            result.places = places
            result.virtual = code.copy() if record else None
            _apply(code, places)
            return result
        if not may_spill:
            return None
        chosen = _victims(code, graph, costs, left)
        if not chosen:
            break
        for nr in chosen:
            result.traffic += _spill(code, nr)
            result.spills += 1
    raise GalletteError(f"simd finds no registers for a shader in {room} of them")


def _costs(code: Code) -> dict[int, float]:
    """The cost of spilling each register: its uses, with those in loops counting ten times."""
    found: dict[int, float] = {}
    scale = 1.0
    for instr in code.instrs:
        if instr.op.name == "do":
            scale *= 10
        elif instr.op.name == "while":
            scale /= 10
        for nr in code.virtual(instr):
            found[nr] = found.get(nr, 0.0) + scale
    for nr in code.fixed:
        found[nr] = 1e30
    return found


def _victims(
    code: Code, graph: dict[int, int], costs: dict[int, float], failed: list[int]
) -> list[int]:
    touched = (code.virtual(instr) for instr in code.instrs)
    return victims(touched, graph, code.sizes, costs, failed, lambda nr: nr not in code.fixed)


def _spill(code: Code, nr: int) -> int:
    """Move a register to scratch; returns how many messages that takes."""
    size = code.sizes[nr]
    slot = code.scratch
    code.scratch += size
    out: list[Instruction] = []
    count = depth = 0
    for instr in code.instrs:
        depth += (instr.op.name in ("if", "do")) - (instr.op.name in ("endif", "while"))
        reads = any(s.file == "v" and s.nr == nr for s in instr.srcs)
        writes = instr.dst.file == "v" and instr.dst.nr == nr
        if not (reads or writes):
            out.append(instr)
            continue
        temporary = code.new(size)
        code.fixed.add(temporary)
        region = Region("v", temporary, UD)
        # A masked write keeps the other channels, so they must be filled first.
        start, stop = instr.written()
        whole = (start, stop) == (0, 32 * size) and not depth and not instr.pred
        filled = reads or not whole
        if filled:
            out.append(_scratch("fill", region, slot, size))
            count += 1
        instr.srcs = tuple(
            s._replace(nr=temporary) if s.file == "v" and s.nr == nr else s for s in instr.srcs
        )
        if writes:
            instr.dst = instr.dst._replace(nr=temporary)
            instr.fresh = not filled
        out.append(instr)
        if writes:
            out.append(_scratch("spill", region, slot, size))
            count += 1
    code.instrs = out
    return count


def _scratch(what: str, region: Region, slot: int, size: int) -> Instruction:
    """A message that moves whole registers, whatever the mask is."""
    fill = what == "fill"
    fields = {"op": int(fill), "slot": slot, "count": size}
    message = Message(
        "scratch", pack("scratch", **fields), 0 if fill else size, size if fill else 0, True
    )
    return Instruction(
        "send",
        8,
        region if fill else NULL,
        (Region("g", 0, UD), NULL if fill else region),
        no_mask=True,
        message=message,
        note=what,
    )


def _apply(code: Code, places: dict[int, int]) -> None:
    def real(region: Region) -> Region:
        if region.file != "v":
            return region
        nr = places[region.nr] + region.offset // 32
        return region._replace(file="g", nr=nr, offset=region.offset % 32)

    for instr in code.instrs:
        instr.dst = real(instr.dst)
        instr.srcs = tuple(real(src) for src in instr.srcs)
