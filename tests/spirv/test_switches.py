"""OpSwitch: cases that fall into one another run in their order, and each is written once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.run.pipeline import to_driver_form
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

MODULE = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %chosen %result
OpExecutionMode %main OriginUpperLeft
OpDecorate %chosen Location 0
OpDecorate %chosen Flat
OpDecorate %result Location 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%int = OpTypeInt 32 1
%in = OpTypePointer Input %int
%out = OpTypePointer Output %int
%local = OpTypePointer Function %int
%chosen = OpVariable %in Input
%result = OpVariable %out Output
%one = OpConstant %int 1
%three = OpConstant %int 3
{constants}
%main = OpFunction %void None %type
%start = OpLabel
%r = OpVariable %local Function
OpStore %r %one
%c = OpLoad %int %chosen
OpSelectionMerge %merge None
OpSwitch %c %{default} {cases}
{blocks}
%merge = OpLabel
%end = OpLoad %int %r
OpStore %result %end
OpReturn
OpFunctionEnd
"""
COUNT = 4
TIMES, FIRST = 3, 1000
"""what a case does to the number: times this, plus a thousand and its number"""


def switch(default: int, falls: tuple[bool, ...]) -> Shader:
    """Blocks 0, 1, ... in a row; `default` is the one for all other numbers, `falls` says which go
    on with the next."""
    blocks = []
    for k in range(COUNT):
        after = f"case{k + 1}" if k + 1 < COUNT and falls[k] else "merge"
        blocks.append(
            f"%case{k} = OpLabel\n%old{k} = OpLoad %int %r\n%more{k} = OpIMul %int %old{k} %three\n"
            f"%new{k} = OpIAdd %int %more{k} %k{k}\nOpStore %r %new{k}\nOpBranch %{after}"
        )
    text = MODULE.format(
        constants="\n".join(f"%k{k} = OpConstant %int {FIRST + k}" for k in range(COUNT)),
        default=f"case{default}",
        cases=" ".join(f"{k} %case{k}" for k in range(COUNT) if k != default),
        blocks="\n".join(blocks),
    )
    return spirv_to_nir(read_module(assemble(text).to_bytes()))


def expected(chosen: int, default: int, falls: tuple[bool, ...]) -> int:
    at, r = chosen if 0 <= chosen < COUNT else default, 1
    while True:
        r = r * TIMES + FIRST + at
        if at + 1 == COUNT or not falls[at]:
            return r
        at += 1


def additions(shader: Shader) -> list[int]:
    """The numbers that cases add, as often as they stand in the code."""
    return sorted(
        src.value.instr.values[0]
        for block in shader.entry.blocks()
        for instr in block.instrs()
        if isinstance(instr, Alu) and instr.op.name == "iadd"
        for src in instr.srcs
        if isinstance(src.value.instr, LoadConst) and src.value.instr.values[0] >= FIRST
    )


@pytest.mark.parametrize("default", range(COUNT))
def test_cases_fall_into_the_next_wherever_the_default_stands(default: int) -> None:
    numbers = np.arange(-1, COUNT + 2)
    for falls in itertools.product((False, True), repeat=COUNT - 1):
        shader = switch(default, falls)
        assert additions(shader) == [FIRST + k for k in range(COUNT)], falls
        to_driver_form(shader)
        environment = Environment(len(numbers), inputs={(int(VaryingSlot.VAR0), 0): numbers})
        found = interpret(shader, environment).outputs[FragResult.DATA0, 0].tolist()
        assert found == [expected(int(n), default, falls) for n in numbers], falls
