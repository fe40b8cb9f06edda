"""Arithmetic whose operands are constants or negated, in any place.

Shaders are given to the back ends as they are, so that constants stand where an optimizer would
have computed with them already; what they are is what the reference interpreter says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.opcodes import OPCODES, AluType, Opcode
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.machines.tiler.backend.select import PATTERNS
from tests.machines.programs import compiled_for_simd, compiled_for_tiler
from tests.numpipe.shader.shader_harness import PictureEnvironment, compare

_VECTORS = {name for name, op in OPCODES.items() if op.is_vec}
_REDUCED = {
    name
    for name in OPCODES
    if name.startswith(("fdot", "fdph", "fsum", "ball_", "bany_")) or name.endswith("_reduced")
}
"""What becomes other opcodes for any machine."""
_SMALL = {f"{kind}{bits}" for kind in ("i2i", "u2u", "b2i") for bits in (8, 16, 64)}
_OF_THE_TILER = _VECTORS | _SMALL | {
    "mov", "fneg", "fabs", "fsat", "fsub", "imul", "inot", "ineg", "iabs", "b2i32",
    "pack_64_2x32", "pack_64_2x32_split", "unpack_32_2x16", "unpack_32_2x16_split_x",
    "unpack_32_2x16_split_y", "unpack_32_4x8",
}  # fmt: skip
"""Short sequences, and what costs nothing; the rest is lowered before."""
_WIDE_ON_THE_TILER = {
    name
    for name, op in OPCODES.items()
    if {type.bits for type in (*op.input_types, op.output_type)} - {0, 1, 32}
}
# How programs are made, and of which opcodes.
MACHINES: dict[str, tuple[Callable[[Shader], Any], frozenset[str]]] = {
    "simd": (
        compiled_for_simd,
        frozenset(OPCODES.keys() - _REDUCED - {"frcp_8bit", "frsq_8bit"}),
    ),
    "tiler": (
        compiled_for_tiler,
        frozenset((PATTERNS.keys() - _WIDE_ON_THE_TILER | _OF_THE_TILER) & OPCODES.keys()),
    ),
}
LANES, INPUT, VALUES = 24, 32, 32
"""Lanes, the first slot of inputs, and how many values a shader hands out."""
WORDS = (0x9C36BD41, 0x40B3A5E7, 0x3D12F0C8, 0xC1F6874A)
"""The constants: other bytes in each place, and floats of either sign."""


class Operands:
    """Constants and inputs of any type."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
        self.inputs = [
            b.intrinsic(
                "load_interpolated_input",
                [bary, b.imm_int(0)],
                num_components=1,
                location=INPUT,
                component=k,
            )
            for k in range(4)
        ]

    def word(self, type: AluType, number: int, chosen: bool, kind: str, size: int) -> Def:
        """The operand with that number: what inputs have, or, if it is chosen, of that kind."""
        b, bits = self.b, type.bits or 32
        values = []
        for k in range(number, number + size):
            first, second = WORDS[k % 4], WORDS[(k + 1) % 4]
            if chosen and kind == "constant":
                whole = first & 1 if bits == 1 else first | second << 32
                values.append(b.const((whole,), bits))
                continue
            one, two = self.inputs[k % 4], self.inputs[(k + 1) % 4]
            if bits == 64:
                values.append(b.alu("pack_64_2x32_split", one, two))
            elif bits == 1:
                values.append(b.alu("flt", one, two))
            else:
                values.append(one if bits == 32 else b.alu(f"u2u{bits}", one))
            if chosen and type.base == "float":
                values[-1] = b.alu("fneg", b.alu("fabs", values[-1]))
            elif chosen and type.base != "bool":
                values[-1] = b.alu("ineg", values[-1])
        return values[0] if size == 1 else b.vec(values)


def results(b: Builder, value: Def) -> list[Def]:
    """A value as 32 bits each."""
    found = []
    for k in range(value.num_components):
        part = b.channel(value, k) if value.num_components > 1 else value
        if part.bit_size == 64:
            found += [b.alu(f"unpack_64_2x32_split_{half}", part) for half in "xy"]
        elif part.bit_size == 1:
            found.append(b.alu("b2i32", part))
        else:
            found.append(part if part.bit_size == 32 else b.alu("u2u32", part))
    return found


def cases(names: frozenset[str]) -> Iterator[tuple[Opcode, int]]:
    """Opcodes, and which of their operands are chosen: each, and all."""
    for name in sorted(names):
        op = OPCODES[name]
        every = (1 << op.num_inputs) - 1
        for mask in sorted({*(1 << k for k in range(op.num_inputs)), every}):
            yield op, mask


def shaders(names: frozenset[str], kind: str) -> Iterator[Shader]:
    """A few opcodes each."""
    left = list(cases(names))
    while left:
        b = Builder.shader_main(Stage.FRAGMENT, " ".join(op.name for op, _ in islice(left, 9)))
        operands, stored = Operands(b), 0
        while left and stored + 8 <= VALUES:
            op, mask = left.pop(0)
            sources = [
                operands.word(type, k, bool(mask >> k & 1), kind, max(1, size))
                for k, (type, size) in enumerate(zip(op.input_types, op.input_sizes, strict=True))
            ]
            for value in results(b, b.alu(op, *sources)):
                b.intrinsic(
                    "store_output",
                    [value, b.imm_int(0)],
                    location=FragResult.DATA0 + stored // 4,
                    component=stored % 4,
                    write_mask=1,
                )
                stored += 1
        yield b.shader


@pytest.mark.parametrize("kind", ["constant", "negated"])
@pytest.mark.parametrize("machine", MACHINES)
def test_operands_in_any_place(machine: str, kind: str) -> None:
    compiler, names = MACHINES[machine]
    rng = np.random.default_rng(4)
    inputs = {(INPUT, k): rng.uniform(-9, 9, LANES).astype(np.float32) for k in range(4)}
    assert len(names) > 50
    for shader in shaders(names, kind):
        compare(shader, PictureEnvironment(LANES, inputs=inputs), quads=True, compiler=compiler)


@pytest.mark.parametrize("machine", MACHINES)
def test_other_opcodes_are_refused(machine: str) -> None:
    """They are lowered before; whoever forgets that is told of which."""
    compiler, names = MACHINES[machine]
    refused = OPCODES.keys() - names
    if machine == "tiler":
        refused -= _WIDE_ON_THE_TILER
    assert len(refused) > 20
    for name in sorted(refused):
        b = Builder.shader_main(Stage.FRAGMENT, name)
        operands, op = Operands(b), OPCODES[name]
        sources = [
            operands.word(type, k, False, "", max(1, size))
            for k, (type, size) in enumerate(zip(op.input_types, op.input_sizes, strict=True))
        ]
        b.alu(name, *sources)
        with pytest.raises(GalletteError, match=f"^{machine} has no code for the .*{name!r}"):
            compiler(b.shader)
