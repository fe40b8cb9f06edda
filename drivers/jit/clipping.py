"""Clipping of triangles in machine code: `cut_triangles` instead of the shared `clip_polygons`.

Both create the same vertices and pieces, bit for bit. The shared code remains for outlines (it
keeps track of edges), for primitives with their own viewports, and for other drivers.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.clip import ClipContext
from gallette.drivers.common.vertex.vertices import INTEGERS, OwnViewports, VertexSet

from .llvm.engine import Function, compile_module
from .shader.clip_code import FLAT, LINEAR, SMOOTH, clip_text
from .shader.layout import ClipWords, Plane

__all__ = ["begin_clipping", "clip_functions", "clip_planes", "cut_triangles"]

Array = npt.NDArray[Any]
Pieces = tuple[Array, Array, Array]


def begin_clipping(cache: Any) -> None:
    """Start compiling the clipping functions in the background."""
    clip_functions(cache)


@functools.lru_cache(maxsize=4)
def clip_functions(cache: Any) -> tuple[Function, Function]:
    """The functions `clip` and `extend`."""
    code = compile_module(clip_text(), ("clip", "extend"), cache)
    return code.function("clip", ctypes.c_void_p), code.function("extend", ctypes.c_void_p)


@functools.lru_cache(maxsize=64)
def clip_planes(numbers: tuple[int, ...], halfz: bool) -> Array:
    """A `Plane` for each number: distances are w - x, w + x, w - y, w + y, z + w (or z),
    w - z, d.
    """
    table = np.zeros((len(numbers), Plane.SIZE), np.int32)
    for row, plane in enumerate(numbers):
        own = plane >= 6
        minus = plane in (0, 2, 5)
        table[row, Plane.BIT] = 1 << plane
        table[row, Plane.ROW] = 4 + sum(6 <= n < plane for n in numbers) if own else plane // 2
        table[row, Plane.SIGN] = np.float32(-1.0 if minus else 1.0).view(np.int32)
        table[row, Plane.FROM_W] = not (own or (plane == 4 and halfz))
    return table


def cut_triangles(
    context: ClipContext, corners: Array, provoking: Array, codes: Array, cache: Any
) -> Pieces | None:
    """The pieces of triangles, and the row each comes from; None if there is no code for it."""
    vertices, planes = context.vertices, context.planes
    numbers = tuple(planes.numbers())
    if isinstance(vertices.viewport, OwnViewports) or not _lerped(context):
        return None
    clip, extend = clip_functions(cache)
    table = clip_planes(numbers, planes.halfz)
    crossed = sum(int(np.count_nonzero(codes & np.uint32(1 << plane))) for plane in numbers)
    count, triangles = vertices.count, len(corners)
    room, most = count + 2 * crossed, triangles + 2 * crossed
    places = np.empty((4 + len(planes.distances), room), np.float32)
    places[:4, :count] = vertices.clip
    for row, plane in enumerate(n for n in numbers if n >= 6):
        places[4 + row, :count] = planes.distance(vertices, plane, slice(None))
    pieces, rows = np.empty((most, 3), np.int64), np.empty(most, np.int64)
    cuts = [np.empty(2 * crossed, t) for t in (np.float32, np.int64, np.int64, np.int64)]
    keep = [np.ascontiguousarray(a) for a in (corners, codes, provoking)]
    block = np.zeros(ClipWords.SIZE, np.uint64)
    for word, array in (
        (ClipWords.PLACES, places),
        (ClipWords.CORNERS, keep[0]),
        (ClipWords.CODES, keep[1]),
        (ClipWords.PROVOKING, keep[2]),
        (ClipWords.PIECES, pieces),
        (ClipWords.ROWS, rows),
        (ClipWords.PLANES, table),
        *((ClipWords.CUTS + i, cut) for i, cut in enumerate(cuts)),
    ):
        block[word] = array.ctypes.data
    block[ClipWords.ROOM], block[ClipWords.COUNT] = room, count
    block[ClipWords.TRIANGLES] = triangles
    block[ClipWords.PLANE_COUNT], block[ClipWords.PLACE_ROWS] = len(table), len(places)
    clip(block.ctypes.data)
    if block[ClipWords.FULL]:
        return None
    if block[ClipWords.NEW_COUNT] > count:
        _extend(context, vertices, block, places, extend)
    made = int(block[ClipWords.MADE])
    return pieces[:made], rows[:made], np.zeros(made, np.uint8)


def _lerped(context: ClipContext) -> bool:
    """Whether clip distances of new vertices are interpolated by t, and no varying has 64 bits."""
    slots = {slot for slot, _ in context.planes.distances.values()}
    if slots & (context.linear | context.flat):
        return False
    return all(
        value is None or not value.ndim or value.dtype.itemsize == 4
        for components in context.vertices.varyings.values()
        for value in components
    )


def _extend(
    context: ClipContext, vertices: VertexSet, block: Array, places: Array, function: Any
) -> None:
    """Compute the window positions and varyings of new vertices."""
    count, new = vertices.count, int(block[ClipWords.NEW_COUNT])
    window = np.empty((4, new), np.float32)
    window[:, :count] = vertices.window
    arrays, kinds = [], []
    for slot, components in vertices.varyings.items():
        kind = LINEAR if slot in context.linear else SMOOTH
        if slot in context.flat or slot in INTEGERS:
            kind = FLAT
        for i, value in enumerate(components):
            if value is None or not value.ndim:
                continue
            longer = np.empty(new, value.dtype)
            longer[:count] = value
            components[i] = longer
            arrays.append(longer)
            kinds.append(kind)
    viewport = vertices.viewport
    assert not isinstance(viewport, OwnViewports)
    addresses = np.array([array.ctypes.data for array in arrays], np.uint64)
    table = np.array(kinds, np.int64)
    screen = np.empty(new - count, np.float32)
    for word, array in (
        (ClipWords.WINDOW, window),
        (ClipWords.SCREEN, screen),
        (ClipWords.ARRAYS, addresses),
        (ClipWords.KINDS, table),
    ):
        block[word] = array.ctypes.data
    block[ClipWords.ARRAY_COUNT] = len(arrays)
    block[ClipWords.STRIDE] = new
    six = np.array((*viewport.scale, *viewport.translate), np.float32)
    block[ClipWords.SCALE : ClipWords.SCALE + 3] = six.view(np.uint64)
    function(block.ctypes.data)
    vertices.clip, vertices.window = places[:4, :new].copy(), window
    vertices.count = new
