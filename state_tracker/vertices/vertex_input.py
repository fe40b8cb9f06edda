"""Translation of vertex arrays and current values to pipe vertex elements and buffers.

The program defines the attribute of each vertex element; its source is either an enabled array or
the current value (a buffer with stride 0). Layouts are cached per vertex array object and program
inputs until the object, or some buffer's storage, changes.

Client arrays are copied for each draw. All those with one divisor go into one buffer, row by row,
and small draws write the same buffer again and again: to a driver they are draws from one buffer
that the application updates, for which it keeps what it has derived, and which it can merge.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.pipe.enums import Bind, Target, Usage
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.interface import Handle
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.state import VertexBuffer, VertexElement
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.errors import invalid_operation
from gallette.state_tracker.vertices.vertex_arrays import SLOTS, VertexArray, VertexBinding
from gallette.state_tracker.vertices.vertex_formats import element_bytes, vertex_format

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

GENERIC0 = int(VertAttrib.GENERIC0)
_CURRENT: dict[str, tuple[Format, str]] = {
    "float": (FORMATS["R32G32B32A32_FLOAT"], "<f4"),
    "int": (FORMATS["R32G32B32A32_SINT"], "<i4"),
    "uint": (FORMATS["R32G32B32A32_UINT"], "<u4"),
    "double": (FORMATS["R64G64B64A64_FLOAT"], "<f8"),
}
_COLORS = (VertAttrib.COLOR0, VertAttrib.COLOR1)
_CURRENT_BYTES = 32  # size of one current value
_FLOATS = struct.Struct("<4f16x")
_MOST_CONSTANT = 256
"""Limit on the buffers of current values that draws know."""
_LEAST, _MOST = 1 << 8, 1 << 24
"""Bytes of the buffers that client arrays are copied to again and again."""
_COPIED = 1 << 16
"""A driver copies such a buffer if it is written while draws that read it are pending. For larger
ones that takes too long, so that another buffer is used then.
"""


@lazy_dataclass()
class ClientRows:
    """Client arrays with one divisor, and the rows of the buffer that they are copied to."""

    index: int  # of the buffer
    divisor: int
    bytes: int = 0  # of a row
    arrays: list[tuple[VertexBinding, int, int]] = field(default_factory=list)
    """Each array's place in a row and its bytes there."""

    def add(self, binding: VertexBinding, size: int) -> int:
        """Add an array; returns its place in a row."""
        place = self.bytes
        self.arrays.append((binding, place, size))
        self.bytes += -(-size // _ALIGNMENT) * _ALIGNMENT
        return place

    def read(self, first: int, count: int) -> npt.NDArray[np.uint8]:
        """Rows of the application's arrays."""
        rows = np.zeros((count, self.bytes), np.uint8)
        for binding, place, size in self.arrays:
            stride = binding.stride
            raw = binding.client_bytes(first * stride, (count - 1) * stride + size)
            rows[:, place : place + size] = np.ndarray((count, size), np.uint8, raw, 0, (stride, 1))
        return rows.reshape(-1)


_ALIGNMENT = 8  # of arrays in a row: the largest component is a double


@lazy_dataclass()
class Layout:
    """The pipe layout of one vertex array object for one set of program inputs."""

    epoch: int
    elements: Handle
    buffers: tuple[VertexBuffer | None, ...]
    clients: tuple[ClientRows, ...]
    blocked: bool  # a source buffer is mapped
    current: tuple[int, ...]  # attributes whose current values are read
    current_index: int  # that of the buffer with them
    even_colors: bool  # all vertices of a primitive have the same colours, as without an array
    copies: tuple[Resource, ...] = ()  # of client arrays: those in `copied`
    copied: tuple[VertexBuffer | None, ...] = ()


def create_upload(ctx: Context, size: int, bind: Bind) -> Resource:
    """A temporary buffer; the caller must release it."""
    desc = ResourceDesc(
        Target.BUFFER,
        FORMATS["R8_UINT"],
        max(size, 4),
        bind=bind,
        usage=Usage.STREAM,
        label="upload",
    )
    return ctx.screen.resource_create(desc)


def upload(ctx: Context, data: npt.NDArray[Any], bind: Bind) -> Resource:
    """A temporary buffer with this data; the caller must release it."""
    raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    resource = create_upload(ctx, raw.size, bind)
    ctx.pipe.buffer_subdata(resource, 0, raw)
    return resource


class VertexInput:
    """Keeps the pipe's vertex elements and buffers up to date with GL's arrays."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._current: Resource | None = None
        self._bound: tuple[Any, ...] | None = None
        self._elements: Handle = None
        self._temporary: list[Resource] = []  # vertex buffers
        self._indices: list[Resource] = []
        self._reused: dict[tuple[int, int], Resource] = {}  # copies, by number and size
        self._current_bytes = np.zeros(SLOTS * _CURRENT_BYTES, np.uint8)
        self.even_colors = True  # in the last draw of fixed function without lights
        self._written: list[tuple[Any, Any]] = [(None, None)] * SLOTS  # values in the buffer
        self._constant: dict[bytes, Resource] = {}  # buffers of values that draws know

    def prepare(
        self,
        inputs: tuple[tuple[int, bool], ...],
        first: int,
        last: int,
        instances: int,
        base_instance: int = 0,
    ) -> None:
        """Prepare a draw of vertices `first`..`last`, none if `last` is smaller.

        Client arrays are copied, limited to the elements that the draw reads.
        """
        ctx = self._ctx
        if ctx.caches.full:
            ctx.group.trim()
            self._validate()
        vao = ctx.arrays.current
        layout = vao.layouts.get(inputs)
        if layout is None or layout.epoch != ctx.group.epoch:
            layout = vao.layouts[inputs] = self._derive(vao, inputs)
        if layout.even_colors is not self.even_colors and not ctx.lighting.enabled:
            self.even_colors = layout.even_colors
            ctx.dirty |= Dirty.RASTERIZER
            self._validate()
        if layout.blocked and ctx.group.mapped and self._mapped(vao):
            raise invalid_operation("a vertex buffer is mapped")
        if layout.elements is not self._elements:
            ctx.pipe.bind_vertex_elements_state(layout.elements)
            self._elements = layout.elements
        if layout.current and ctx.dirty & Dirty.CURRENT_ATTRIBS:
            self._write_current(layout.current)
        buffers = layout.buffers
        if layout.clients:
            buffers = self._copy_clients(layout, first, last, instances, base_instance)
        elif layout.current and ctx.stream.knows_current:
            buffers = self._with_constants(layout)
        if buffers is not self._bound:
            ctx.pipe.set_vertex_buffers(buffers)
            self._bound = buffers
        if ctx.stream.has_clients:
            ctx.stream.has_drawn()

    def _validate(self) -> None:
        from gallette.state_tracker.drawing.validate import validate

        validate(self._ctx)

    def keep(self, resource: Resource) -> None:
        """Release a temporary buffer of indices when the draw is finished."""
        self._indices.append(resource)

    def finish(self) -> None:
        """Release the temporary copies of client arrays after the draw."""
        while self._indices:
            self._indices.pop().unref()
        if self._temporary:
            temporary, self._temporary = self._temporary, []
            self._bound = None
            try:
                self._ctx.pipe.set_vertex_buffers(())
            finally:
                for resource in temporary:
                    resource.unref()

    def unbind(self) -> None:
        """Mark everything as unbound, because another context used the pipe."""
        self._bound = self._elements = None

    def release(self) -> None:
        self.finish()
        self._ctx.pipe.set_vertex_buffers(())
        self._ctx.pipe.bind_vertex_elements_state(None)
        if self._current is not None:
            self._current.unref()
            self._current = None
        self._release_constant()
        while self._reused:
            self._reused.popitem()[1].unref()

    def _mapped(self, vao: VertexArray) -> bool:
        return any(
            vao.bindings[a.binding].buffer is not None and vao.bindings[a.binding].buffer.blocked  # type: ignore[union-attr]
            for a in vao.attribs
            if a.enabled
        )

    def _source(self, vao: VertexArray, slot: int) -> int | None:
        """The attribute slot whose array feeds a shader input, None for the current value."""
        if vao.attribs[slot].enabled:
            return slot
        if self._ctx.is_compat:  # attribute 0 and the vertex position are aliases
            twin = {int(VertAttrib.POS): GENERIC0, GENERIC0: int(VertAttrib.POS)}.get(slot)
            if twin is not None and vao.attribs[twin].enabled:
                return twin
        return None

    def _derive(self, vao: VertexArray, inputs: tuple[tuple[int, bool], ...]) -> Layout:
        ctx = self._ctx
        elements: list[VertexElement] = []
        buffers: list[VertexBuffer | None] = []
        clients: dict[int, ClientRows] = {}  # by divisor
        by_binding: dict[int, tuple[int, int]] = {}  # index of the buffer, offset in it
        current: list[int] = []
        current_index = -1
        for slot, _used in inputs:
            source = self._source(vao, slot) if slot < SLOTS else None
            if source is None:
                if current_index < 0:
                    current_index = len(buffers)
                    buffers.append(VertexBuffer(self._current_buffer(), 0, 0))
                current.append(min(slot, SLOTS - 1))
                kind = ctx.arrays.types[slot] if slot < SLOTS else "float"
                offset = min(slot, SLOTS - 1) * _CURRENT_BYTES
                elements.append(VertexElement(offset, current_index, _CURRENT[kind][0]))
                continue
            attrib = vao.attribs[source]
            binding = vao.bindings[attrib.binding]
            if attrib.binding not in by_binding:
                by_binding[attrib.binding] = len(buffers), 0
                if binding.buffer is None and binding.address:
                    rows = clients.get(binding.divisor)
                    if rows is None:
                        rows = clients[binding.divisor] = ClientRows(len(buffers), binding.divisor)
                        buffers.append(None)
                    size = self._vertex_bytes(vao, attrib.binding)
                    by_binding[attrib.binding] = rows.index, rows.add(binding, size)
                elif binding.buffer is None or binding.buffer.resource is None:
                    buffers.append(None)
                else:
                    buffers.append(
                        VertexBuffer(binding.buffer.resource, binding.offset, binding.stride)
                    )
            index, offset = by_binding[attrib.binding]
            elements.append(
                VertexElement(
                    offset + attrib.relative_offset,
                    index,
                    vertex_format(attrib),
                    binding.divisor,
                    attrib.long and attrib.size > 2,
                )
            )
        handle = ctx.caches.vertex_elements.get(tuple(elements))
        blocked = any(b.buffer is not None for b in vao.bindings)
        return Layout(
            ctx.group.epoch,
            handle,
            tuple(buffers),
            tuple(clients.values()),
            blocked,
            tuple(current),
            current_index,
            vao.even_colors or not any(vao.attribs[slot].enabled for slot in _COLORS),
        )

    def _vertex_bytes(self, vao: VertexArray, binding: int) -> int:
        """The extent of one vertex of a binding in bytes."""
        return max(
            a.relative_offset + element_bytes(a)
            for a in vao.attribs
            if a.enabled and a.binding == binding
        )

    def _current_buffer(self) -> Resource:
        if self._current is None:
            raw = np.zeros(SLOTS * _CURRENT_BYTES, np.uint8)
            self._current = upload(self._ctx, raw, Bind.VERTEX_BUFFER)
            self._ctx.dirty |= Dirty.CURRENT_ATTRIBS
        return self._current

    def _write_current(self, slots: tuple[int, ...]) -> None:
        """Update the buffer of current values for these attributes."""
        state, raw, before = self._ctx.arrays, self._current_bytes, self._written
        changed = False
        for slot in slots:
            now = state.values[slot], state.types[slot]
            if now[0] is before[slot][0] and now[1] is before[slot][1]:
                continue
            changed = True
            before[slot] = values, kind = now
            at = slot * _CURRENT_BYTES
            if kind == "float":
                try:
                    _FLOATS.pack_into(raw.data, at, *values)
                    continue
                except OverflowError:
                    pass  # infinity as a float
            dtype = np.dtype(_CURRENT[kind][1])
            if dtype.kind in "iu":
                words = [int(v) & 0xFFFFFFFF for v in values]
                packed: npt.NDArray[Any] = np.array(words, "<u4")
            else:
                with np.errstate(over="ignore"):
                    packed = np.array(values, dtype)
            raw[at : at + packed.nbytes] = packed.view(np.uint8)
            raw[at + packed.nbytes : at + _CURRENT_BYTES] = 0
        if changed:
            self._ctx.pipe.buffer_subdata(self._current_buffer(), 0, raw)

    def _with_constants(self, layout: Layout) -> tuple[VertexBuffer | None, ...]:
        """The buffers of a draw that may come again, of which one has the current values, and will
        have no others.
        """
        values = self._current_bytes.tobytes()
        found = self._constant.get(values)
        if found is None:
            if len(self._constant) >= _MOST_CONSTANT:
                self._release_constant()
                self._ctx.stream.outdate()  # known draws read the released buffers
            found = self._constant[values] = upload(
                self._ctx, self._current_bytes, Bind.VERTEX_BUFFER
            )
        buffers = [*layout.buffers]
        buffers[layout.current_index] = VertexBuffer(found, 0, 0)
        return tuple(buffers)

    def _release_constant(self) -> None:
        while self._constant:
            self._constant.popitem()[1].unref()

    def _copy_clients(
        self, layout: Layout, first: int, last: int, instances: int, base_instance: int
    ) -> tuple[VertexBuffer | None, ...]:
        """Upload the part of each client array that the draw reads, so that vertex 0 keeps its
        address.
        """
        copies = []
        for number, rows in enumerate(layout.clients):
            low, high = elements_read(rows.divisor, first, last, instances, base_instance)
            count = max(high - low + 1, 0)
            copy = self._room_for(number, (low + count) * rows.bytes)
            copies.append(copy)
            if count:
                self._ctx.pipe.buffer_subdata(copy, low * rows.bytes, rows.read(low, count))
        if layout.copies != (found := tuple(copies)):
            buffers = list(layout.buffers)
            for rows, copy in zip(layout.clients, copies, strict=True):
                buffers[rows.index] = VertexBuffer(copy, 0, rows.bytes)
            layout.copies, layout.copied = found, tuple(buffers)
        return layout.copied

    def _room_for(self, number: int, size: int) -> Resource:
        """A buffer for the copies of client arrays of a draw."""
        room = max(_LEAST, 1 << (size - 1).bit_length())
        kept = self._reused.get((number, room))
        if size > _MOST or (size > _COPIED and kept is not None and self._is_read(kept)):
            copy = create_upload(self._ctx, size, Bind.VERTEX_BUFFER)
            self._temporary.append(copy)
            return copy
        if kept is None:
            kept = self._reused[number, room] = create_upload(self._ctx, room, Bind.VERTEX_BUFFER)
        return kept

    def _is_read(self, kept: Resource) -> bool:
        """Whether pending draws hold a buffer, besides this object and the driver's binding."""
        bound = sum(each is not None and each.buffer is kept for each in self._bound or ())
        return kept.refcount > 1 + bound


def elements_read(
    divisor: int, first: int, last: int, instances: int, base_instance: int
) -> tuple[int, int]:
    """The first and last element that a draw reads of an array; the last is smaller if none."""
    if not instances or last < first:
        return 0, -1
    if divisor:
        return base_instance, base_instance + (instances - 1) // divisor
    return first, last
