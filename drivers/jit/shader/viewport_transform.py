"""Clip positions to window positions in machine code, and whether anything must be clipped.

It computes what `drivers.common.vertex.vertices.project` computes, step by step, for draws whose
vertices stay in the driver's own memory (`drivers.jit.draw_plan`).
"""

from __future__ import annotations

from ..llvm.text import Builder
from ..llvm.values import V
from .layout import PlaceWords

__all__ = ["placing_text"]


def placing_text(near: bool, far: bool, halfz: bool) -> str:
    """The module with `place`, for the enabled planes besides the four side planes."""
    b = Builder()
    (ctx,) = b.begin("place", [("ptr", "ctx")])
    rows = [b.load_at(ctx, PlaceWords.CLIP + i, "ptr") for i in range(4)]
    window = b.load_at(ctx, PlaceWords.WINDOW, "ptr")
    stride = b.load_at(ctx, PlaceWords.STRIDE, "i64")
    numbers = b.at(ctx, PlaceWords.SCALE, "i64")
    scale = [b.load_at(numbers, i, "float") for i in range(6)]
    outside = b.var("i1", 0, False)
    with b.loop(b.const("i64", 0), b.load_at(ctx, PlaceWords.COUNT, "i64")) as i:
        x, y, z, w = (b.load_at(row, i, "float") for row in rows)
        outside.set(outside.get() | ~_inside(b, (x, y, z, w), near, far, halfz))
        inverse = b.const("float", 1.0) / w
        for axis, value in enumerate((x, y, z)):
            placed = b.fma(value * inverse, scale[axis], scale[3 + axis])
            b.store(b.at(window, i + stride * axis, "float"), placed)
        b.store(b.at(window, i + stride * 3, "float"), inverse)
    b.store(b.at(ctx, PlaceWords.OUTSIDE, "i64"), outside.get().to("i64", False))
    b.end()
    return b.text()


def _inside(b: Builder, position: tuple[V, V, V, V], near: bool, far: bool, halfz: bool) -> V:
    """Whether positions are certainly inside of all planes; NaN and infinity are not."""
    x, y, z, w = position
    inside = (w - x >= 0.0) & (w + x >= 0.0) & (w - y >= 0.0) & (w + y >= 0.0)
    if near:
        inside = inside & ((z if halfz else z + w) >= 0.0)
    return inside & (w - z >= 0.0) if far else inside
