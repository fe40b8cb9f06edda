"""Draws whose client arrays were copied into the ring of `state_tracker.stream` when C called them.

To fixed function such a draw is a primitive: the vertices are those of the copies, and attributes
without an array have their current values. So they become vertices of recorded primitives
(`recorded_vertices`), or the entry point draws from the copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.memory import read_bytes
from gallette.state_tracker.stream.array_stubs import FORMATS, NONE, REVERSED, TRACKED
from gallette.state_tracker.stream.calls import (
    CALLS,
    COMMAND_BYTES,
    COPY,
    FORMAT,
    OF_CLIENTS,
    VERTICES,
    Ints,
    distinct,
)
from gallette.state_tracker.vertices.vertex_formats import element_bytes

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_SLOTS = tuple(int(getattr(VertAttrib, name)) for name in ("POS", "NORMAL", "COLOR0", "TEX0"))
"""The attributes of the arrays, in the order of `array_stubs`."""
_POS, _COLOR = 0, 2
_TYPES = {array: types for array, _, _, types in FORMATS.values()}
_DTYPES: dict[int, npt.DTypeLike] = {
    GL.FLOAT: np.float32,
    GL.DOUBLE: np.float64,
    GL.UNSIGNED_BYTE: np.uint8,
    GL.SHORT: np.int16,
    GL.UNSIGNED_SHORT: np.uint16,
    GL.INT: np.int32,
    GL.UNSIGNED_INT: np.uint32,
}
_COPIES = np.array([call.copies for call in CALLS])
_MOST_VERTICES = 1 << 16
"""Limit on the vertices of draws that are gathered."""
_SWITCHES = OF_CLIENTS["EnableClientState"], OF_CLIENTS["DisableClientState"]


def restarts(ctx: Context) -> bool:
    """Whether an index restarts primitives."""
    return ctx.raster.primitive_restart or ctx.raster.primitive_restart_fixed


def may_gather(ctx: Context, rows: Ints) -> bool:
    """Whether the vertices of recorded draws may be gathered, and have other numbers then."""
    executable = ctx.programs.executable
    counts = executable is not None and executable.counts_vertices
    return not (restarts(ctx) or counts) and int(_counts(rows).sum()) <= _MOST_VERTICES


def client_arrays(ctx: Context) -> tuple[int, list[int]] | None:
    """Which client arrays are enabled, and the words that say where all are (see `array_stubs`);
    None if those of a draw cannot be copied.
    """
    vao = ctx.arrays.default
    if not any(binding.address for binding in vao.bindings):
        return 0, []
    used = [slot for slot, each in enumerate(vao.attribs) if each.enabled]
    if not any(vao.bindings[vao.attribs[slot].binding].address for slot in used):
        return NONE, []
    if (
        ctx.pipelines.current is not None
        or vao is not ctx.arrays.current
        or vao.element_buffer is not None
        or ctx.buffers.bound[GL.ARRAY_BUFFER] is not None
        or ctx.arrays.client_unit
        or restarts(ctx)
        or not set(used).issubset(_SLOTS)
    ):
        return None
    which, words = TRACKED, []
    for array, slot in enumerate(_SLOTS):
        attrib = vao.attribs[slot]
        binding = vao.bindings[attrib.binding]
        reverses = attrib.bgra and attrib.type == GL.UNSIGNED_BYTE
        fits = attrib.type in _TYPES[array] and attrib.bgra == reverses
        plain = binding.buffer is None and binding.keep is None and not binding.divisor
        if fits and plain and attrib.binding == slot and not attrib.relative_offset:
            which |= attrib.enabled << array
            kind = attrib.type << 8 | attrib.size | REVERSED * reverses
            words += [binding.address, binding.stride, element_bytes(attrib), kind]
        elif attrib.enabled:
            return None
        else:
            words += [0] * 4
    return which, words


def draw_from_copies(ctx: Context, row: Ints, draw: Callable[..., None], *arguments: Any) -> None:
    """Make a draw by its entry point, while the arrays are the copies."""
    vao = ctx.arrays.current
    first = int(row[2]) if row[0] == OF_CLIENTS["DrawArrays"] else 0
    before = []
    for array, slot in enumerate(_SLOTS):
        binding = vao.bindings[vao.attribs[slot].binding]
        copy = int(row[COPY + array])
        if copy:
            before.append((binding, binding.address))
            binding.address = copy - first * binding.stride
    try:
        draw(*arguments)
    finally:
        for binding, address in before:
            binding.address = address


def draws_quads(rows: Ints) -> bool:
    """Whether recorded draws are of quads, whose cut depends on which of them are in one draw."""
    return bool((_COPIES[rows[:, 0]] & (rows[:, 1] == GL.QUADS)).any())


def copies_colors(rows: Ints) -> bool:
    """Whether recorded draws have colours of their own for each vertex."""
    return bool(rows[_COPIES[rows[:, 0]], COPY + _COLOR].any())


def set_arrays(ctx: Context, rows: Ints) -> None:
    """Make those of recorded calls that say at last where client arrays are."""
    if not len(rows):
        return
    numbers = rows[:, 0]
    what = np.where(np.isin(numbers, _SWITCHES), rows[:, 1], -numbers)
    last = dict(zip(what.tolist(), range(len(rows)), strict=True))
    commands = np.ascontiguousarray(rows).data.cast("B")
    for place in last.values():
        call = CALLS[int(numbers[place])]
        ctx.stream.perform(call, call.arguments(commands, place * COMMAND_BYTES, 0))


def with_copies(ctx: Context, rows: Ints, places: Ints, columns: dict[int, Any]) -> Ints:
    """Replace one vertex of `columns` for each draw, at `places`, by all of its copied vertices.
    Returns by the number of a vertex in old columns, or their length, its number in new ones.
    """
    owners, vertices = _vertices(rows)
    repeats = np.ones(len(columns[_SLOTS[_POS]]), np.int64)
    repeats[places] = np.bincount(owners, minlength=len(rows))
    first = np.append(0, np.cumsum(repeats))
    for slot, column in columns.items():
        columns[slot] = column.repeat(repeats, 0)
    inside = np.arange(len(owners)) - owners.searchsorted(np.arange(len(rows)))[owners]
    at = first[places][owners] + inside
    for array, slot in enumerate(_SLOTS):
        copies, formats = rows[owners, COPY + array], rows[owners, FORMAT + array]
        for kind in distinct(rows[rows[:, COPY + array] != 0, FORMAT + array]):
            some = ((copies != 0) & (formats == kind)).nonzero()[0]
            if slot not in columns:
                columns[slot] = np.tile(np.array(ctx.arrays.values[slot]), (first[-1], 1))
            columns[slot][at[some]] = _components(copies[some], vertices[some], kind)
    return first


def _counts(rows: Ints) -> Ints:
    """How many vertices each draw has."""
    found: Ints = np.where(rows[:, 0] == OF_CLIENTS["DrawElements"], rows[:, 2], rows[:, VERTICES])
    return found


def _vertices(rows: Ints) -> tuple[Ints, Ints]:
    """The vertices of some draws: the draw of each, and its number in the copies."""
    indexed, counts = rows[:, 0] == OF_CLIENTS["DrawElements"], _counts(rows)
    owners = np.arange(len(rows)).repeat(counts)
    vertices = np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]
    for kind in distinct(rows[indexed, 3]):
        dtype = np.dtype(_DTYPES[kind])
        some = (indexed & (rows[:, 3] == kind))[owners].nonzero()[0]
        places = rows[owners[some], 4] + vertices[some] * dtype.itemsize
        vertices[some] = _read(places, dtype, 1)[:, 0]
    return owners, vertices


def _components(copies: Ints, vertices: Ints, kind: int) -> Any:
    """The four components of some vertices of copies with one format."""
    stride, type_, size = kind >> 32, kind >> 8 & 0xFFFFFF, kind & 7
    given = _read(copies + vertices * stride, np.dtype(_DTYPES[type_]), size)
    found = np.zeros((len(given), 4))
    found[:, 3] = 1.0
    found[:, :size] = given / 255.0 if type_ == GL.UNSIGNED_BYTE else given
    return found[:, [2, 1, 0, 3]] if kind & REVERSED else found


def _read(places: Ints, dtype: np.dtype[Any], count: int) -> Any:
    """So many numbers at each address of the ring."""
    start, size = int(places.min()), dtype.itemsize * count
    memory = read_bytes(start, int(places.max()) + size - start)
    return memory[(places - start)[:, None] + np.arange(size)].view(dtype)
