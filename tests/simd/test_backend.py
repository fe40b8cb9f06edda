"""Properties of the back end, checked by oracles that share no code with it."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import pytest

from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.drivers.machines.backend.cleanup import cleaned
from gallette.drivers.machines.backend.colouring import colour
from gallette.drivers.machines.backend.liveness import interference
from gallette.drivers.machines.backend.schedule import schedule
from gallette.drivers.machines.isa.instruction import Message
from gallette.drivers.machines.isa.types import TYPES, RegType
from gallette.drivers.machines.program import Counters, MachineProgram
from gallette.drivers.machines.selection.arithmetic import FORMULAS
from gallette.drivers.machines.simd.backend.code import Code
from gallette.drivers.machines.simd.backend.select import Selector
from gallette.drivers.machines.simd.backend.select_alu import PATTERNS
from gallette.drivers.machines.simd.backend.timing import PIPE
from gallette.drivers.machines.simd.compile import BackendOptions, compile_shader
from gallette.drivers.machines.simd.isa.instruction import Instruction, Region, immediate
from gallette.drivers.machines.simd.isa.opcodes import CONDITIONS
from gallette.drivers.machines.simd.isa.table import ISA
from gallette.lessons.register_pressure import chosen_width, shader_of
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare
from tests.simd.divergent_programs import divergent_shader


def selected(seed: int, width: int) -> Code:
    """Code just before allocation."""
    code = Selector(divergent_shader(seed), width).run()
    cleaned(code)
    return code


def live_after(code: Code) -> list[set[int]]:
    """Registers live behind each instruction: plain data flow over single instructions."""
    instrs = code.instrs
    after: list[set[int]] = [set() for _ in instrs]
    before: list[set[int]] = [set() for _ in instrs]
    changed = True
    while changed:
        changed = False
        for at in range(len(instrs) - 1, -1, -1):
            instr = instrs[at]
            out: set[int] = set()
            for following in followers(instrs, at):
                out |= before[following]
            kills = {instr.dst.nr} if instr.dst.file == "v" and instr.fresh else set()
            if instr.pred and instr.op.kind != "select":
                kills = set()
            live = out - kills | {s.nr for s in instr.srcs if s.file == "v"}
            if out != after[at] or live != before[at]:
                after[at], before[at] = out, live
                changed = True
    return after


def followers(instrs: list[Instruction], at: int) -> list[int]:
    instr = instrs[at]
    name, target = instr.op.name, instr.target
    found = [at + 1]
    if name in ("else", "while") or (name in ("break", "cont") and not instr.pred):
        found = [target]
    elif name in ("if", "break", "cont") and instr.pred != "!":
        found.append(target)
    return [k for k in found if k < len(instrs)]


@pytest.mark.parametrize("width", [8, 16])
def test_no_two_live_values_share_a_register(width: int) -> None:
    for seed in range(1000, 1016):
        code = selected(seed, width)
        graph = interference(code)
        names = set(graph).union(*(instr.virtual() for instr in code.instrs))
        first = code.constant_registers.stop
        places, failed = colour(names, graph, code.sizes, code.alignments(), {}, first, 128)
        assert not failed
        lives = live_after(code)
        for instr, live in zip(code.instrs, lives, strict=True):
            if instr.dst.file != "v":
                continue
            mine = range(places[instr.dst.nr], places[instr.dst.nr] + code.sizes[instr.dst.nr])
            for other in live - {instr.dst.nr}:
                place = places[other]
                assert mine.stop <= place or place + code.sizes[other] <= mine.start, seed


def test_every_dependency_is_respected() -> None:
    for seed in range(1100, 1116):
        options = BackendOptions(schedule=False)
        code = compile_shader(divergent_shader(seed), options).code
        before = list(code.instrs)
        place = {id(instr): at for at, instr in enumerate(schedule(before, PIPE))}
        assert len(place) == len(before)
        seen = [(place[id(i)], i.op.kind == "flow", PIPE.reads(i), PIPE.writes(i)) for i in before]
        for at, (first, flow, reads, writes) in enumerate(seen):
            for second, other_flow, other_reads, other_writes in seen[at + 1 : at + 60]:
                ordered = (
                    flow
                    or other_flow
                    or writes & (other_reads | other_writes)
                    or reads & other_writes
                )
                assert not ordered or first < second, seed


def test_scheduling_hides_latency() -> None:
    cycles = {False: 0, True: 0}
    for seed in range(1200, 1208):
        for wanted in cycles:
            made = compile_shader(divergent_shader(seed), BackendOptions(schedule=wanted))
            cycles[wanted] += made.cycles
    assert cycles[True] < 0.97 * cycles[False]


def test_a_stall_is_the_latency_that_is_left() -> None:
    code = ISA.assemble("mul(8) g2<1>:F g3<1>:F g4<1>:F\nadd(8) g5<1>:F g2<1>:F g2<1>:F")
    found = PIPE.timing(code)
    assert found.stalls == [0, PIPE.latency(code[0]) - 1]


@pytest.mark.parametrize("width", [8, 16])
def test_code_survives_encoding_and_assembly(width: int) -> None:
    for seed in range(1300, 1310):
        code = compile_shader(divergent_shader(seed), BackendOptions(width=width)).executable.code
        words = [ISA.encode(instr) for instr in code]
        assert [ISA.encode(ISA.decode(word)) for word in words] == words
        again = ISA.assemble(ISA.disassemble(code))
        assert [ISA.encode(instr) for instr in again] == words


def encoded_fields() -> Iterator[tuple[Instruction, Instruction, str]]:
    """An instruction, the same with one field changed, and which."""
    word, number = TYPES["UD"], TYPES["F"]

    def register(nr: int, type: RegType = word, **others: int) -> Region:
        return Region("g", nr, type, **others)

    plain = {"width": 8, "dst": register(2), "srcs": (register(3), register(4))}
    changes: dict[str, list[Any]] = {
        "width": [1, 16],
        "dst": [register(5), register(2, number), register(2, offset=4), register(2, stride=2)],
        "srcs": [
            (register(5), register(4)),
            (register(3), register(5)),
            (register(3, number), register(4)),
            (register(3)._replace(neg=True), register(4)),
            (register(3), register(4)._replace(abs=True)),
            (register(3)._replace(swizzle=(1, 0, 3, 2)), register(4)),
            (register(3), immediate(0xFFFFFFFF, word)),
        ],
        "group": [8],
        "no_mask": [True],
        "pred": ["+", "-", "!"],
        "flag": [1, 2, 3],
        "cond": list(CONDITIONS),
        "sat": [True],
    }
    flow: dict[str, Any] = {"width": 8, "target": 3}
    sent: dict[str, Any] = {
        "width": 8,
        "dst": register(2),
        "srcs": (register(3), register(4)),
        "message": Message("sampler", 5, 2, 1),
    }
    for op, begun, changed in (
        ("add", plain, changes),
        ("if", flow, {"target": [0, 4, 1 << 20], "pred": ["+"]}),
        (
            "send",
            sent,
            {
                "message": [
                    Message("memory", 5, 2, 1),
                    Message("sampler", 6, 2, 1),
                    Message("sampler", 5, 3, 1),
                    Message("sampler", 5, 2, 2),
                    Message("sampler", 5, 2, 1, header=True),
                    Message("sampler", 5, 2, 1, end=True),
                ]
            },
        ),
    ):
        for name, values in changed.items():
            for value in values:
                yield Instruction(op, **begun), Instruction(op, **{**begun, name: value}), name


def test_every_field_of_an_instruction_is_encoded_and_compared() -> None:
    seen = set()
    for plain, other, name in encoded_fields():
        for instr in (plain, other):
            again = ISA.decode(ISA.encode(instr))
            assert again.key() == instr.key(), name
            assert getattr(again, name) == getattr(instr, name)
        assert ISA.encode(other) != ISA.encode(plain), name
        assert other.key() != plain.key(), name
        seen.add(name)
    names = {field.name for field in dataclasses.fields(Instruction)}
    fields = names - {"op"} - Instruction.unencoded
    assert seen == fields


def test_random_bits_are_decoded_or_refused() -> None:
    rng = random.Random(3)
    for _ in range(2000):
        word = rng.getrandbits(128)
        try:
            instr = ISA.decode(word)
            again = ISA.decode(ISA.encode(instr))
        except (ValueError, IndexError, KeyError):
            continue
        assert again.key() == instr.key()


def test_more_values_than_registers_are_spilled_and_stay_right() -> None:
    """24 texels alive at once, of which sixteen channels have registers for 15."""
    shader = shader_of(24)
    made = compile_shader(shader, BackendOptions(width=16))
    assert 0 < made.allocation.spills < 16
    assert made.executable.scratch == 8 * made.allocation.spills
    program = MachineProgram(shader, made, Counters())
    compare(shader, PictureEnvironment(100, 1), compiler=lambda _: program)


def test_the_compiler_takes_the_width_that_fits() -> None:
    assert [chosen_width(taps) for taps in (4, 12, 16, 24)] == [16, 16, 8, 8]


def test_every_way_to_pack_and_unpack_numbers_is_selected() -> None:
    names = {name for name in OPCODES if name.startswith(("pack_", "unpack_"))}
    assert len(names) > 20
    assert names - PATTERNS.keys() - set(FORMULAS) == set()
