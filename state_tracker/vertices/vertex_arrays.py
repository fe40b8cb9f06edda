"""Vertex array objects and the current values of vertex attributes.

Attributes are stored by `VertAttrib` slot: the compatibility arrays (vertex, normal, colours,
texture coordinates) first, the generic ones from GENERIC0. As in ARB_vertex_attrib_binding each
attribute has a format and refers to a binding; a binding has a buffer, an offset, a stride and a
divisor. The old pointer calls set both. A *client array* has no buffer but an address, in a
separate field that core contexts never set: an offset is never used as an address, even if its
buffer is deleted or unbound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    address_of,
    read_kept,
)
from gallette.state_tracker.entry_points.registry import entry, register, register_for
from gallette.state_tracker.getters import gets_indexed, to_int
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import GLObject, NameTable, swap
from gallette.state_tracker.vertices.buffers import BufferObject, lookup, name_of
from gallette.state_tracker.vertices.vertex_formats import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    PACKED,
    element_bytes,
)

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

SLOTS = len(VertAttrib)
GENERIC0 = int(VertAttrib.GENERIC0)


@lazy_dataclass()
class Attrib:
    """One attribute's format and the source of its data."""

    enabled: bool = False
    size: int = 4
    bgra: bool = False
    type: int = GL.FLOAT
    normalized: bool = False
    integer: bool = False
    long: bool = False
    relative_offset: int = 0
    binding: int = 0
    pointer: int = 0  # result of the pointer query
    stride: int = 0  # as passed, 0 for tight

    @property
    def size_or_order(self) -> int:
        """The size as it was set: GL_BGRA says the order of four components, too."""
        return int(GL.BGRA) if self.bgra else self.size


@lazy_dataclass()
class VertexBinding:
    """The location of the data of one or more attributes."""

    buffer: BufferObject | None = None
    offset: int = 0
    stride: int = 16
    divisor: int = 0
    address: int = 0  # of a client array
    keep: Any = None  # Python memory of a client array

    def move(self, offset: int, stride: int, address: int = 0, keep: Any = None) -> None:
        """Set the location: in the buffer, or (`address`) in the client's memory."""
        self.offset, self.stride, self.address, self.keep = offset, stride, address, keep

    def client_bytes(self, at: int, size: int) -> npt.NDArray[np.uint8]:
        """Bytes of a client array, `at` bytes after its beginning."""
        return read_kept(self.address + at, size, self.keep)


class VertexArray(GLObject):
    """A vertex array object."""

    kind = "vertex array"

    def __init__(self, name: int):
        super().__init__(name)
        self.attribs = [Attrib(binding=i) for i in range(SLOTS)]
        self.attribs[VertAttrib.COLOR1].size = 3
        self.bindings = [VertexBinding() for _ in range(SLOTS)]
        self.element_buffer: BufferObject | None = None
        self.layouts: dict[Any, Any] = {}  # derived: see `vertex_input`
        self.in_list = False  # whether a display list has compiled the draws from it
        self.even_colors = False  # whether all vertices of a primitive have the same colours

    def changed(self) -> None:
        if self.layouts:
            self.layouts = {}

    def source(self, slot: int) -> tuple[Any, ...]:
        """All that is derived from an attribute; of client arrays, it does not matter where they
        are.
        """
        a = self.attribs[slot]
        b = self.bindings[a.binding]
        kind = a.size, a.type, a.bgra, a.normalized, a.integer, a.long, a.relative_offset
        return *kind, a.binding, b.buffer, b.offset, b.stride, bool(b.address)

    def follow(self, slot: int, before: tuple[Any, ...]) -> None:
        """Called after an attribute was set, with its source before that."""
        if self.source(slot) != before:
            self.changed()

    def use_elements(self, buffer: BufferObject | None) -> None:
        """Use a buffer as the source of indices."""
        self.element_buffer = swap(self.element_buffer, buffer)

    def forget_buffer(self, buffer: BufferObject) -> None:
        """Unbind a deleted buffer from this array object."""
        for binding in self.bindings:
            if binding.buffer is buffer:
                binding.buffer, binding.address = swap(binding.buffer, None), 0
        if self.element_buffer is buffer:
            self.use_elements(None)
        self.changed()

    def destroy(self) -> None:
        for binding in self.bindings:
            binding.buffer = swap(binding.buffer, None)
        self.use_elements(None)


class ArrayState:
    """Vertex array names, the bound one, and current attribute values."""

    current: VertexArray

    def __init__(self, ctx: Context):
        self.names: NameTable[VertexArray] = NameTable("vertex array")
        self.default = VertexArray(0)
        self.current = self.default.retain()
        # Values of attributes without an array, and the GL type they were given in.
        self.values: list[tuple[float, ...]] = [(0.0, 0.0, 0.0, 1.0)] * SLOTS
        self.types: list[str] = ["float"] * SLOTS
        self.values[VertAttrib.NORMAL] = (0.0, 0.0, 1.0, 1.0)
        self.values[VertAttrib.COLOR0] = (1.0, 1.0, 1.0, 1.0)
        self.values[VertAttrib.EDGEFLAG] = (1.0, 0.0, 0.0, 1.0)
        self.values[VertAttrib.COLOR_INDEX] = (1.0, 0.0, 0.0, 1.0)
        self.client_unit = 0
        self.locked: tuple[int, int] | None = None  # glLockArraysEXT

    def release_all(self) -> None:
        self.names.clear()
        if self.current is not self.default:
            self.current.release()
        self.default.destroy()


def generic(ctx: Context, index: int) -> int:
    """The slot of generic attribute `index`."""
    if not 0 <= index < ctx.limits.max_vertex_attribs:
        raise invalid_value(f"attribute {index} is not below {ctx.limits.max_vertex_attribs}")
    return GENERIC0 + index


def bound_array(ctx: Context, pointer: bool = False) -> VertexArray:
    """The bound vertex array object; core profiles have none by default, and ES has one for calls
    with a `pointer` alone.

    As in Mesa, arrays can be enabled and disabled there nevertheless, which many programs do.
    """
    current = ctx.arrays.current
    lacking = ctx.is_core or (not ctx.is_compat and not pointer)
    if lacking and current is ctx.arrays.default:
        raise invalid_operation("no vertex array object is bound")
    return current


def vertex_array(ctx: Context, name: int) -> VertexArray:
    """A vertex array object by name; zero is the default one, where the profile has one."""
    if name == 0 and ctx.is_compat:
        return ctx.arrays.default
    return ctx.arrays.names.require(name)


# -- objects -----------------------------------------------------------------------------------


def _unbind(ctx: Context, array: VertexArray) -> None:
    if ctx.arrays.current is array:
        bind_vertex_array(ctx, 0)


objects(
    "vertex_array",
    lambda ctx: ctx.arrays.names,
    _unbind,
    lambda ctx, name: VertexArray(name),
    label=GL.VERTEX_ARRAY,
)


@entry
def bind_vertex_array(ctx: Context, array: int) -> None:
    state = ctx.arrays
    if array == state.current.name:
        return
    found = state.default if array == 0 else state.names.bind(array, VertexArray, True)
    if found is not state.current:
        found.retain()
        state.current.release()
        state.current = found


# -- arrays ------------------------------------------------------------------------------------


def _switch(enabled: bool) -> Any:
    def call(ctx: Context, vao: VertexArray, index: int) -> None:
        attrib = vao.attribs[generic(ctx, index)]
        if attrib.enabled != enabled:
            attrib.enabled = enabled
            vao.changed()

    return call


LONG_TYPES = frozenset((GL.DOUBLE, GL.UNSIGNED_INT64_ARB))


def check_format(size: int, type: int, normalized: bool, kind: str) -> tuple[int, bool]:
    """Number of components and BGRA order; raises a GL error for an invalid format."""
    allowed = {"float": FLOAT_TYPES, "integer": INTEGER_TYPES, "long": LONG_TYPES}
    bgra = size == GL.BGRA and kind == "float"
    if not bgra and not 1 <= size <= 4:
        raise invalid_value(f"an attribute cannot have {size} components")
    if type not in allowed[kind]:
        raise invalid_enum(type, "attribute type")
    if bgra:
        if type not in (GL.UNSIGNED_BYTE, *PACKED) or type == GL.UNSIGNED_INT_10F_11F_11F_REV:
            raise invalid_operation("GL_BGRA takes unsigned bytes or packed components")
        if not normalized:
            raise invalid_operation("GL_BGRA attributes must be normalized")
        return 4, True
    if type == GL.UNSIGNED_INT_10F_11F_11F_REV:
        if size != 3:
            raise invalid_operation("this packed type has three components")
    elif type in PACKED and size != 4:
        raise invalid_operation("this packed type has four components")
    return size, False


def _set_format(
    ctx: Context,
    vao: VertexArray,
    slot: int,
    size: int,
    type: int,
    normalized: bool,
    offset: int,
    kind: str,
) -> None:
    check_es(ctx, type, "attribute type")
    count, bgra = check_format(size, type, normalized, kind)
    attrib = vao.attribs[slot]
    attrib.size, attrib.bgra, attrib.type = count, bgra, type
    attrib.normalized = normalized and kind == "float"
    attrib.integer, attrib.long = kind == "integer", kind == "long"
    attrib.relative_offset = offset


def check_pointer(ctx: Context, stride: int, address: int | None) -> None:
    """Check the location of an array, for every gl*Pointer function."""
    vao = bound_array(ctx, pointer=True)
    if not 0 <= stride <= ctx.limits.max_vertex_attrib_stride:
        raise invalid_value(f"a stride of {stride} is not 0..{ctx.limits.max_vertex_attrib_stride}")
    client = ctx.buffers.bound[GL.ARRAY_BUFFER] is None and address
    if client and vao is not ctx.arrays.default:
        raise invalid_operation("client arrays need the default vertex array object")


def set_pointer(
    ctx: Context,
    slot: int,
    size: int,
    type: int,
    normalized: bool,
    stride: int,
    pointer: Pointer,
    kind: str = "float",
) -> None:
    """Set format, binding and buffer at once, as every gl*Pointer function does."""
    address, keep = address_of(pointer)
    check_pointer(ctx, stride, address)
    vao, buffer = ctx.arrays.current, ctx.buffers.bound[GL.ARRAY_BUFFER]
    before = vao.source(slot)
    _set_format(ctx, vao, slot, size, type, normalized, 0, kind)
    attrib, binding = vao.attribs[slot], vao.bindings[slot]
    attrib.binding, attrib.pointer, attrib.stride = slot, address or 0, stride
    binding.buffer = swap(binding.buffer, buffer)
    stride = stride or element_bytes(attrib)
    if buffer is None and not ctx.is_core:
        binding.move(0, stride, address or 0, keep)
        if address:
            ctx.stream.has_client_array()
    else:
        binding.move(address or 0, stride)
    if buffer is not None:
        ctx.stream.has_array_buffer(buffer.name)
    vao.follow(slot, before)


@entry
def vertex_attrib_pointer(
    ctx: Context, index: int, size: int, type: int, normalized: int, stride: int, pointer: Pointer
) -> None:
    if type == GL.HALF_FLOAT_OES and ctx.profile == "es":  # OES_vertex_half_float
        type = GL.HALF_FLOAT
    set_pointer(ctx, generic(ctx, index), size, type, bool(normalized), stride, pointer)


@entry
def vertex_attrib_i_pointer(
    ctx: Context, index: int, size: int, type: int, stride: int, pointer: Pointer
) -> None:
    set_pointer(ctx, generic(ctx, index), size, type, False, stride, pointer, "integer")


@entry
def vertex_attrib_l_pointer(
    ctx: Context, index: int, size: int, type: int, stride: int, pointer: Pointer
) -> None:
    set_pointer(ctx, generic(ctx, index), size, type, False, stride, pointer, "long")


def _set_divisor(ctx: Context, vao: VertexArray, binding: int, divisor: int) -> None:
    vao.bindings[binding].divisor = divisor
    vao.changed()


@entry
def vertex_attrib_divisor(ctx: Context, index: int, divisor: int) -> None:
    slot, vao = generic(ctx, index), ctx.arrays.current
    vao.attribs[slot].binding = slot
    _set_divisor(ctx, vao, slot, divisor)


# -- separate formats and bindings (ARB_vertex_attrib_binding, and by name) ------------------------


def _format(kind: str) -> Any:
    def call(ctx: Context, vao: VertexArray, index: int, size: int, type: int, *rest: int) -> None:
        *normalized, offset = rest
        if offset > ctx.limits.max_vertex_attrib_relative_offset:
            raise invalid_value("the relative offset is too large")
        slot = generic(ctx, index)
        before = vao.source(slot)
        _set_format(ctx, vao, slot, size, type, any(normalized), offset, kind)
        vao.follow(slot, before)

    return call


def _binding_index(ctx: Context, index: int) -> int:
    if not 0 <= index < ctx.limits.max_vertex_attribs:
        raise invalid_value(f"vertex binding {index} is out of range")
    return GENERIC0 + index


def _attrib_binding(ctx: Context, vao: VertexArray, index: int, binding: int) -> None:
    vao.attribs[generic(ctx, index)].binding = _binding_index(ctx, binding)
    vao.changed()


def set_vertex_buffer(
    ctx: Context, vao: VertexArray, index: int, buffer: int, offset: int, stride: int
) -> None:
    slot = _binding_index(ctx, index)
    if offset < 0 or stride < 0 or stride > ctx.limits.max_vertex_attrib_stride:
        raise invalid_value("bad offset or stride of a vertex buffer")
    if buffer and not ctx.buffers.names.is_reserved(buffer) and not ctx.is_compat:
        raise invalid_operation(f"{buffer} was not generated as the name of a buffer")
    binding = vao.bindings[slot]
    binding.buffer = swap(binding.buffer, lookup(ctx, buffer))
    binding.move(offset, stride)
    vao.changed()


def _set_binding_divisor(ctx: Context, vao: VertexArray, index: int, divisor: int) -> None:
    _set_divisor(ctx, vao, _binding_index(ctx, index), divisor)


_FORMATS = {"": _format("float"), "i_": _format("integer"), "l_": _format("long")}
register_for(
    lambda ctx: ctx.arrays.current,
    {"enable_vertex_attrib_array": _switch(True), "disable_vertex_attrib_array": _switch(False)},
    named=False,
)
register_for(
    bound_array,
    {
        "vertex_attrib_binding": _attrib_binding,
        "bind_vertex_buffer": set_vertex_buffer,
        "vertex_binding_divisor": _set_binding_divisor,
        **{f"vertex_attrib_{letter}format": format for letter, format in _FORMATS.items()},
    },
    named=False,
)
register_for(
    vertex_array,
    {
        "enable_vertex_array_attrib": _switch(True),
        "disable_vertex_array_attrib": _switch(False),
        "vertex_array_attrib_binding": _attrib_binding,
        "vertex_array_vertex_buffer": set_vertex_buffer,
        "vertex_array_binding_divisor": _set_binding_divisor,
        **{f"vertex_array_attrib_{letter}format": format for letter, format in _FORMATS.items()},
    },
)


@entry
def vertex_array_element_buffer(ctx: Context, vaobj: int, buffer: int) -> None:
    vao = vertex_array(ctx, vaobj)
    found = ctx.buffers.names.require(buffer) if buffer else None
    vao.use_elements(found)


# -- queries -----------------------------------------------------------------------------------


_PARAMETERS: dict[int, Callable[[Attrib, Any], int]] = {
    GL.VERTEX_ATTRIB_ARRAY_ENABLED: lambda attrib, binding: attrib.enabled,
    GL.VERTEX_ATTRIB_ARRAY_SIZE: lambda attrib, binding: attrib.size_or_order,
    GL.VERTEX_ATTRIB_ARRAY_STRIDE: lambda attrib, binding: attrib.stride,
    GL.VERTEX_ATTRIB_ARRAY_TYPE: lambda attrib, binding: attrib.type,
    GL.VERTEX_ATTRIB_ARRAY_NORMALIZED: lambda attrib, binding: attrib.normalized,
    GL.VERTEX_ATTRIB_ARRAY_INTEGER: lambda attrib, binding: attrib.integer,
    GL.VERTEX_ATTRIB_ARRAY_LONG: lambda attrib, binding: attrib.long,
    GL.VERTEX_ATTRIB_ARRAY_DIVISOR: lambda attrib, binding: binding.divisor,
    GL.VERTEX_ATTRIB_RELATIVE_OFFSET: lambda attrib, binding: attrib.relative_offset,
}
_BY_NAME = frozenset(_PARAMETERS)
_PARAMETERS |= {
    GL.VERTEX_ATTRIB_ARRAY_BUFFER_BINDING: lambda attrib, binding: name_of(binding.buffer),
    GL.VERTEX_ATTRIB_BINDING: lambda attrib, binding: attrib.binding - GENERIC0,
}
"""Parameters of an attribute and its binding; those that are asked for by an array's name."""


def _attrib_parameter(ctx: Context, vao: VertexArray, index: int, pname: int) -> list[Any]:
    slot = generic(ctx, index)
    check_es(ctx, pname, "vertex attribute parameter")
    attrib = vao.attribs[slot]
    if pname == GL.CURRENT_VERTEX_ATTRIB:
        if index == 0 and ctx.is_compat:
            raise invalid_operation("generic attribute 0 has no current value")
        return list(ctx.arrays.values[slot])
    if pname not in _PARAMETERS:
        raise invalid_enum(pname, "vertex attribute parameter")
    return [int(_PARAMETERS[pname](attrib, vao.bindings[attrib.binding]))]


def _rounded(value: Any) -> int:
    return to_int(value, False)


def _get_attrib(convert: Any) -> Any:
    def get(ctx: Context, index: int, pname: int) -> list[Any]:
        values = _attrib_parameter(ctx, ctx.arrays.current, index, pname)
        return [convert(v) for v in values]

    return get


for _suffix, _convert in (("fv", float), ("dv", float), ("iv", _rounded)):
    register(f"get_vertex_attrib{_suffix}", _get_attrib(_convert))
for _suffix in ("iiv", "iuiv"):
    register(f"get_vertex_attrib_{_suffix}", _get_attrib(int))
register("get_vertex_attrib_ldv", _get_attrib(float))


@entry
def get_vertex_attrib_lui64v_arb(ctx: Context, index: int, pname: int) -> list[int]:
    values = [int(v) for v in _get_attrib(int)(ctx, index, pname)]
    return [values[0] | values[1] << 32] if pname == GL.CURRENT_VERTEX_ATTRIB else values


@entry
def get_vertex_attrib_pointerv(ctx: Context, index: int, pname: int) -> list[int]:
    slot = generic(ctx, index)
    if pname != GL.VERTEX_ATTRIB_ARRAY_POINTER:
        raise invalid_enum(pname, "vertex attribute pointer")
    return [ctx.arrays.current.attribs[slot].pointer]


@entry
def get_vertex_arrayiv(ctx: Context, vaobj: int, pname: int) -> list[int]:
    found = vertex_array(ctx, vaobj)
    if pname != GL.ELEMENT_ARRAY_BUFFER_BINDING:
        raise invalid_enum(pname, "vertex array parameter")
    return [name_of(found.element_buffer)]


@entry
def get_vertex_array_indexediv(ctx: Context, vaobj: int, index: int, pname: int) -> list[int]:
    found = vertex_array(ctx, vaobj)
    if pname not in _BY_NAME:
        raise invalid_enum(pname, "vertex attribute parameter")
    return _attrib_parameter(ctx, found, index, pname)


@entry
def get_vertex_array_indexed64iv(ctx: Context, vaobj: int, index: int, pname: int) -> list[int]:
    found = vertex_array(ctx, vaobj)
    if pname != GL.VERTEX_BINDING_OFFSET:
        raise invalid_enum(pname, "vertex binding parameter")
    binding = found.bindings[_binding_index(ctx, index)]
    return [binding.address or binding.offset]


gets_indexed(
    lambda c: c.limits.max_vertex_attribs,
    {
        "VERTEX_BINDING_OFFSET": lambda c, i: (
            c.arrays.current.bindings[GENERIC0 + i].address
            or c.arrays.current.bindings[GENERIC0 + i].offset
        ),
        "VERTEX_BINDING_STRIDE": lambda c, i: c.arrays.current.bindings[GENERIC0 + i].stride,
        "VERTEX_BINDING_DIVISOR": lambda c, i: c.arrays.current.bindings[GENERIC0 + i].divisor,
        "VERTEX_BINDING_BUFFER": lambda c, i: name_of(
            c.arrays.current.bindings[GENERIC0 + i].buffer
        ),
    },
)
