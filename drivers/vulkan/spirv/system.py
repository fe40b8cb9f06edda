"""System values without a suitable built-in in Vulkan: from push constants and state."""

from __future__ import annotations

import numpy as np

from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.spirv.emit.values import Value
from gallette.drivers.common.raster.samples import STANDARD

from .code import DriverCode, handles
from .program import Open

__all__ = ["PARAMETERS", "PUSHED", "SMOOTH_RIM", "point_coverage", "stipple"]

PUSHED = {"base_vertex": 0, "first_vertex": 1, "draw_id": 2, "point_size": 3, "alpha_ref": 4,
          "num_samples": 5, "sub_pixel": 6, "levels": 8}  # fmt: skip
"""Push constants by the word they are at."""
SMOOTH_RIM = 2.0
"""By how much smooth points are drawn larger: all pixels the circle touches are to be covered."""
PARAMETERS: Open = ("params", 0)
"""The storage block with user clip planes (eight vectors) and the polygon stipple (32 words)."""


@handles("load_base_vertex", "load_first_vertex", "load_draw_id", "load_num_samples")
def _number(c: DriverCode, instr: Intrinsic) -> None:
    v = c.pushed(PUSHED[instr.name.removeprefix("load_")])
    c.values.set(instr.result, v.id, "u")


@handles("load_workgroup_size")
def _workgroup_size(c: DriverCode, instr: Intrinsic) -> None:
    size = c.options.block or c.interface.shader.info.workgroup_size
    c.values.set(instr.result, c.values.constant("u", 32, size).id, "u")


@handles("load_alpha_ref")
def _alpha_ref(c: DriverCode, instr: Intrinsic) -> None:
    c.values.set(instr.result, c.as_float(c.pushed(PUSHED["alpha_ref"])).id, "f")


@handles("load_vertex_id_zero_base")
def _vertex_id(c: DriverCode, instr: Intrinsic) -> None:
    index, _ = c.builtin_value("VertexIndex", "i", 1, 0)
    first = c.pushed(PUSHED["first_vertex"])
    c.values.set(instr.result, c.b.op("OpISub", c.b.int_type(), index, first.id), "u")


@handles("load_user_clip_plane")
def _plane(c: DriverCode, instr: Intrinsic) -> None:
    b = c.b
    block = c.interface.storage_block(PARAMETERS, 0)
    pointer = b.pointer("StorageBuffer", b.int_type())
    first = 4 * instr["ucp_id"]
    words = [
        b.op("OpLoad", b.int_type(),
             b.op("OpAccessChain", pointer, block, b.uint(0), b.uint(first + i)))
        for i in range(4)
    ]  # fmt: skip
    id = b.op("OpCompositeConstruct", c.interface.vec4("u"), *words)
    c.values.set(instr.result, id, "u")


@handles("load_point_coord")
def _point_coord(c: DriverCode, instr: Intrinsic) -> None:
    """The point coordinate. Vulkan counts from row 0, which is the lower left of the picture."""
    b = c.b
    id, kind = c.builtin_value("PointCoord", "f", 2, 0)
    if c.options.upper_left:
        f32 = b.float_type()
        x = b.op("OpCompositeExtract", f32, id, 0)
        y = b.op("OpCompositeExtract", f32, id, 1)
        one = c.values.constant("f", 32, (0x3F800000,)).id
        id = b.op("OpCompositeConstruct", b.vector(f32, 2), x, b.op("OpFSub", f32, one, y))
    c.values.set(instr.result, id, kind)


def point_coverage(c: DriverCode) -> None:
    """The share of a pixel inside a smooth point, of sixteen samples; fragments without any are
    discarded.

    The size follows from the point coordinate's slope, less the rim.
    """
    b, f32, vec4 = c.b, c.b.float_type(), c.interface.vec4()

    def number(*values: float) -> int:
        words = tuple(np.array(values, np.float32).view(np.uint32).tolist())
        return c.values.constant("f", 32, words).id

    coord, _ = c.builtin_value("PointCoord", "f", 2, 0)
    x, y = (b.op("OpCompositeExtract", f32, coord, i) for i in (0, 1))
    size = b.op("OpFDiv", f32, number(1.0), b.op("OpDPdx", f32, x))
    size = b.ext("FAbs", f32, size)
    radius = b.op("OpFMul", f32, b.op("OpFSub", f32, size, number(SMOOTH_RIM)), number(0.5))
    within = b.op("OpFMul", f32, radius, radius)
    limit = b.op("OpCompositeConstruct", vec4, *[within] * 4)
    away = []
    for part in (x, y):
        distance = b.op("OpFMul", f32, b.op("OpFSub", f32, part, number(0.5)), size)
        away.append(b.op("OpCompositeConstruct", vec4, *[distance] * 4))
    bools, share = c.values.type("b", 1, 4), number(0.0)
    for first in range(0, 16, 4):
        squares = []
        for axis, distance in enumerate(away):
            places = number(*[at[axis] - 0.5 for at in STANDARD[3][first : first + 4]])
            moved = b.op("OpFAdd", vec4, distance, places)
            squares.append(b.op("OpFMul", vec4, moved, moved))
        inside = b.op("OpFOrdLessThanEqual", bools, b.op("OpFAdd", vec4, *squares), limit)
        parts = b.op("OpSelect", vec4, inside, number(*[1 / 16] * 4), number(*[0.0] * 4))
        share = b.op("OpFAdd", f32, share, b.op("OpDot", f32, parts, number(*[1.0] * 4)))
    b.known["coverage",] = share
    _discard_where(c, b.op("OpFOrdEqual", b.bool_type(), share, number(0.0)))


def _discard_where(c: DriverCode, condition: int) -> None:
    def drop() -> None:
        c.b.do("OpKill")
        c.open = False

    c.when(condition, drop)


def stipple(c: DriverCode) -> None:
    """Discard where the polygon stipple has a zero: row by row, bit 31 leftmost."""
    b, uint = c.b, c.b.int_type()
    place, _ = c.builtin_value("FragCoord", "f", 4, 0)
    words = b.op("OpConvertFToU", c.interface.vec4("u"), place)
    x, y = (Value(b.op("OpCompositeExtract", uint, words, i), "u", 32, 1) for i in (0, 1))
    x, y = (c.binary("OpBitwiseAnd", v, c.uint(31)) for v in (x, y))
    block = c.interface.storage_block(PARAMETERS, 0)
    at = c.add(y, 32)
    pointer = b.pointer("StorageBuffer", uint)
    row = b.op("OpLoad", uint, b.op("OpAccessChain", pointer, block, b.uint(0), at.id))
    shift = c.binary("OpISub", c.uint(31), x)
    bit = c.binary(
        "OpBitwiseAnd", c.binary("OpShiftRightLogical", Value(row, "u", 32, 1), shift), c.uint(1)
    )
    _discard_where(c, b.op("OpIEqual", b.bool_type(), bit.id, b.uint(0)))
