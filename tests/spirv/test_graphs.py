"""Graphs of branches, structured or not: each block is written once, and runs when it should."""

from __future__ import annotations

import random

import pytest

from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pipeline import to_driver_form
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

MODULE = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %index %result
OpDecorate %index BuiltIn VertexIndex
OpDecorate %result Location 0
%void = OpTypeVoid
%type = OpTypeFunction %void
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%bool = OpTypeBool
%in = OpTypePointer Input %int
%out = OpTypePointer Output %uint
%index = OpVariable %in Input
%result = OpVariable %out Output
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%shift = OpConstant %uint 13
%steps = OpConstant %uint 9
%factor = OpConstant %uint 2654435761
{constants}
%main = OpFunction %void None %type
%start = OpLabel
%i = OpLoad %int %index
%lane = OpBitcast %uint %i
OpBranch %b0
{blocks}
OpFunctionEnd
"""
STEPS, FACTOR, FIRST, LANES = 9, 2654435761, 1000, 32
Graph = list[list[int]]
"""the successors of each block; it returns if it has none"""

GRAPHS = [
    [[1, 2, 3, 4], [2], [3], [4], []],  # cases that fall into one another
    [[3, 1, 2], [3], [1], []],  # out of order
    [[1, 2], [3, 4], [3, 4], [5], [5], []],  # crossing arms
    [[1, 4], [5, 4], [3], [4, 2], [5, 3], []],  # loops in a block that a flag selects
    [[1, 2], [2, 3], [1, 3], []],  # a loop with two entries
    [[1], [2, 4], [3, 4], [1, 2, 4], []],  # leaving, repeating two loops
]


def drawn(seed: int) -> Graph:
    rng = random.Random(seed)
    count, back = rng.randint(3, 12), rng.choice((0, 0.15, 0.4))
    graph: Graph = []
    for at in range(1, count):
        ahead = range(at, min(count, at + rng.choice((1, 3, 8))))
        ways = [rng.choice(range(count) if rng.random() < back else ahead) for _ in range(4)]
        graph.append(ways[: rng.choice((1, 2, 2, 2, 3, 4))])
    return [*graph, []]


def written(graph: Graph) -> Shader:
    """The code of a graph. Each block changes a value, two bits of which choose the way; a block
    that repeats a loop returns after some steps.
    """
    blocks = []
    for at, ways in enumerate(graph):
        before = [k for k, targets in enumerate(graph) if at in targets]
        phis = (
            f"%{to}{at} = OpPhi %uint {initial} " + " ".join(f"%{value}{k} %b{k}" for k in before)
            for to, initial, value in (
                ("x", "%lane %start" if at == 0 else "", "v"),
                ("m", "%zero %start" if at == 0 else "", "n"),
            )
        )
        cases = " ".join(f"{k} %b{ways[k % len(ways)]}" for k in range(4) if ways)
        other = f"b{ways[0]}" if ways and min(ways) > at else f"end{at}"
        blocks.append(
            f"%b{at} = OpLabel\n{chr(10).join(phis)}\n%y{at} = OpIMul %uint %x{at} %factor\n"
            f"%v{at} = OpIAdd %uint %y{at} %k{at}\n%n{at} = OpIAdd %uint %m{at} %one\n"
            f"%late{at} = OpUGreaterThan %bool %n{at} %steps\n"
            f"%high{at} = OpShiftRightLogical %uint %v{at} %shift\n"
            f"%bits{at} = OpBitwiseAnd %uint %high{at} %three\n"
            f"%way{at} = OpSelect %uint %late{at} %steps %bits{at}\n"
            f"OpSwitch %way{at} %{other} {cases}\n"
            f"%end{at} = OpLabel\nOpStore %result %v{at}\nOpReturn"
        )
    constants = "\n".join(f"%k{k} = OpConstant %uint {FIRST + k}" for k in range(len(graph)))
    text = MODULE.format(constants=constants, blocks="\n".join(blocks))
    return spirv_to_nir(read_module(assemble(text).to_bytes()))


def expected(graph: Graph, x: int) -> int:
    at, steps = 0, 0
    while True:
        x = x * FACTOR + FIRST + at & 0xFFFFFFFF
        steps += 1
        ways = graph[at]
        if not ways or (steps > STEPS and min(ways) <= at):
            return x
        at = ways[0 if steps > STEPS else (x >> 13 & 3) % len(ways)]


def additions(shader: Shader) -> list[int]:
    """The numbers that blocks add, as often as they stand in the code."""
    return [
        src.value.instr.values[0]
        for block in shader.entry.blocks()
        for instr in block.instrs()
        if isinstance(instr, Alu) and instr.op.name == "iadd"
        for src in instr.srcs
        if isinstance(src.value.instr, LoadConst) and src.value.instr.values[0] >= FIRST
    ]


@pytest.mark.parametrize("graphs", [GRAPHS, [drawn(seed) for seed in range(60)]])
def test_blocks_are_written_once_and_run_in_their_order(graphs: list[Graph]) -> None:
    for graph in graphs:
        shader = written(graph)
        found = additions(shader)
        assert len(found) == len(set(found)), graph
        to_driver_form(shader)
        outputs = interpret(shader, Environment(LANES)).outputs[VaryingSlot.VAR0, 0]
        assert outputs.tolist() == [expected(graph, lane) for lane in range(LANES)], graph
