"""An oracle for the tiler's back end: one channel of symbols, register by register.

A channel writes its own part of a register only, so the way of one channel is all there is. Every
register holds how its halves were computed. Slow answers are on their way until an instruction
waits for their queue: whoever reads such a register before finds nothing in it, and what is written
into it before is overwritten. Spilled values go to the channel's own memory behind what the shader
itself keeps there; those messages are seen through, not compared.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from gallette.compiler.nir.ir import Shader
from gallette.drivers.machines.constants import ConstantSlot
from gallette.drivers.machines.isa.messages import KINDS, SPACES, unpack
from gallette.drivers.machines.tiler.backend.select import Selector
from gallette.drivers.machines.tiler.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.tiler.isa.instruction import Instruction, Operand
from gallette.drivers.machines.tiler.isa.table import ISA
from tests.machines.effects import Effect, Lots, Verdict, compared, is_lasting, sees_memory

Half: TypeAlias = tuple[int, int]
"""A symbol, and which half of it (2: it is a half itself)."""
NOTHING: Half = (0, 0)
LIVE = 2
JUMPS = 10
"""Jumps back after which a channel is left alone: lots may keep it for ever."""
_NEARBY = frozenset({"input", "constant", "urb", "render", "scratch", "gateway"})


class Symbols:
    """Numbers for what is computed; the same number for the same computation."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.known: dict[int, int] = {}  # immediates

    def of(self, *what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers) + 1)

    def function(self, signature: Hashable, *arguments: int) -> int:
        """0 where an argument is."""
        return 0 if 0 in arguments else self.of(signature, arguments)

    def immediate(self, bits: int) -> int:
        found = self.of("immediate", bits)
        self.known[found] = bits
        return found


@dataclass(slots=True)
class Program:
    """Instructions with the place of every register."""

    code: list[Instruction]
    constants: list[ConstantSlot]
    private: int  # bytes of memory that are the shader's own
    first: dict[int, int]  # by virtual register
    targets: dict[int, int]  # by label, where they are; empty: targets are places


def reference(shader: Shader) -> Program:
    """The program as selection makes it, every virtual register in a place of its own."""
    code = Selector(shader).run()
    first, at = {}, 0
    for nr, size in enumerate(code.sizes):
        first[nr], at = at, at + size
    labels = {i.target: at for at, i in enumerate(code.instrs) if i.op.kind == "label"}
    return Program(code.instrs, code.constants, code.private, first, labels)


def encoded(made: Compiled, private: int) -> Program:
    """The program as its words say."""
    code = [ISA.decode(word) for word in made.executable.words]
    return Program(code, made.code.constants, private, {}, {})


class Channel:
    """One channel of a program."""

    def __init__(self, program: Program, lots: Lots, symbols: Symbols, late: bool) -> None:
        self.program, self.lots, self.symbols, self.late = program, lots, symbols, late
        self.registers: dict[int, tuple[Half, Half]] = {}
        self.predicates = [0, 0, symbols.of("live"), 0]
        self.memory: dict[int, tuple[Half, Half]] = {}
        self.coming: list[tuple[str, int, tuple[Half, Half]]] = []
        self.effects: list[Effect] = []
        self.lasting = 0
        flow = [at for at, instr in enumerate(program.code) if instr.op.kind == "flow"]
        self.branch = {at: number for number, at in enumerate(flow)}
        self.turns: dict[int, int] = {}

    def run(self) -> list[Effect]:
        """To the end; what was done."""
        at, jumps, code = 0, 0, self.program.code
        while at < len(code):
            instr = code[at]
            self.wait(instr)
            kind, name = instr.op.kind, instr.op.name
            if kind == "flow":
                if name == "end":
                    break
                target = self.program.targets.get(instr.target, instr.target)
                jumps += name == "jump" and target <= at
                if jumps > JUMPS:
                    break
                at = target if name == "jump" or self.taken(instr, at) else at + 1
                continue
            if kind == "kill":
                signature = ("kill", instr.inverse)
                old = self.predicates[LIVE]
                given = self.predicates[instr.pred]
                self.predicates[LIVE] = self.symbols.function(signature, old, given)
            elif instr.message is not None:
                self.send(instr)
            elif kind not in ("nop", "label"):
                for k in range(instr.repeat + 1):
                    self.compute(instr, k)
            at += 1
        self.effects.append(Effect(("end",), [self.predicates[LIVE]]))
        return self.effects

    def taken(self, instr: Instruction, at: int) -> bool:
        number = self.branch[at]
        turn = self.turns[number] = self.turns.get(number, 0) + 1
        self.effects.append(Effect((instr.op.name, number), [self.predicates[instr.pred]]))
        if instr.op.name == "brdead":  # whoever goes writes nothing any more
            return False
        return self.lots.draw(number, turn, 1)[0]

    # -- what is late ------------------------------------------------------------------------------

    def wait(self, instr: Instruction) -> None:
        """Answers the instruction waits for land."""
        left = []
        for queue, place, halves in self.coming:
            if instr.ss if queue == "ss" else instr.sy:
                self.registers[place] = halves
            else:
                left.append((queue, place, halves))
        self.coming = left

    def put(self, place: int, halves: tuple[Half, Half], queue: str = "") -> None:
        if queue and self.late:
            self.coming.append((queue, place, halves))
        else:
            self.registers[place] = halves

    # -- operands ----------------------------------------------------------------------------------

    def place(self, operand: Operand, k: int = 0) -> tuple[int, int | None]:
        """A register, and which half of it (None: all)."""
        if operand.file == "v":
            first = self.program.first[operand.nr]
            if operand.half:
                return first + operand.offset // 2, operand.offset % 2
            return first + operand.offset + k, None
        if operand.file == "h":
            return (operand.nr + k) // 2, (operand.nr + k) % 2
        return operand.nr + k, None

    def halves(self, place: int) -> tuple[Half, Half]:
        """What a register holds; nothing certain while an answer is on its way to it."""
        if any(at == place for _, at, _ in self.coming):
            return NOTHING, NOTHING
        return self.registers.get(place, (NOTHING, NOTHING))

    def whole(self, place: int) -> int:
        low, high = self.halves(place)
        if low[0] == high[0] and (low[1], high[1]) == (0, 1):
            return low[0]
        if not low[0] or not high[0]:
            return 0
        return self.symbols.of("halves", low, high)

    def operand(self, src: Operand, k: int) -> int:
        if src.file == "i":
            return self.symbols.immediate(src.bits)
        if src.file == "c":
            slot = self.program.constants[src.nr + (k if src.rep else 0)]
            return self.symbols.of("constant", slot.block, slot.value)
        place, half = self.place(src, k if src.rep else 0)
        if half is None:
            return self.whole(place)
        found = self.halves(place)[half]
        if not found[0]:
            return 0
        return found[0] if found[1] == 2 else self.symbols.of("half", found)

    # -- arithmetic --------------------------------------------------------------------------------

    def compute(self, instr: Instruction, k: int) -> None:
        dst, first = instr.dst, instr.srcs[0]
        moves = instr.op.name == "mov" and not instr.sat and not first.modified
        if moves and first.file in "rv" and not first.half and dst.file in "rv" and not dst.half:
            copied = self.halves(self.place(first, k if first.rep else 0)[0])
            self.put(self.place(dst, k)[0], copied)
            return
        if moves and first.file in "ic":
            found = self.operand(first, k)
        else:
            signs = tuple((src.neg, src.abs) for src in instr.srcs)
            arguments = [self.operand(src, k) for src in instr.srcs]
            found = self.symbols.function((instr.op.name, instr.sat, signs), *arguments)
        if dst.file == "p":
            self.predicates[dst.nr] = found
            return
        place, half = self.place(dst, k)
        queue = {"special": "ss", "quad": "sy"}.get(instr.op.kind, "")
        if half is None:
            self.put(place, ((found, 0), (found, 1)), queue)
            return
        pair = list(self.registers.get(place, (NOTHING, NOTHING)))
        pair[half] = (found, 2)
        self.put(place, (pair[0], pair[1]), queue)

    # -- messages ----------------------------------------------------------------------------------

    def send(self, instr: Instruction) -> None:
        message = instr.message
        assert message is not None
        unit = message.unit
        fields = unpack(unit, message.desc)
        source = self.place(instr.srcs[0])[0] if message.length else 0
        payload = [self.whole(source + k) for k in range(message.length)]
        if unit == "memory" and SPACES[fields["space"]] == "scratch" and self.spills(payload):
            self.spill(instr, source, payload)
            return
        what = (unit, message.desc)
        live = self.predicates[LIVE]
        if is_lasting(unit, fields):
            self.lasting += 1
            self.effects.append(Effect(what, [*payload, live if fields.get("live") else 0]))
        if instr.dst.file not in "rv" or not message.result:
            return
        arguments = list(payload)
        if sees_memory(unit):
            arguments.append(self.symbols.of("memory", self.lasting))
        if unit == "input" and KINDS[fields["kind"]] == "helper" and fields["component"]:
            arguments.append(live)
        place = self.place(instr.dst)[0]
        queue = "ss" if unit in _NEARBY else "sy"
        for k in range(message.result):
            found = self.symbols.function((what, k), *arguments)
            self.put(place + k, ((found, 0), (found, 1)), queue)

    def spills(self, payload: list[int]) -> bool:
        """Is the address one behind the shader's own memory?"""
        address = self.symbols.known.get(payload[0])
        return address is not None and address >= self.program.private

    def spill(self, instr: Instruction, source: int, payload: list[int]) -> None:
        message = instr.message
        assert message is not None
        address = self.symbols.known[payload[0]]
        if message.length == 2:
            self.memory[address] = self.halves(source + 1)
            return
        place = self.place(instr.dst)[0]
        for k in range(message.result):
            found = self.memory.get(address + 4 * k, (NOTHING, NOTHING))
            self.put(place + k, found, "sy")


def checked(
    shader: Shader, options: BackendOptions, seed: int, channels: int = 8
) -> tuple[Verdict, Compiled]:
    """Does the machine code do what selection meant?"""
    made = compile_shader(shader, options)
    wanted = reference(shader)
    found = encoded(made, wanted.private)
    verdict = Verdict()
    for number in range(channels):
        lots, symbols = Lots(seed * 31 + number), Symbols()
        meant = Channel(wanted, lots, symbols, late=False).run()
        verdict.add(compared(meant, Channel(found, lots, symbols, late=True).run()))
    return verdict, made
