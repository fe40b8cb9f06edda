"""Vertices of glBegin and glEnd in buffers, with attributes and materials that differ between them.

A material property that is set between vertices or primitives is a column of their data like an
attribute. If all vertices have one value it stays a uniform while they are drawn; else fixed
function reads it as a generic attribute, of which it has none of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.pipe.enums import Bind
from gallette.pipe.state import DrawInfo
from gallette.state_tracker.drawing.draw import draw, draw_info, joined, restarting
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.optional.compatibility.lighting import MATERIAL0, PROPERTIES
from gallette.state_tracker.vertices.buffers import BufferObject
from gallette.state_tracker.vertices.vertex_arrays import Attrib, VertexArray
from gallette.state_tracker.vertices.vertex_input import upload

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

SLOTS = (*range(len(VertAttrib)), *range(MATERIAL0, MATERIAL0 + len(PROPERTIES)))
POS, COLOR = int(VertAttrib.POS), int(VertAttrib.COLOR0)
VERTICES: dict[int, int] = {GL.POINTS: 1, GL.LINES: 2, GL.TRIANGLES: 3, GL.QUADS: 4}
"""Vertices of a primitive, in the modes whose draws can be concatenated."""

Values = tuple[float, ...]
Part = tuple[int, int, int]
"""The mode, first vertex and count of a draw."""

Group = tuple[dict[int, Any], list[Part]]
"""Draws, and the values of material properties for them."""

FEW = 4
"""So many groups are drawn as fast with uniforms as with attributes, which need another vertex
shader.
"""


def attribute_of(number: int) -> int:
    """The vertex attribute by which fixed function reads a per-vertex material property."""
    return int(VertAttrib.GENERIC0) + 1 + number


def as_vector(value: Values | float) -> Values:
    """A material property as an attribute; shininess is a number."""
    return value if isinstance(value, tuple) else (value, 0.0, 0.0, 1.0)


def _as_property(slot: int, values: Values) -> Any:
    """The value of a material property that is a vector as an attribute."""
    return values[0] if PROPERTIES[slot - MATERIAL0][1] == "shininess" else values


def current(ctx: Context, slot: int) -> Values:
    """The value that an attribute or a material property has now."""
    if slot < MATERIAL0:
        return ctx.arrays.values[slot]
    return as_vector(ctx.lighting.property(slot - MATERIAL0))


_WHOLE = np.array([VERTICES.get(mode, 0) for mode in range(GL.POLYGON + 1)])


def vertices_of(modes: Any) -> Any:
    """Vertices of a primitive in each of these modes, 0 if draws cannot be concatenated."""
    return _WHOLE[modes]


def add_part(parts: list[Part], mode: int, first: int, count: int) -> None:
    """Add a draw of the vertices after those of `parts`: to the last part, if it continues that."""
    whole = VERTICES.get(mode, 0)
    last = parts[-1] if parts else (-1, 0, 0)
    if whole and last[0] == mode and not last[2] % whole:
        parts[-1] = mode, last[1], last[2] + count
    else:
        parts.append((mode, first, count))


def without_materials(
    slots: list[int],
    data: Any,
    parts: Sequence[Part],
    last: dict[int, Values],
    lit: bool = True,
    few: int = FEW,
) -> tuple[list[int], Any, tuple[int, ...], list[Group]]:
    """The attributes of vertices and their data, the material properties among these, and groups of
    draws with the values of others. `lit`: fixed function reads materials, for which there are at
    most `few` groups, or attributes.
    """
    if max(slots) < MATERIAL0:
        return slots, data, (), [({}, list(parts))]
    columns = [column for column, slot in enumerate(slots) if slot < MATERIAL0]
    varying = data[1:] != data[:-1]
    varies = varying.any((0, 2))
    found = [column for column, slot in enumerate(slots) if slot >= MATERIAL0]
    several = [column for column in found if varies[column]]
    bounds = varying[:, several].any((1, 2)).nonzero()[0] + 1
    cut = _cut(parts, bounds.tolist()) if lit and len(bounds) < few else None
    if cut is not None:
        some, several = found, []
    else:
        some, cut = [column for column in found if not varies[column]], [list(parts)]
    groups: list[Group] = []
    for group in cut:
        row = data[group[0][1]]
        values = {slots[column]: tuple(row[column].tolist()) for column in some}
        given = {slot: tuple(np.array(last[slot], np.float32).tolist()) for slot in values}
        constants = {
            slot - MATERIAL0: _as_property(slot, last[slot] if value == given[slot] else value)
            for slot, value in values.items()
        }
        groups.append((constants, group))
    if several and lit:
        generic = range(VertAttrib.GENERIC0, MATERIAL0)
        columns = [column for column in columns if slots[column] not in generic] + several
    numbers = tuple(slots[column] - MATERIAL0 for column in several) if lit else ()
    places = [slots[column] for column in columns]
    places = [slot if slot < MATERIAL0 else attribute_of(slot - MATERIAL0) for slot in places]
    return places, np.ascontiguousarray(data[:, columns]), numbers, groups


def _cut(parts: Sequence[Part], bounds: list[int]) -> list[list[Part]] | None:
    """The parts between these vertices; None if one of them is inside of a primitive."""
    groups: list[list[Part]] = [[]]
    for mode, first, count in parts:
        end, whole = first + count, VERTICES.get(mode, 0)
        while bounds and bounds[0] < end:
            bound = bounds.pop(0)
            if bound > first:
                if not whole or (bound - first) % whole:
                    return None
                groups[-1].append((mode, first, bound - first))
                first = bound
            groups.append([])
        groups[-1].append((mode, first, end - first))
    return groups


class KeptPrimitives:
    """Successive primitives of a display list, and what is set between them."""

    def __init__(
        self,
        slots: list[int],
        data: Any,
        parts: Sequence[Part],
        last: dict[int, Values],
        before: dict[int, tuple[int, Values]],
    ) -> None:
        """`data`: of each vertex the values in these slots; `parts`: a draw for each glBegin;
        `last`: what is set at the end, attributes and materials; `before`: by slot, how many
        vertices have a value from before, and that value.
        """
        self.slots, self.data, self.parts = slots, data, parts
        self.last = {slot: values for slot, values in last.items() if slot < MATERIAL0}
        self.last_materials = {
            slot - MATERIAL0: _as_property(slot, values)
            for slot, values in last.items()
            if slot >= MATERIAL0
        }
        self.set, self.before = last, before
        self.draws: list[Part] = []
        for part in parts:
            add_part(self.draws, *part)
        self.modes = {mode for mode, _, _ in parts}
        # Mesa makes the calls one by one if they depend on values from before.
        self.in_list = not before
        self.vao: VertexArray | None = None
        self.materials: tuple[int, ...] = ()  # properties that are attributes
        self.groups: list[Group] = []
        self.few = FEW
        self._together: dict[int, list[tuple[Part, DrawInfo | None]]] = {}  # by group
        self._user: Any = None  # the context that drew from it last

    def release(self) -> None:
        if self.vao is not None:
            release_vertices(self.vao)
        for draws in self._together.values():
            for _, info in draws:
                if info is not None and info.index_buffer is not None:
                    info.index_buffer.unref()
        self.vao, self._together = None, {}

    @property
    def is_alone(self) -> bool:
        """Whether it is one draw, without materials."""
        return len(self.draws) == 1 and not self.last_materials

    def follow(self, ctx: Context) -> None:
        """Give the first vertices the values that are current now."""
        for slot, (count, before) in self.before.items():
            value = current(ctx, slot)
            if value != before:
                self.data[:count, self.slots.index(slot)] = value
                self.before[slot] = count, value
                self.release()

    def prepare(self, ctx: Context) -> None:
        """Put the vertices into a buffer, and set up layouts anew for another context."""
        if self.vao is None and len(self.data):
            slots, data, self.materials, self.groups = without_materials(
                self.slots, self.data, self.parts, self.set, few=self.few
            )
            self.vao = keep_vertices(ctx, slots, data)
            self.vao.in_list = self.in_list
        if self._user is not ctx and self.vao is not None:
            self._user, self.vao.layouts = ctx, {}  # they refer to a buffer of the context

    def needs_fixed_function(self, ctx: Context) -> bool:
        """Whether the uniforms of a shader would not do for all vertices."""
        tracked = ctx.lighting.color_material_enabled and COLOR in self.slots
        several = bool(self.materials) or len(self.groups) > 1
        return several or (tracked and len(self.parts) > 1)

    def draw(self, ctx: Context, group: int, together: bool) -> None:
        """Draw each primitive of a group, or all with as few draws as possible."""
        _, parts = self.groups[group]
        if not together:
            for part in parts:
                draw(ctx, *part)
            return
        draws = self._together.get(group)
        if draws is None:
            draws = self._together[group] = []
            merged: list[Part] = []
            for part in parts:
                add_part(merged, *part)
            for mode, first, count, indices in joined(merged):
                info = None
                if indices is not None:
                    info = restarting(mode, indices, upload(ctx, indices, Bind.INDEX_BUFFER))
                draws.append(((mode, first, count), info))
        for (mode, first, count), info in draws:
            if info is None:
                draw(ctx, mode, first, count)
            else:
                draw_info(ctx, mode, info, first, first + count - 1)


def interleaved(slots: list[int]) -> VertexArray:
    """A vertex array of interleaved attributes, four floats each."""
    vao = VertexArray(0)
    for index, slot in enumerate(slots):
        vao.attribs[slot] = Attrib(enabled=True, binding=POS, relative_offset=16 * index)
    return vao


def keep_vertices(ctx: Context, slots: list[int], data: Any) -> VertexArray:
    """A vertex array with `[vertex, attribute, 4]` floats in a buffer."""
    vao, buffer = interleaved(slots), BufferObject(0, ctx)
    buffer.allocate(data.nbytes, data.reshape(-1), GL.STATIC_DRAW)
    vao.bindings[POS].buffer = buffer
    vao.bindings[POS].move(0, 16 * len(slots))
    return vao


def release_vertices(vao: VertexArray) -> None:
    buffer = vao.bindings[POS].buffer
    if buffer is not None:
        buffer.release()
