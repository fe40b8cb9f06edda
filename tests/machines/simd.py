"""An oracle for simd's back end: threads of symbols, byte by byte, channel by channel.

Every byte of the register file holds 64 bits that stand for how it was computed. An instruction
reads the bytes of its channels, whoever wrote them, and writes its own; channels wait, leave loops
and meet again as the documentation says. So what a value loses to a neighbour in its register, to a
message header that all channels write or to an instruction that was moved too far is seen where it
matters: in what the thread sends, and in the flags it branches on.

A value that nobody has written is 0, and what is computed from it; comparing leaves it out. Pixels
that leave a loop because their whole quad is dead (`!`) write nothing any more: they are left out,
too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Shader
from gallette.drivers.machines.isa.messages import KINDS, MEMORY_OPS, URB_OPS, unpack
from gallette.drivers.machines.simd.backend.code import set_targets
from gallette.drivers.machines.simd.backend.select import Selector
from gallette.drivers.machines.simd.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.simd.isa.instruction import Instruction, Region
from gallette.drivers.machines.simd.isa.table import ISA
from tests.machines.effects import Effect, Lots, Verdict, compared, is_lasting, sees_memory

Array = npt.NDArray[Any]
U = np.uint64
BYTES = 32
LIVE = 2
END = 1 << 30
ROUNDS = 10
"""Rounds of loops after which a channel is left out: lots may keep it for ever."""
_ODD = np.array([(2 * k + 1) * 0x9E3779B97F4A7C15 % 2**64 for k in range(64)], U)


def scrambled(x: Array) -> Array:
    """Other bits for other bits, never 0."""
    x = (x ^ x >> U(30)) * U(0xBF58476D1CE4E5B9)
    x = (x ^ x >> U(27)) * U(0x94D049BB133111EB)
    found: Array = (x ^ x >> U(31)) | U(1)
    return found


def seed_of(*signature: Any) -> Array:
    return scrambled(np.array([hash(signature) % 2**64], U))


def function(signature: tuple[Any, ...], *arguments: Array) -> Array:
    """An unknown function of known symbols; 0 where one of them is."""
    found = seed_of(*signature)
    defined: Any = True
    for argument in arguments:
        found = scrambled(found + argument)
        defined = defined & (argument != 0)
    return np.where(defined, found, U(0))


def joined(bytes: Array) -> Array:
    """One symbol of the last axis's bytes."""
    found = scrambled((bytes * _ODD[np.arange(bytes.shape[-1]) % 64]).sum(axis=-1, dtype=U))
    return np.where((bytes != 0).all(axis=-1), found, U(0))


def spread(symbols: Array, count: int) -> Array:
    """The bytes of symbols, along a new last axis."""
    found = scrambled(symbols[..., None] + _ODD[:1] * np.arange(count, dtype=U))
    return np.where(symbols[..., None] != 0, found, U(0))


@dataclass(slots=True)
class Program:
    """Instructions with the place of every register."""

    code: list[Instruction]
    width: int
    constants: range
    first: dict[int, int]  # by virtual register
    registers: int
    uniform: list[bool]  # by branch: all channels decide alike


def reference(shader: Shader, width: int) -> Program:
    """The program as selection makes it, every virtual register in a place of its own."""
    code = Selector(shader, width).run()
    set_targets(code.instrs)
    first, at = {}, code.constant_registers.stop
    for nr, size in enumerate(code.sizes):
        first[nr], at = at, at + size
    uniform = [instr.uniform for instr in code.instrs if instr.op.kind == "flow"]
    return Program(code.instrs, width, code.constant_registers, first, at, uniform)


def encoded(made: Compiled, uniform: list[bool]) -> Program:
    """The program as its words say."""
    executable = made.executable
    code = [ISA.decode(word) for word in executable.words]
    return Program(code, executable.width, executable.constants, {}, 128, uniform)


class Thread:
    """One thread of a program."""

    def __init__(self, program: Program, lots: Lots) -> None:
        self.program, self.lots = program, lots
        self.width = program.width
        self.bytes: Array = np.zeros((program.registers + 2) * BYTES, U)
        given = program.constants.stop * BYTES
        self.bytes[:given] = scrambled(np.arange(given, dtype=U) + U(2))
        self.scratch: Array = np.zeros(4096 * BYTES, U)
        self.flags: Array = np.zeros((4, self.width), U)
        self.flags[LIVE] = 1
        self.pc: Array = np.zeros(self.width, np.int64)
        self.rounds: Array = np.zeros(self.width, np.int64)
        self.dead: Array = np.zeros(self.width, np.bool_)
        self.here: Array = np.ones(self.width, np.bool_)
        self.effects: list[Effect] = []
        self.lasting = 0
        self.turns: dict[int, int] = {}
        flow = [at for at, instr in enumerate(program.code) if instr.op.kind == "flow"]
        self.branch = {at: number for number, at in enumerate(flow)}
        self._places: dict[tuple[Region, int], Array] = {}

    def run(self) -> list[Effect]:
        """To the end; what was done."""
        code = self.program.code
        with np.errstate(over="ignore"):
            while (at := int(self.pc.min())) < len(code):
                self.here = self.pc == at
                self.step(code[at], at)
        return self.effects

    def step(self, instr: Instruction, at: int) -> None:
        if instr.op.kind == "flow":
            self.flow(instr, at)
            return
        self.pc[self.here] = at + 1
        if instr.message is not None:
            self.send(instr)
        elif instr.op.kind != "none":
            self.compute(instr)

    def effect(self, what: tuple[Any, ...], values: Array, channels: slice) -> None:
        """`values` by channel (the first axis)."""
        here = self.here[channels]
        seen = here & ~self.dead[channels]
        kept = np.where(seen.reshape(-1, *(1,) * (values.ndim - 1)), values, U(0))
        self.effects.append(Effect((*what, here.tobytes()), kept))

    # -- flow --------------------------------------------------------------------------------------

    def flow(self, instr: Instruction, at: int) -> None:
        name, here, pc = instr.op.name, self.here, self.pc
        chosen = here
        if instr.pred:
            number = self.branch[at]
            chosen = here & self.decided(instr, number)
            self.effect((name, number, instr.pred), self.flags[instr.flag], slice(None))
        if name == "while":
            self.rounds[here] += 1
            pc[here] = instr.target
            pc[here & (self.rounds > ROUNDS)] = END
        elif name == "else":
            pc[here] = instr.target
        else:
            pc[here] = at + 1
            if name == "if":
                pc[here & ~chosen] = instr.target
            elif name in ("break", "cont"):
                pc[chosen] = instr.target
            elif name == "halt":
                pc[chosen] = END
        if instr.pred == "!":
            self.dead |= chosen

    def decided(self, instr: Instruction, number: int) -> Array:
        turn = self.turns[number] = self.turns.get(number, 0) + 1
        if instr.pred == "!":
            quads = self.lots.draw(number, turn, self.width // 4, 0.15)
            return np.repeat(np.array(quads), 4)
        if self.program.uniform[number]:
            return np.array(self.lots.draw(number, turn, 1) * self.width)
        return np.array(self.lots.draw(number, turn, self.width))

    # -- operands ----------------------------------------------------------------------------------

    def base(self, region: Region) -> int:
        nr = self.program.first[region.nr] if region.file == "v" else region.nr
        return nr * BYTES + region.offset

    def places(self, region: Region, width: int) -> Array:
        """By channel, the bytes of an operand."""
        found = self._places.get((region, width))
        if found is None:
            channel = np.arange(width)
            if region.swizzle:
                channel = (channel & ~3) + np.array(region.swizzle)[channel & 3]
            size = region.type.size
            start = self.base(region) + channel * region.stride * size
            found = self._places[region, width] = start[:, None] + np.arange(size)
        return found

    def operand(self, src: Region, instr: Instruction) -> Array:
        if src.file == "i":
            return np.broadcast_to(seed_of("immediate", src.bits), instr.width)
        value = joined(self.bytes[self.places(src, instr.width)])
        if src.swizzle:  # channels that are elsewhere have nothing to say
            channel = np.arange(instr.width)
            whose = instr.group + (channel & ~3) + np.array(src.swizzle)[channel & 3]
            value = np.where(self.here[whose], value, U(0))
        return value

    def writers(self, instr: Instruction) -> tuple[slice, Array]:
        """The channels of an instruction, and which of them it writes."""
        channels = slice(instr.group, instr.group + instr.width)
        if instr.no_mask:
            return channels, np.ones(instr.width, np.bool_)
        return channels, self.here[channels]

    # -- arithmetic --------------------------------------------------------------------------------

    def compute(self, instr: Instruction) -> None:
        channels, mask = self.writers(instr)
        dst, kind = instr.dst, instr.op.kind
        bytes: Array | None = None
        first = instr.srcs[0]
        same = first.type is dst.type or (
            "float" not in (first.type.base, dst.type.base) and first.type.size == dst.type.size
        )
        if kind == "move" and same and not (instr.sat or first.modified or first.file == "i"):
            bytes = self.bytes[self.places(first, instr.width)]
            value = joined(bytes)
        else:
            sources = [self.operand(src, instr) for src in instr.srcs]
            signs = tuple((src.type.name, src.neg, src.abs) for src in instr.srcs)
            signature = (instr.op.name, instr.sat, dst.type.name, signs)
            if kind in ("select", "compare"):
                signature += (instr.cond,)
            if kind == "select" and instr.pred:
                signature += (instr.pred,)
                sources.append(self.flags[instr.flag][channels])
            value = function(signature, *sources)
        predicate = None
        if instr.pred and kind != "select":
            predicate = self.flags[instr.flag][channels].copy()
        if dst.file != "n":
            places = self.places(dst, instr.width)
            new = spread(value, dst.type.size) if bytes is None else bytes
            if predicate is not None:
                new = function(("if", instr.pred), predicate[:, None], new, self.bytes[places])
            self.bytes[places[mask]] = new[mask]
        if instr.cond and kind != "select":
            flag = function(("flag", instr.cond), value)
            old = self.flags[instr.flag][channels]
            if predicate is not None:
                flag = function(("if", instr.pred), predicate, flag, old)
            self.flags[instr.flag][channels] = np.where(mask, flag, old)

    # -- messages ----------------------------------------------------------------------------------

    def send(self, instr: Instruction) -> None:
        message = instr.message
        assert message is not None and not instr.pred
        fields = unpack(message.unit, message.desc)
        if message.unit == "scratch":
            self.spill(instr, fields)
            return
        channels, mask = self.writers(instr)
        what = (message.unit, message.desc, message.end)
        header = seed_of("none")
        if message.header:
            start = self.base(instr.srcs[0])
            header = joined(self.bytes[start : start + BYTES])[None]
        payload = self.payload(instr, fields)
        live = self.flags[LIVE][channels]
        if is_lasting(message.unit, fields):
            self.lasting += 1
            around = np.broadcast_to(header, instr.width)
            alive = live if fields.get("live") or message.end else np.zeros_like(live)
            values = np.concatenate([payload, alive[:, None], around[:, None]], axis=1)
            self.effect(what, values, channels)
        if instr.dst.file == "n" or not message.result:
            return
        arguments = [header, joined(payload) if payload.size else seed_of("nothing")]
        if sees_memory(message.unit):
            arguments.append(seed_of("memory", self.lasting))
        if message.unit == "input" and KINDS[fields["kind"]] == "helper" and fields["component"]:
            arguments.append(live)
        found = np.broadcast_to(function(what, *arguments), instr.width)
        self.answer(instr, fields, found, mask)

    def components(self, instr: Instruction, registers: int, sizes: list[int]) -> list[Array]:
        """By component, the bytes of each channel behind a message's first register.

        `sizes` are those of the first components; the last one is that of all others.
        """
        found, at, k = [], 0, 0
        while at < registers * BYTES:
            size = sizes[min(k, len(sizes) - 1)]
            found.append(at + np.arange(instr.width)[:, None] * size + np.arange(size))
            at += max(BYTES, instr.width * size)
            k += 1
        return found

    def payload(self, instr: Instruction, fields: dict[str, int]) -> Array:
        """Bytes by channel."""
        message = instr.message
        assert message is not None
        if not message.length:
            return np.zeros((instr.width, 0), U)
        unit, sizes = message.unit, [4]
        if unit == "memory":
            sizes = [4] * (1 + fields["dynamic"]) + [1 << fields["size"]]
        elif unit == "urb" and URB_OPS[fields["op"]] == "write":
            sizes = [4] * fields["offset"] + [8 if fields["wide"] else 4]
        start = self.base(instr.srcs[1])
        places = self.components(instr, message.length, sizes)
        return self.bytes[start + np.concatenate(places, axis=1)]

    def answer(self, instr: Instruction, fields: dict[str, int], found: Array, mask: Array) -> None:
        message = instr.message
        assert message is not None
        start, unit, size = self.base(instr.dst), message.unit, 4
        if fields.get("whole"):
            self.bytes[start : start + BYTES] = spread(found[0], BYTES)
            return
        if fields.get("wide"):
            size = 8
        elif unit == "constant" or (unit == "memory" and MEMORY_OPS[fields["op"]] != "size"):
            size = 1 << fields["size"]
        for k, places in enumerate(self.components(instr, message.result, [size])):
            part = function(("component", k), found)
            self.bytes[start + places[mask]] = spread(part, size)[mask]

    def spill(self, instr: Instruction, fields: dict[str, int]) -> None:
        """Whole registers to scratch and back."""
        size, slot = fields["count"] * BYTES, fields["slot"] * BYTES
        start = self.base(instr.dst if fields["op"] else instr.srcs[1])
        if fields["op"]:
            self.bytes[start : start + size] = self.scratch[slot : slot + size]
        else:
            self.scratch[slot : slot + size] = self.bytes[start : start + size]


def checked(
    shader: Shader, options: BackendOptions, seed: int, threads: int = 2
) -> tuple[Verdict, Compiled]:
    """Does the machine code do what selection meant?"""
    made = compile_shader(shader, options)
    wanted = reference(shader, made.executable.width)
    found = encoded(made, wanted.uniform)
    verdict = Verdict()
    for number in range(threads):
        lots = Lots(seed * 31 + number)
        verdict.add(compared(Thread(wanted, lots).run(), Thread(found, lots).run()))
    return verdict, made
