"""Register allocation: colours the interference graph, and spills what has no colour.

A value without a register lives in the channel's private memory, and every instruction that uses it
gets a short-lived register for it. Half registers overlap the lowest full ones, so values used as
halves must be there.
"""

from __future__ import annotations

from dataclasses import dataclass

from gallette.compiler.errors import GalletteError
from gallette.drivers.common.machine.colouring import colour, victims
from gallette.drivers.common.machine.messages import MEMORY_OPS, SPACES, pack
from gallette.drivers.tiler.isa.encoding import LIMITS
from gallette.drivers.tiler.isa.instruction import NONE, Instruction, Message, Operand, immediate

from .cleanup import interference
from .code import LABEL, ROOM, Code

__all__ = ["Allocation", "allocate"]

_ROUNDS = 40


@dataclass(slots=True)
class Allocation:
    """The result of register allocation."""

    places: dict[int, int]  # physical register by virtual register
    spills: int = 0  # spilled virtual registers
    virtual: Code | None = None  # the code before registers were assigned


def allocate(code: Code, room: int = ROOM) -> Allocation:
    """Assign registers in place."""
    result = Allocation({})
    for _ in range(_ROUNDS):
        graph = interference(code)
        names = set(graph) | {o.nr for o in code.operands() if o.file == "v"}
        costs = _costs(code)
        places, left = colour(names, graph, code.sizes, {}, costs, 0, room)
        left += [o.nr for o in code.operands() if o.half and 2 * places.get(o.nr, 0) >= _HALVES]
        if not left:
            result.places = places
            result.virtual = Code(
                [instr.copy() for instr in code.instrs], list(code.sizes), code.constants
            )
            _apply(code, places)
            return result
        chosen = _victims(code, graph, costs, left)
        if not chosen:
            break
        for nr in chosen:
            _spill(code, nr)
            result.spills += 1
    raise GalletteError(f"tiler finds no registers for a shader in {room} of them")


_HALVES = LIMITS["h"]


def _costs(code: Code) -> dict[int, float]:
    """The cost of spilling each register: its uses, with those in loops counting ten times."""
    weight = _weights(code)
    found: dict[int, float] = {}
    for instr, scale in zip(code.instrs, weight, strict=True):
        for operand in (instr.dst, *instr.srcs):
            if operand.file == "v":
                extra = 1e6 if operand.half else 0.0
                found[operand.nr] = found.get(operand.nr, 0.0) + scale + extra
    for nr in code.fixed:
        found[nr] = 1e30
    return found


def _weights(code: Code) -> list[float]:
    """By instruction, ten to the power of its loop depth (a backward jump makes a loop)."""
    found = [1.0] * len(code.instrs)
    where = {instr.target: at for at, instr in enumerate(code.instrs) if instr.op is LABEL}
    for at, instr in enumerate(code.instrs):
        if instr.op.name == "jump" and where[instr.target] < at:
            for k in range(where[instr.target], at):
                found[k] *= 10.0
    return found


def _victims(
    code: Code, graph: dict[int, int], costs: dict[int, float], failed: list[int]
) -> list[int]:
    touched = (
        [operand.nr for operand in (instr.dst, *instr.srcs) if operand.file == "v"]
        for instr in code.instrs
    )

    def may(nr: int) -> bool:
        return nr not in code.fixed and code.sizes[nr] <= 8

    return victims(touched, graph, code.sizes, costs, failed, may)


def _spill(code: Code, nr: int) -> None:
    """Move a register to the channel's memory."""
    size = code.sizes[nr]
    slot = code.private
    code.private += 4 * size
    out: list[Instruction] = []
    for instr in code.instrs:
        reads = any(s.file == "v" and s.nr == nr for s in instr.srcs)
        writes = instr.dst.file == "v" and instr.dst.nr == nr
        if not (reads or writes):
            out.append(instr)
            continue
        temporary = code.new(size)
        code.fixed.add(temporary)
        whole = instr.message is not None or (size == 1 and not instr.dst.half)
        if reads or not whole:
            out += _memory(code, "load", slot, Operand("v", temporary), size)
        instr.srcs = tuple(
            s._replace(nr=temporary) if s.file == "v" and s.nr == nr else s for s in instr.srcs
        )
        if writes:
            instr.dst = instr.dst._replace(nr=temporary)
            instr.fresh = whole and not reads
        out.append(instr)
        if writes:
            out += _memory(code, "store", slot, Operand("v", temporary), size)
    code.instrs = out


def _memory(code: Code, op: str, slot: int, value: Operand, size: int) -> list[Instruction]:
    """Messages that move registers to or from the channel's memory, a few at a time."""
    found: list[Instruction] = []
    fields = {"op": MEMORY_OPS.index(op), "space": SPACES.index("scratch"), "size": 2}
    if op == "load":
        address = Operand("v", code.new(1))
        code.fixed.add(address.nr)
        found.append(Instruction("mov", address, (immediate(slot),), note="fill"))
        message = Message(pack("memory", count=size, **fields), 1, size)
        found.append(Instruction("memory", value, (address,), message=message, note="fill"))
        return found
    for k in range(size):
        payload = Operand("v", code.new(2))
        code.fixed.add(payload.nr)
        found.append(Instruction("mov", payload, (immediate(slot + 4 * k),), note="spill"))
        part = value._replace(offset=k)
        found.append(Instruction("mov", payload._replace(offset=1), (part,), fresh=False))
        message = Message(pack("memory", count=1, **fields), 2)
        found.append(Instruction("memory", NONE, (payload,), message=message, note="spill"))
    return found


def _apply(code: Code, places: dict[int, int]) -> None:
    def real(operand: Operand) -> Operand:
        if operand.file != "v":
            return operand
        at = places[operand.nr]
        if operand.half:
            return operand._replace(file="h", nr=2 * at + operand.offset, offset=0, half=False)
        return operand._replace(file="r", nr=at + operand.offset, offset=0)

    for instr in code.instrs:
        instr.dst = real(instr.dst)
        instr.srcs = tuple(real(src) for src in instr.srcs)
    code.instrs = [
        instr for instr in code.instrs if instr.op.name != "mov" or instr.srcs[0] != instr.dst
    ]
