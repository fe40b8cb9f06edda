"""Merging draws: one run of a shader for many draws that differ only in their constants.

Applications draw few vertices again and again, with a uniform changed in between. Merged, the draws
become instances of one: a table has one row with the constant block of each draw, and the shader
reads the row of its draw. A vertex gets the draw's number as a system value, a fragment as the
primitive's identity (so merged draws have no gl_PrimitiveID).
"""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Intrinsic, LoadConst, Shader
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.run.pass_runner import nir_pass

_OBSERVERS = frozenset({"load_primitive_id", "load_base_instance"})


_OUTSIDE = 0x7FFFFFF0
"""An offset outside of all tables, where zero is read."""


def can_merge(shader: Shader) -> bool:
    """Whether a shader can neither distinguish merged draws nor read beyond its row of
    constants.
    """
    for impl in shader.impls():
        for block in impl.blocks():
            for instr in block.instrs():
                if not isinstance(instr, Intrinsic):
                    continue
                reaches = any(word in instr.name for word in ("ssbo", "image", "atomic"))
                if instr.name in _OBSERVERS or reaches:
                    return False
                if instr.name == "load_ubo" and not (
                    _block_of(instr) == 0
                    or all(isinstance(src.value.instr, LoadConst) for src in instr.srcs)
                ):
                    return False
    return True


def _block_of(load: Intrinsic) -> int | None:
    """The constant index of the block that is loaded from, or None."""
    block = load.srcs[0].value.instr
    return int(block.values[0]) if isinstance(block, LoadConst) else None


@nir_pass("constants_per_draw", preserves=Metadata.CONTROL_FLOW)
def constants_per_draw(
    shader: Shader, *, stride: int = 0, blocks: tuple[tuple[int, int], ...] = ()
) -> bool:
    """Constant block 0 is a table with a row of `stride` bytes for every merged draw.

    load_ubo(0, 16)   ->   load_ubo(0, 16 + load_merged_draw() * stride)

    `blocks` are the numbers and strides of other blocks with such a table. A dynamic offset must
    not reach another draw's row, so offsets past the row are moved outside.
    """
    strides: dict[int | None, int] = dict(blocks)
    if stride:
        strides[0] = stride
    if not strides:
        return False
    number = "merged_draw" if shader.stage is Stage.VERTEX else "primitive_id"
    progress = False
    for impl in shader.impls():
        for load in list(intrinsics_of(impl, "load_ubo")):
            row_size = strides.get(_block_of(load))
            if not row_size:
                continue
            b = Builder(impl).at_before(load)
            row = b.imul(b.load_system_value(number), b.imm_int(row_size))
            offset = load.srcs[1].value
            moved = b.iadd(offset, row)
            if not isinstance(offset.instr, LoadConst):
                inside = b.ult(offset, b.imm_int(row_size))
                moved = b.bcsel(inside, moved, b.imm_int(_OUTSIDE))
            load.srcs[1].rewrite(moved)
            progress = True
    return progress
