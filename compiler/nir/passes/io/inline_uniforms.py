"""Uniforms with known values become constants."""

from __future__ import annotations

import struct

from gallette.compiler.nir.algebraic.position import position_values
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import If
from gallette.compiler.nir.ir.instrs import Alu, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import MAKES_POSITIONS, Stage
from gallette.compiler.nir.ir.queries import const_int, intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("inline_uniforms", preserves=Metadata.CONTROL_FLOW)
def inline_uniforms(
    shader: Shader,
    *,
    values: tuple[tuple[int, int], ...] = (),
    data: bytes = b"",
    positions: bool = False,
) -> bool:
    """Replace 32-bit loads from the default block by constants.

    `values` lists (byte offset, raw bits) pairs; `data` instead gives the whole block. A use is
    replaced if all components it reads are known.
    A product with a constant may be folded differently from one with a uniform, so the computation
    of the vertex position keeps its loads, and a draw with this variant puts every vertex where a
    draw with another one does. `positions=True` disables that. Before, with 1.0 in the uniform:

        32 %2 = load_ubo %0, %1
        32 %4 = fmul %3, %2         // for a colour
        32 %6 = fmul %5, %2         // for gl_Position

    after: `%4 = fmul %3, 1.0`, and `%6` unchanged.
    """
    known = dict(values)
    for offset in range(0, len(data) - 3, 4):
        known[offset] = struct.unpack_from("<I", data, offset)[0]
    if not known or (shader.stage is Stage.TESS_CTRL and not positions):
        return False  # any output of a patch may become a position
    careful = shader.stage in MAKES_POSITIONS and not positions
    progress = False
    for impl in shader.impls():
        spared = position_values(impl) if careful else set()
        for load in intrinsics_of(impl, "load_ubo"):
            first = const_int(load.srcs[1].value)
            dest = load.result
            if const_int(load.srcs[0].value) != 0 or first is None or dest.bit_size != 32:
                continue
            bits = [known.get(first + 4 * i) for i in range(dest.num_components)]
            uses = [use for use in dest.uses if _may_change(use, bits, spared)]
            if uses:
                b = Builder(impl).at_before(load)
                constant = b.const([value or 0 for value in bits], 32)
                for use in uses:
                    use.rewrite(constant)
                progress = True
            if not dest.uses:
                load.remove()
    return progress


def _may_change(use: Src, bits: list[int | None], spared: set[Def]) -> bool:
    """Whether everything the use reads is known, and no position depends on it."""
    read = [bits[c] for c in use.swizzle] if use.swizzle else bits
    if any(value is None for value in read):
        return False
    user = use.parent
    if isinstance(user, If):
        return user.condition.value not in spared
    if isinstance(user, Alu) or user.dest is not None:
        return user.dest not in spared
    return use.value not in spared or not isinstance(user, Intrinsic)
