"""The same instruction on the same value gives the same bits: anywhere, in any company."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.numpipe.shader.program import CompiledShader, compile_program

Array = npt.NDArray[Any]

OPS = sorted(
    name
    for name, op in OPCODES.items()
    if op.per_component
    and not op.is_derivative
    and all(t.bits in (0, 1, 32) for t in op.input_types)
    and op.output_type.bits in (0, 1, 32)
    and not op.name.startswith("vec")
)


class Columns:
    """Vertex lanes whose attribute i is a column of raw bits."""

    def __init__(self, columns: list[Array]):
        self.columns = columns
        self.count = columns[0].size

    def attribute(self, index: int, component: int) -> Array:
        return self.columns[index]

    def system(self, name: str) -> Array:
        raise AssertionError(name)


@functools.cache
def program(name: str, uniform: int) -> CompiledShader:
    """out = op(sources); bit i of `uniform` makes source i a uniform instead of an attribute."""
    op: Opcode = OPCODES[name]
    b = Builder.shader_main(Stage.VERTEX, name)
    zero = b.imm_int(0)
    sources = []
    for i, type in enumerate(op.input_types):
        if uniform >> i & 1:
            value = b.intrinsic("load_ubo", [zero, b.imm_int(4 * i)], num_components=1)
        else:
            value = b.intrinsic("load_input", [zero], num_components=1, base=i, location=15 + i)
        sources.append(b.ine(value, zero) if type.bits == 1 else value)
    result = b.alu(op, *sources)
    if result.bit_size == 1:
        result = b.b2i32(result)
    b.intrinsic("store_output", [result, zero], location=32, write_mask=1)
    return compile_program(b.shader)


def run(name: str, columns: list[Array], uniform: int = 0, values: Array | None = None) -> Array:
    block = np.zeros(4, np.uint32) if values is None else np.resize(values, 4)
    resources = ShaderResources(constants=[block.astype(np.uint32).view(np.uint8)])
    with np.errstate(all="ignore"):
        (out, *_) = program(name, uniform).bind(resources).vertex(Columns(columns))[32]
    assert out is not None
    full = np.ascontiguousarray(np.broadcast_to(out, columns[0].size))
    return full.view(np.uint32)


def same(a: Array, b: Array) -> bool:
    nan = np.isnan(a.view(np.float32)) & np.isnan(b.view(np.float32))
    return bool(((a == b) | nan).all())


SPECIAL = np.array(
    [0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x7F7FFFFF,
     0xFFFFFFFF, 0x7FFFFFFF, 31, 32, 0x3F000000, 0x4B000000, 0xCF000000, 0x7FA00001, 0xFF812345],
    np.uint32,
)  # fmt: skip


def raw_columns(name: str, count: int, seed: int) -> list[Array]:
    """Ordinary floats, small integers, special values and random bits, mixed."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in OPCODES[name].input_types:
        floats = rng.uniform(-8, 8, count).astype(np.float32).view(np.uint32)
        small = rng.integers(0, 40, count, dtype=np.uint32)
        bits = rng.integers(0, 2**32, count, dtype=np.uint32)
        pick = rng.integers(0, 4, count)
        special = rng.choice(SPECIAL, count)
        columns.append(np.choose(pick, [floats, small, bits, special]).astype(np.uint32))
    return columns


@pytest.mark.parametrize("name", OPS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**31), start=st.integers(0, 60), length=st.integers(1, 80))
def test_position_stride_and_company_do_not_matter(
    name: str, seed: int, start: int, length: int
) -> None:
    columns = raw_columns(name, 160, seed)
    whole = run(name, columns)
    part = slice(start, start + length)
    assert same(run(name, [c[part] for c in columns]), whole[part])
    assert same(run(name, [c[::-3] for c in columns]), whole[::-3])
    lane = start
    alone = run(name, [c[lane : lane + 1] for c in columns])
    assert same(alone, whole[lane : lane + 1])


@pytest.mark.parametrize("name", OPS)
def test_a_uniform_source_gives_the_bits_a_varying_one_gives(name: str) -> None:
    count = len(OPCODES[name].input_types)
    columns = raw_columns(name, 48, 7)
    for lane in range(0, 48, 5):
        values = np.array([c[lane] for c in columns], np.uint32)
        same_lanes = [np.full(9, v, np.uint32) for v in values]
        expected = run(name, same_lanes)
        for uniform in range(1, 1 << count):
            assert same(run(name, same_lanes, uniform, values), expected), (uniform, values)
