"""Every opcode that can be said in SPIR-V computes the same when it has been there and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Def
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.emit.alu import supported_opcodes
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

INTS = (
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    31,
    32,
    33,
    255,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x12345678,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xC0490FDB,
    0xFFFFFF80,
    0xFFFFFFFE,
    0xFFFFFFFF,
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.75, 3.999, 100.25, -255.5, 1e-3, 7e4, 1e10)
ULPS = 4
"""what a few operations may make of a float instead of one"""
OTHERWISE = {
    "f2f16_rtz": "conversions in modules for Vulkan round to nearest",
    "vec5": "modules have no vectors of five components",
}
NAMES = sorted(n for n in supported_opcodes() - OTHERWISE.keys() if not OPCODES[n].is_derivative)


def words(op: Opcode, count: int) -> dict[tuple[int, int], Any]:
    """Input words of all lanes; each column in another order."""
    random = np.random.default_rng(7)
    kinds = [kind.base for kind in op.input_types]
    some = np.array(FLOATS, np.float32).view(np.uint32) if "float" in kinds else np.array(INTS)
    lanes = np.resize(some.astype(np.uint32), 97)
    return {
        (int(VaryingSlot.VAR0) + k // 4, k % 4): random.permutation(lanes) for k in range(count)
    }


def shader_of(op: Opcode) -> tuple[Shader, int]:
    """A fragment shader that applies the opcode to words of its inputs, and how many it takes."""
    b = Builder.shader_main(Stage.FRAGMENT, op.name)
    taken = 0
    slots: list[Def] = []

    def word() -> Def:
        nonlocal taken
        if taken % 4 == 0:
            slot = VaryingSlot(int(VaryingSlot.VAR0) + taken // 4)
            var = b.shader.add_variable(
                f"in{taken // 4}", t.vec(t.Base.UINT, 4), Mode.SHADER_IN, location=slot
            )
            var.interpolation = "flat"
            slots.append(b.load_var(var))
        taken += 1
        return b.channel(slots[-1], (taken - 1) % 4)

    def scalar(base: str, bits: int) -> Def:
        x = word()
        if bits == 1:
            return b.ine(b.iand(x, b.imm_int(1)), b.imm_int(0))
        if bits == 64 and base != "float":
            return b.alu("pack_64_2x32_split", x, word())
        if base == "float" and bits != 32:
            return b.alu(f"f2f{bits}", x)
        return x if bits == 32 else b.alu(f"u2u{bits}", x)

    sources = []
    for kind, size in zip(op.input_types, op.input_sizes, strict=True):
        parts = [scalar(kind.base, kind.bits or 32) for _ in range(max(1, size))]
        sources.append(parts[0] if len(parts) == 1 else b.vec(parts))
    found = b.alu(op.name, *sources)
    results: list[Def] = []
    for part in b.channels(found):
        bits, base = part.bit_size, op.output_type.base
        if bits == 1:
            results.append(b.alu("b2i32", part))
        elif bits == 64 and base != "float":
            results += [b.alu(f"unpack_64_2x32_split_{c}", part) for c in "xy"]
        elif bits == 32:
            results.append(part)
        else:
            results.append(b.alu("f2f32" if base == "float" else "u2u32", part))
    for start in range(0, len(results), 4):
        some = results[start : start + 4]
        some += [b.imm_int(0)] * (4 - len(some))
        out = b.shader.add_variable(
            f"out{start}",
            t.vec(t.Base.UINT, 4),
            Mode.SHADER_OUT,
            location=FragResult(int(FragResult.DATA0) + start // 4),
        )
        b.store_var(out, b.vec(some), 0b1111)
    return b.shader, taken


@pytest.mark.parametrize("name", NAMES)
def test_an_opcode_comes_back_as_it_was(name: str) -> None:
    op = OPCODES[name]
    shader, count = shader_of(op)
    given = words(op, count)
    with np.errstate(all="ignore"):
        before = interpret(shader, Environment(lanes=97, inputs=given))
        again = spirv_to_nir(read_module(nir_to_spirv(shader).to_bytes()))
        after = interpret(again, Environment(lanes=97, inputs=given))
    assert before.outputs
    for place, wanted in before.outputs.items():
        wanted, found = wanted.astype(np.uint32), after.outputs[place].astype(np.uint32)
        if op.output_type.base == "float":
            one, other = wanted.view(np.float32), found.view(np.float32)
            near = np.abs(wanted.view(np.int32).astype(np.int64) - found.view(np.int32)) <= ULPS
            same = near | (one == other) | (np.isnan(one) & np.isnan(other))
        else:
            same = wanted == found
        assert same.all(), [(int(k), hex(wanted[k]), hex(found[k])) for k in np.flatnonzero(~same)]
    shader.unref()
    again.unref()
