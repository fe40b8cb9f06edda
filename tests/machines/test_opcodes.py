"""The machines' opcodes: as many operands as they compute from, in code as in assembly."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.ir.types import Dim
from gallette.drivers.machines.isa.types import TYPES
from gallette.drivers.machines.simd.isa.instruction import Instruction, Region
from gallette.drivers.machines.simd.isa.opcodes import OPCODES as SIMD
from gallette.drivers.machines.simd.isa.table import ISA as SIMD_ISA
from gallette.drivers.machines.tiler.isa.opcodes import OPCODES as TILER
from gallette.drivers.machines.tiler.isa.table import ISA as TILER_ISA
from gallette.machines import MACHINES as INSTRUCTION_SETS
from gallette.machines import pages
from tests.machines.test_fragment_outputs import MACHINES
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare

# Rows without a function: what the instruction does depends on more than its operands.
OPERANDS = {"mov": 1, "sel": 2, "cmp": 2, "bfe": 3, "sel.b": 3}
OPERANDS |= dict.fromkeys(("dsx", "dsy", "dsx.c", "dsy.c"), 1)


def operands(op: Any) -> int | None:
    """How many numbers an opcode computes from, if it computes something."""
    if isinstance(op.semantics, np.ufunc):
        return int(op.semantics.nin)
    if op.semantics is None:
        return OPERANDS.get(op.name)
    given = inspect.signature(op.semantics).parameters.values()
    return sum(parameter.default is inspect.Parameter.empty for parameter in given)


def test_instructions_of_simd_have_the_operands_they_compute_from() -> None:
    registers = [Region("g", 3 + k, TYPES["UD"]) for k in range(4)]
    for name, op in SIMD.items():
        count = operands(op)
        if count is not None:
            instr = Instruction(name, registers[3], tuple(registers[:count]))
            line = SIMD_ISA.line(instr)
            again = SIMD_ISA.read_line(line)
            assert SIMD_ISA.line(again) == line
            assert SIMD_ISA.decode(SIMD_ISA.encode(again)).key() == instr.key(), name


ALIKE = [
    "endif do", "if else while break cont halt", "mov not and or xor",
    "sel cmp shl shr rol ror add mul mul24 addc subb avg avgd frc rndd rndu rndz rnde cbit fbh fbs"
    " fbl bfrev bfe bfm",
    "mad lrp", "mulh mulx",
]  # fmt: skip
MATHS = [
    "f16z norm fin", "inv sqrt rsq exp log ldexp frexps frexpe quant", "sin cos fdiv",
    "pow fmod frem", "idiv udiv imod irem umod",
]  # fmt: skip
"""Instructions of simd by what they have to do, the least first."""


def test_equivalent_simd_instructions_have_equal_costs() -> None:
    maths = [" ".join(f"math.{name}" for name in group.split()) for group in MATHS]
    assert {"send", "nop", *" ".join(ALIKE + maths).split()} == SIMD.keys()
    for groups, issue in ((ALIKE, 1), (maths, 4)):
        costs = []
        for group in groups:
            (cost,) = {(SIMD[name].latency, SIMD[name].issue) for name in group.split()}
            costs.append(cost)
        assert costs == sorted(set(costs)) and {cost[1] for cost in costs} == {issue}
    assert all(SIMD["send"].latency > SIMD[name].latency for name in " ".join(ALIKE).split())


def test_instructions_of_the_tiler_have_the_operands_they_compute_from() -> None:
    for name, op in TILER.items():
        count = operands(op)
        if count is not None:
            line = ", ".join([f"{name} r0.x", *[f"r{k + 1}.x" for k in range(count)]])
            again = TILER_ISA.read_line(line)
            assert TILER_ISA.line(again) == line
            again = TILER_ISA.decode(TILER_ISA.encode(again))
            assert TILER_ISA.line(again) == line


def unpacked(name: str, component: int) -> Shader:
    """A part of one component of a texel: of a register that others lie before."""
    b = Builder.shader_main(Stage.FRAGMENT, "unpacked")
    coord = b.vec([b.imm_float(0.25), b.imm_float(3.5)])
    texel = b.tex("txl", [("coord", coord), ("lod", b.imm_float(0.0))], Dim.D2, texture_index=1)
    value = b.alu(name, b.channel(texel, component))
    b.intrinsic(
        "store_output",
        [value, b.imm_int(0)],
        location=FragResult.DATA0,
        write_mask=(1 << value.num_components) - 1,
    )
    return b.shader


@pytest.mark.parametrize("machine", MACHINES)
def test_any_component_of_a_texel_is_unpacked(machine: str) -> None:
    lower, compiled = MACHINES[machine]
    for name in ("unpack_half_2x16_split_x", "unpack_half_2x16_split_y", "unpack_half_2x16"):
        for component in range(4):
            shader = lower(unpacked(name, component))
            compare(shader, PictureEnvironment(9), compiler=compiled)


def test_pages_of_the_reference_are_up_to_date() -> None:
    """`python -m gallette.machines docs/reference` writes them."""
    folder = Path(__file__).resolve().parents[2] / "docs/reference"
    for name, text in pages().items():
        assert (folder / name).read_text(encoding="utf-8") == text


def test_pages_say_where_everything_stands() -> None:
    """Every opcode has a row, and the fields of a format lie side by side in its word."""
    for name, load in INSTRUCTION_SETS.items():
        isa, text = load(), pages()[f"{name}_instructions.md"]
        for op in isa.opcodes.values():
            assert f"| `{op.name}` |" in text
        for part in text.split("**")[2::2]:
            ranges = [
                [int(bit) for bit in row.split("|")[1].split("-")]
                for row in part.partition("\n## ")[0].splitlines()
                if row.startswith("| ") and row[2].isdigit()
            ]
            stops = [found[-1] for found in ranges]
            starts = [found[0] for found in ranges]
            assert starts[0] == 0 and stops[-1] < 8 * isa.word_bytes
            assert all(stop < start for stop, start in zip(stops, starts[1:], strict=False))
