"""Every opcode that can be said in SPIR-V, in every size, computes the same there and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conversions import undeclared

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
from tests.checklists import step

INTS = (0, 1, 2, 3, 7, 8, 15, 31, 32, 33, 255, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
        0x12345678, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xC0490FDB, 0xFFFFFF80,
        0xFFFFFFFE, 0xFFFFFFFF)  # fmt: skip
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.75, 3.999, 100.25, -255.5, 1e-3, 7e4, 1e10)
ULPS = 4
"""what a few operations may make of a float instead of one"""
OTHERWISE = {
    "f2f16_rtz": "conversions in modules for Vulkan round to nearest",
    "vec5": "modules have no vectors of five components",
}
NAMES = sorted(n for n in supported_opcodes() - OTHERWISE.keys() if not OPCODES[n].is_derivative)
WIDTHS = {"float": (32, 16, 64), "int": (32, 8, 16, 64), "uint": (32, 8, 16, 64)}
_FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}
_UINT = {1: np.uint32, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}

Taken = list[tuple[str, int, int]]
"""of each word of the inputs: the kind of number, its bits, which half of it"""


def test_every_opcode_can_be_written() -> None:
    """But for those that small machines have instead of others, behind the last pass."""
    assert set(OPCODES) - supported_opcodes() == {
        "fcos_reduced",
        "frcp_8bit",
        "frsq_8bit",
        "fsin_reduced",
    }, step("compiler/nir", "opcode", "SPIR-V")


def widths_of(op: Opcode) -> tuple[int, ...]:
    """The sizes an opcode is there in, if its sources say none."""
    free = [kind.base for kind in op.input_types if not kind.bits and kind.base in WIDTHS]
    return WIDTHS[free[0]] if free else (32,)


def edges(base: str, bits: int) -> np.ndarray[Any, Any]:
    """Numbers of a type, as their bits."""
    if base != "float":
        return np.array(INTS, np.uint64).astype(_UINT[bits])
    limits = np.finfo(_FLOAT[bits])
    smallest = limits.smallest_normal
    ends = [smallest, np.nextafter(smallest, 0, dtype=_FLOAT[bits]), limits.max, np.inf, np.nan]
    with np.errstate(over="ignore"):
        return np.array([*FLOATS, *ends], _FLOAT[bits]).view(_UINT[bits])


def words(taken: Taken) -> dict[tuple[int, int], Any]:
    """Input words of all lanes; each number in another order."""
    found = {}
    random = np.random.default_rng(7)
    for k, (base, bits, half) in enumerate(taken):
        if half == 0:
            lanes = random.permutation(np.resize(edges(base, bits), 97)).astype(np.uint64)
        place = (int(VaryingSlot.VAR0) + k // 4, k % 4)
        found[place] = (lanes >> np.uint64(32 * half)).astype(np.uint32)
    return found


def shader_of(op: Opcode, width: int) -> tuple[Shader, Taken]:
    """A fragment shader that applies the opcode to words of its inputs, and what they are."""
    b = Builder.shader_main(Stage.FRAGMENT, op.name)
    taken: Taken = []
    slots: list[Def] = []

    def word(base: str, bits: int, half: int = 0) -> Def:
        k = len(taken)
        if k % 4 == 0:
            slot = VaryingSlot(int(VaryingSlot.VAR0) + k // 4)
            var = b.shader.add_variable(
                f"in{k // 4}", t.vec(t.Base.UINT, 4), Mode.SHADER_IN, location=slot
            )
            var.interpolation = "flat"
            slots.append(b.load_var(var))
        taken.append((base, bits, half))
        return b.channel(slots[-1], k % 4)

    def scalar(base: str, bits: int) -> Def:
        x = word(base, bits)
        if bits == 1:
            return b.ine(b.iand(x, b.imm_int(1)), b.imm_int(0))
        if bits == 64:
            return b.alu("pack_64_2x32_split", x, word(base, bits, 1))
        return x if bits == 32 else b.alu(f"u2u{bits}", x)

    sources = []
    for kind, size in zip(op.input_types, op.input_sizes, strict=True):
        bits = kind.bits or (1 if kind.base == "bool" else width)
        parts = [scalar(kind.base, bits) for _ in range(max(1, size))]
        sources.append(parts[0] if len(parts) == 1 else b.vec(parts))
    found = b.alu(op.name, *sources)
    results: list[Def] = []
    for part in b.channels(found):
        if part.bit_size == 1:
            results.append(b.alu("b2i32", part))
        elif part.bit_size == 64:
            results += [b.alu(f"unpack_64_2x32_split_{c}", part) for c in "xy"]
        else:
            results.append(part if part.bit_size == 32 else b.alu("u2u32", part))
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


def numbers(outputs: dict[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """What came out, as unsigned numbers of that many bits."""
    columns = np.array([outputs[place] for place in sorted(outputs)]).astype(np.uint32)
    if bits != 64:
        return columns.astype(_UINT[bits])
    return columns[0::2].astype(np.uint64) | columns[1::2].astype(np.uint64) << np.uint64(32)


def alike(
    wanted: np.ndarray[Any, Any], found: np.ndarray[Any, Any], bits: int, flushed: bool
) -> Any:
    """Are floats the same, but for a few units in the last place (or flushed denormals)?"""
    one, other = wanted.view(_FLOAT[bits]), found.view(_FLOAT[bits])
    tiny = np.finfo(_FLOAT[bits]).smallest_normal
    apart = np.where(wanted > found, wanted - found, found - wanted)
    zeroed = flushed & (np.abs(one) < tiny) & (other == 0)
    return (apart <= ULPS) | (one == other) | (np.isnan(one) & np.isnan(other)) | zeroed


@pytest.mark.parametrize(
    ("name", "width"), [(name, width) for name in NAMES for width in widths_of(OPCODES[name])]
)
def test_an_opcode_comes_back_as_it_was(name: str, width: int) -> None:
    op = OPCODES[name]
    shader, taken = shader_of(op, width)
    given = words(taken)
    with np.errstate(all="ignore"):
        before = interpret(shader, Environment(lanes=97, inputs=given))
        module = nir_to_spirv(shader)
        again = spirv_to_nir(read_module(module.to_bytes()))
        after = interpret(again, Environment(lanes=97, inputs=given))
    assert before.outputs
    assert undeclared(module) == set()
    bits = op.output_type.bits or (1 if op.output_type.base == "bool" else width)
    wanted, found = (numbers(run.outputs, bits) for run in (before, after))
    is_float, flushed = op.output_type.base == "float", name == "ldexp" and width == 32
    same = alike(wanted, found, bits, flushed) if is_float else wanted == found
    assert same.all(), [(hex(w), hex(f)) for w, f in zip(wanted[~same], found[~same], strict=True)]
    shader.unref()
    again.unref()


@pytest.mark.parametrize("name", ["discard", "discard_if", "demote", "demote_if"])
def test_an_invocation_that_ends_or_helps_does_so_again(name: str) -> None:
    """A demoted invocation goes on and its neighbours see its values; a discarded one does not."""
    b = Builder.shader_main(Stage.FRAGMENT, name)
    slot = VaryingSlot.VAR0
    given = b.shader.add_variable("given", t.vec(t.Base.UINT, 4), Mode.SHADER_IN, location=slot)
    given.interpolation = "flat"
    word = b.channel(b.load_var(given), 0)
    odd = b.ine(b.iand(word, b.imm_int(1)), b.imm_int(0))
    if name.endswith("_if"):
        b.intrinsic(name, [odd])
    else:
        b.push_if(odd)
        b.intrinsic(name, [])
        b.pop_if()
    if name.startswith("demote"):
        word = b.bcsel(b.intrinsic("is_helper_invocation"), b.imm_int(100), word)
    out = b.shader.add_variable(
        "out", t.vec(t.Base.UINT, 4), Mode.SHADER_OUT, location=FragResult.DATA0
    )
    b.store_var(out, b.vec([word] * 4), 0b1111)
    again = spirv_to_nir(read_module(nir_to_spirv(b.shader).to_bytes()))
    words = np.arange(8, dtype=np.uint32)
    environment = Environment(lanes=8, inputs={(int(slot), 0): words})
    before, after = interpret(b.shader, environment), interpret(again, environment)
    assert before.alive.tolist() == after.alive.tolist() == [True, False] * 4
    other = 100 if name.startswith("demote") else 0
    found = after.outputs[FragResult.DATA0, 0]
    assert np.array_equal(found, before.outputs[FragResult.DATA0, 0])
    assert found.tolist() == [0, other, 2, other, 4, other, 6, other]
