"""Allocation and scheduling, seen by an oracle that shares nothing with them."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.drivers.machines.program import Counters, MachineProgram
from gallette.drivers.machines.tiler.backend.repeats import fold_repeats
from gallette.drivers.machines.tiler.compile import BackendOptions, Compiled, compile_shader
from gallette.drivers.machines.tiler.isa.table import ISA
from gallette.drivers.machines.tiler.lower import lowered_for_tiler
from gallette.lessons.experiments import link
from gallette.lessons.register_pressure import VERTEX, blur_of
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare
from tests.simd.divergent_programs import DivergentShader
from tests.tiler.oracle import clashes, early_reads, missing_waits


def lowered(shader: Shader) -> Shader:
    lowered_for_tiler(shader, OptimizeOptions(scalar=True))
    return shader


def random_program(seed: int) -> Shader:
    return lowered(DivergentShader(seed, Stage.FRAGMENT, exact=True).build())


@pytest.mark.parametrize("first", range(0, 12, 4))
def test_random_programs_keep_every_rule(first: int) -> None:
    for seed in range(first, first + 4):
        made = compile_shader(random_program(seed), BackendOptions())
        assert made.allocation.virtual is not None
        assert clashes(made.allocation.virtual, made.allocation.places) == []
        assert early_reads(made) == []
        assert missing_waits(made) == []


def test_the_oracle_sees_a_barrier_that_is_missing() -> None:
    naive = BackendOptions(barriers="reads")
    assert any(missing_waits(compile_shader(random_program(seed), naive)) for seed in range(30))


def test_the_oracle_sees_nops_that_are_missing() -> None:
    made = compile_shader(random_program(3), BackendOptions())
    for instr in made.executable.code:
        if instr.op.kind == "nop":
            instr.repeat = 0
    assert early_reads(made)


def test_the_oracle_sees_registers_that_are_shared() -> None:
    made = compile_shader(random_program(3), BackendOptions())
    assert made.allocation.virtual is not None
    crowded = dict.fromkeys(made.allocation.places, 0)
    assert clashes(made.allocation.virtual, crowded)


def many_texels(registers: int) -> Compiled:
    shader = lowered(link({"vertex": VERTEX, "fragment": blur_of(24)})["fragment"])
    return compile_shader(shader, BackendOptions(registers=registers))


def test_too_many_values_are_spilled() -> None:
    assert many_texels(192).allocation.spills == 0
    few = many_texels(40)
    assert few.allocation.spills and few.registers <= 40
    assert early_reads(few) == [] and missing_waits(few) == []


@pytest.mark.parametrize("seed", range(900, 904))
def test_spilling_changes_nothing(seed: int) -> None:
    shader = random_program(seed)
    spilled = 0

    def few(shader: Shader) -> object:
        nonlocal spilled
        made = compile_shader(shader, BackendOptions(registers=24))
        spilled += made.allocation.spills
        return MachineProgram(shader, made, Counters())

    compare(shader, PictureEnvironment(100, seed), compiler=few)


@pytest.mark.parametrize("seed", range(40, 43))
def test_order_does_not_change_what_is_computed(seed: int) -> None:
    shader = random_program(seed)
    plain = BackendOptions(schedule=False)
    compare(
        shader,
        PictureEnvironment(100, seed),
        compiler=lambda s: MachineProgram(s, compile_shader(s, plain), Counters()),
    )


def folded(*lines: str) -> list[str]:
    return [ISA.line(instr) for instr in fold_repeats([ISA.read_line(line) for line in lines])]


def test_neighbours_that_do_the_same_are_one_instruction() -> None:
    assert folded("mul.f r0.x, c0.x, r4.x", "mul.f r0.y, c0.y, r4.x", "mul.f r0.z, c0.z, r4.x") == [
        "(rpt2)mul.f r0.x, (r)c0.x, r4.x"
    ]
    assert folded("add.f r1.x, r1.x, r2.x", "add.f r1.y, r1.y, r2.y") == [
        "(rpt1)add.f r1.x, (r)r1.x, (r)r2.x"
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("add.f r1.x, r0.w, r2.x", "add.f r1.y, r1.x, r2.y"),  # the second reads the first's
        ("add.f r1.x, r1.x, r2.x", "add.f r1.y, r1.x, r2.y"),
        ("mul.f r0.x, c0.x, r4.x", "mul.f r0.z, c0.y, r4.x"),  # a gap
        ("mul.f r0.x, c0.x, r4.x", "add.f r0.y, c0.y, r4.x"),
        ("mul.f r0.x, c0.x, r4.x", "mul.f r0.y, c0.y, (neg)r4.x"),
        ("(sat)add.f r0.x, r2.x, r3.x", "add.f r0.y, r2.y, r3.y"),
        ("cmps.f.lt p0.x, r2.x, r3.x", "cmps.f.lt p0.y, r2.y, r3.y"),
    ],
)
def test_others_are_left_alone(lines: tuple[str, str]) -> None:
    assert folded(*lines) == list(lines)
