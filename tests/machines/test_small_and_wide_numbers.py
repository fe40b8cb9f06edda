"""Numbers of 8, 16 and 64 bits on machines whose registers have 32: every opcode between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.slots import FragResult
from tests.machines.test_fragment_outputs import MACHINES
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare, run_compiled

LANES = 23
WORDS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x12345678,
         0x7FFFFFFF, 0x80000000, 0x80FF7F01, 0xFFFFFFFF)  # fmt: skip
WIDTHS = {"u": "uint", "i": "int"}
CONVERSIONS = [
    (f"{letter}2{letter}{to}", given, to)
    for letter in "ui"
    for given in (8, 16, 32, 64)
    for to in (8, 16, 32, 64)
    if given != to
]
PACKED = ["pack_32_2x16", "pack_32_4x8", "pack_32_2x16_split", "unpack_32_2x16", "unpack_32_4x8",
          "unpack_32_2x16_split_x", "unpack_32_2x16_split_y", "pack_64_2x32",
          "pack_64_2x32_split", "unpack_64_2x32", "unpack_64_2x32_split_x",
          "unpack_64_2x32_split_y"]  # fmt: skip


class Shaders:
    """A shader of words that are given, and of what is made of them."""

    def __init__(self) -> None:
        self.b = Builder.shader_main(Stage.FRAGMENT, "numbers")
        self.slot = 0

    def word(self) -> Any:
        self.slot += 1
        return self.b.intrinsic(
            "load_input", [self.b.imm_int(0)], num_components=1, location=31 + self.slot
        )

    def number(self, bits: int) -> Any:
        """A number of a size, of the words' low bits."""
        b = self.b
        if bits == 64:
            return b.alu("pack_64_2x32_split", self.word(), self.word())
        word = self.word()
        return word if bits == 32 else b.alu(f"u2u{bits}", word)

    def stored(self, value: Any, signed: bool = False) -> Shader:
        """The shader, which stores every bit of the value's components."""
        b, parts = self.b, []
        for part in b.channels(value):
            if part.bit_size == 64:
                parts += [b.alu(f"unpack_64_2x32_split_{c}", part) for c in "xy"]
            elif part.bit_size < 32:
                parts.append(b.alu("i2i32" if signed else "u2u32", part))
            else:
                parts.append(part)
        b.intrinsic(
            "store_output",
            [b.vec(parts), b.imm_int(0)],
            location=FragResult.DATA0,
            write_mask=(1 << len(parts)) - 1,
            src_type="uint32",
        )
        return b.shader


def environment() -> PictureEnvironment:
    words = np.resize(np.array(WORDS, np.uint32), LANES)
    return PictureEnvironment(LANES, inputs={(32 + k, 0): np.roll(words, 3 * k) for k in range(8)})


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "given", "to"), CONVERSIONS)
def test_conversions_between_sizes(machine: str, name: str, given: int, to: int) -> None:
    lower, compiled = MACHINES[machine]
    made = Shaders()
    shader = lower(made.stored(made.b.alu(name, made.number(given)), signed=name[0] == "i"))
    env = environment()
    compare(shader, env, compiler=compiled)
    found, _, _ = run_compiled(shader, env, compiler=compiled)
    low = env.inputs[32, 0].astype(np.uint64)
    wide = low | env.inputs[33, 0].astype(np.uint64) << np.uint64(32) if given == 64 else low
    kind = name[0]
    number = wide.astype(f"u{given // 8}").view(f"{kind}{given // 8}").astype(f"{kind}{to // 8}")
    bits = number.astype(np.int64 if kind == "i" else np.uint64).view(np.uint64)
    assert found[FragResult.DATA0, 0].tolist() == bits.astype(np.uint32).tolist()
    if to == 64:
        high = (bits >> np.uint64(32)).astype(np.uint32)
        assert found[FragResult.DATA0, 1].tolist() == high.tolist()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", PACKED)
def test_numbers_are_put_together_and_taken_apart(machine: str, name: str) -> None:
    lower, compiled = MACHINES[machine]
    op = OPCODES[name]
    made = Shaders()
    sources = []
    for type, size in zip(op.input_types, op.input_sizes, strict=True):
        parts = [made.number(type.bits) for _ in range(max(1, size))]
        sources.append(made.b.vec(parts))
    shader = lower(made.stored(made.b.alu(name, *sources)))
    env = environment()
    compare(shader, env, compiler=compiled)
    found, _, _ = run_compiled(shader, env, compiler=compiled)
    bits = op.input_types[0].bits
    given = [env.inputs[32 + k, 0].astype(np.uint64) for k in range(8)]
    if name.startswith("pack"):
        total = np.zeros(LANES, np.uint64)
        for k in range(sum(max(1, size) for size in op.input_sizes)):
            low = given[k] & np.uint64((1 << bits) - 1)
            total |= low << np.uint64(bits * k)
        wanted = [total & np.uint64(0xFFFFFFFF), total >> np.uint64(32)]
    else:
        to = op.output_type.bits
        whole = given[0] | given[1] << np.uint64(32) if bits == 64 else given[0]
        first = int(name.endswith("_y"))
        count = max(1, op.output_size)
        mask = np.uint64((1 << to) - 1)
        wanted = [whole >> np.uint64(to * k) & mask for k in range(first, first + count)]
    for k in range(len([key for key in found if key[0] == FragResult.DATA0])):
        assert found[FragResult.DATA0, k].tolist() == wanted[k].tolist()
