"""Draws from vertex arrays in display lists: the arrays are read when the list is compiled.

The vertices that a draw uses are copied into a vertex array object whose arrays are in client
memory; playing the list draws from that object. Small draws of floats become primitives instead, as
glBegin and glEnd would make them, of which many are drawn as a series (`list_runs`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.state_tracker.drawing.draw import INDEX_TYPES, index_range, restart_index
from gallette.state_tracker.entry_points.count_limits import MOST_DRAWS, check_count
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import Function
from gallette.state_tracker.entry_points.memory import buffer_offset, read_array, read_pointers
from gallette.state_tracker.optional.compatibility.client_arrays import restarts_at
from gallette.state_tracker.optional.compatibility.kept_primitives import KeptPrimitives
from gallette.state_tracker.stream.calls import Ints
from gallette.state_tracker.vertices.vertex_arrays import VertexArray
from gallette.state_tracker.vertices.vertex_formats import element_bytes
from gallette.state_tracker.vertices.vertex_input import elements_read

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.display_lists import Around

_DRAW = re.compile(r"(Multi)?Draw(Range)?(Arrays|Elements)(?!.*Indirect).*|ArrayElement(EXT)?")


def is_array_draw(name: str) -> bool:
    return _DRAW.fullmatch(name) is not None


_MOST = 1 << 10
"""Indices of a draw that are replaced by the vertices they name, which may be many more."""


def primitive_of(vao: VertexArray, mode: int, vertices: Ints) -> KeptPrimitives | None:
    """The primitive that glBegin and glEnd would make of these vertices, if all arrays are of
    floats. The arrays begin with the first of them.
    """
    arrays = [(slot, each) for slot, each in enumerate(vao.attribs) if each.enabled]
    if not len(vertices) or not 0 <= mode <= GL.POLYGON or not arrays:
        return None
    if any(each.type != GL.FLOAT or vao.bindings[slot].divisor for slot, each in arrays):
        return None
    rows = vertices - vertices.min()
    count = int(rows.max()) + 1
    data = np.zeros((len(rows), len(arrays), 4), np.float32)
    data[:, :, 3] = 1.0
    for place, (slot, each) in enumerate(arrays):
        binding = vao.bindings[slot]
        shape, strides = (count, each.size), (binding.stride, 4)
        values = np.ndarray(shape, "<f4", binding.keep, 0, strides)
        data[:, place, : each.size] = values.take(rows, axis=0)
    parts = [(mode, 0, len(rows))]
    return KeptPrimitives([slot for slot, _ in arrays], data, parts, {}, {})


def _numbers(ctx: Context, name: str, named: dict[str, Any]) -> Ints | None:
    """The vertices of a draw that a list may have instead of its arrays; None of other draws."""
    if name == "DrawArrays":
        return np.arange(named["count"]) if not named["first"] else None
    if re.fullmatch(r"Draw(Range)?Elements(BaseVertex)?", name) is None or named["count"] > _MOST:
        return None
    size, _ = INDEX_TYPES[named["type"]]
    indices = np.frombuffer(named["indices"], f"<u{size}")
    restart = restart_index(ctx, size)
    if restart is not None and (indices == restart).any():
        return None
    if named.get("start", 0) > named.get("end", 0):  # an error
        return None
    numbers = indices.astype(np.int64) + int(named.get("basevertex", 0))
    return numbers if (numbers >= 0).all() else None


def snapshot(
    ctx: Context, function: Function, args: tuple[Any, ...]
) -> tuple[Around | KeptPrimitives | None, tuple[Any, ...]]:
    """The call with its own copy of every array it reads.

    The primitive restart index is evaluated at this point, too: the copies have no vertex for that
    index.
    """
    named = dict(zip((p.name for p in function.params), args, strict=False))
    kept = dict(named)
    restart = ctx.raster.restart
    try:
        vertices = _vertices(ctx, function.name, named, kept)
        vao = _copy(ctx, *vertices, function.name.startswith("ArrayElement"))
    except (GalletteError, KeyError, ValueError):  # the draw is an error: playing it reports that
        return None, tuple(kept[p.name] for p in function.params)
    numbers = _numbers(ctx, function.name, kept)
    primitive = None if numbers is None else primitive_of(vao, named["mode"], numbers)
    if primitive is not None:
        return primitive, tuple(kept[p.name] for p in function.params)
    last_user = ref(ctx)

    def play(user: Context, method: Callable[..., Any], values: tuple[Any, ...]) -> None:
        nonlocal last_user
        if last_user() is not user:  # layouts refer to the buffer of a context's current values
            last_user, vao.layouts = ref(user), {}
        saved, saved_restart = user.arrays.current, user.raster.restart
        vao.element_buffer = None
        user.arrays.current, user.raster.restart = vao, restart
        try:
            method(*values)
        finally:
            user.arrays.current, user.raster.restart = saved, saved_restart

    return play, tuple(kept[p.name] for p in function.params)


def _vertices(
    ctx: Context, name: str, named: dict[str, Any], kept: dict[str, Any]
) -> tuple[int, int]:
    """The range of vertices a draw reads; indices and lists of draws are copied into `kept`."""
    if name.startswith("ArrayElement"):
        return (0, -1) if restarts_at(ctx, named["i"]) else (named["i"], named["i"])
    if name.startswith("MultiDraw"):
        return _several(ctx, named, kept)
    if "Arrays" in name:
        return named["first"], named["first"] + named["count"] - 1
    low, high, kept["indices"] = _indices(ctx, named["count"], named["type"], named["indices"])
    base = int(named.get("basevertex", 0))
    return max(low + base, 0), high + base


def _several(ctx: Context, named: dict[str, Any], kept: dict[str, Any]) -> tuple[int, int]:
    number = int(named.get("drawcount", named.get("primcount", 0)))
    check_count(number, MOST_DRAWS, "draws")
    counts = read_array(named["count"], "sizei", number)
    kept["count"] = counts
    if "first" in named:
        firsts = read_array(named["first"], "int", number).astype(np.int64)
        kept["first"] = firsts.astype(np.int32)
        used = counts > 0
        if not used.any():
            return 0, -1
        return int(firsts[used].min()), int((firsts + counts)[used].max()) - 1
    pointers = read_pointers(named["indices"], number)
    bases = [0] * number
    if named.get("basevertex") is not None:
        kept["basevertex"] = read_array(named["basevertex"], "int", number)
        bases = kept["basevertex"].tolist()
    low, high = 1 << 40, -1
    copies = []
    for count, pointer, base in zip(counts.tolist(), pointers, bases, strict=True):
        a, b, raw = _indices(ctx, count, named["type"], pointer)
        copies.append(raw)
        if b >= a:
            low, high = min(low, max(a + base, 0)), max(high, b + base)
    kept["indices"] = copies
    return low, high


def _indices(ctx: Context, count: int, type: int, pointer: Any) -> tuple[int, int, bytes]:
    """The smallest and the largest index that refers to a vertex, and all indices as bytes."""
    size, gl_type = INDEX_TYPES[type]
    buffer = ctx.arrays.current.element_buffer
    if buffer is not None:
        raw = buffer.read_padded(buffer_offset(pointer), count * size)
        values = np.frombuffer(raw, f"<u{size}")
    else:
        values = read_array(pointer, gl_type, count)
    return *index_range(values, restart_index(ctx, size)), values.tobytes()


def _copy(ctx: Context, first: int, last: int, whole: bool) -> VertexArray:
    """A vertex array object with copies of the enabled arrays; indices remain valid.

    `whole`: an index refers to an element of every array, including those with a divisor.
    """
    source, vao = ctx.arrays.current, VertexArray(0)
    vao.in_list = True
    if first < 0:  # an error, or outside the arrays
        return vao
    for slot, attrib in enumerate(source.attribs):
        if not attrib.enabled:
            continue
        binding = source.bindings[attrib.binding]
        divisor = 0 if whole else binding.divisor
        low, high = elements_read(divisor, first, last, 1, 0)
        size = element_bytes(attrib)
        length = (high - low) * binding.stride + size if high >= low else 0
        at = attrib.relative_offset + low * binding.stride
        if binding.buffer is not None:
            raw = np.frombuffer(binding.buffer.read_padded(binding.offset + at, length), np.uint8)
        elif binding.address:
            raw = binding.client_bytes(at, length).copy()
        else:
            raw = np.zeros(length, np.uint8)
        vao.attribs[slot] = dataclasses.replace(attrib, binding=slot, relative_offset=0)
        mine = vao.bindings[slot]
        mine.move(0, binding.stride, raw.ctypes.data - low * binding.stride, raw)
        mine.divisor = binding.divisor
    return vao
