"""The conventional vertex arrays of the compatibility profile: glVertexPointer and friends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.debug_output import POINTER_QUERIES
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.draw import check_mode
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, address_of
from gallette.state_tracker.entry_points.registry import entry, implemented, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.pixel_data.pixels import PLAIN_TYPES
from gallette.state_tracker.vertices.buffers import name_of
from gallette.state_tracker.vertices.current_attribs import set_current, unpack_word
from gallette.state_tracker.vertices.vertex_arrays import Attrib, check_pointer, set_pointer
from gallette.state_tracker.vertices.vertex_formats import element_bytes

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_ARRAYS: dict[int, VertAttrib] = {
    GL.VERTEX_ARRAY: VertAttrib.POS,
    GL.NORMAL_ARRAY: VertAttrib.NORMAL,
    GL.COLOR_ARRAY: VertAttrib.COLOR0,
    GL.SECONDARY_COLOR_ARRAY: VertAttrib.COLOR1,
    GL.FOG_COORD_ARRAY: VertAttrib.FOG,
    GL.INDEX_ARRAY: VertAttrib.COLOR_INDEX,
    GL.EDGE_FLAG_ARRAY: VertAttrib.EDGEFLAG,
}


POINT_SIZES = int(VertAttrib.GENERIC0) + 15
"""OpenGL ES 1.1 has point size arrays and no generic attributes."""


def slot_of_array(ctx: Context, array: int) -> int | None:
    """The attribute slot of a client array name, None for other enums."""
    if array == GL.TEXTURE_COORD_ARRAY:
        return int(VertAttrib.TEX0) + ctx.arrays.client_unit
    if array == GL.POINT_SIZE_ARRAY_OES:
        return POINT_SIZES if ctx.profile == "es1" else None
    found = _ARRAYS.get(array)
    return int(found) if found is not None else None


def set_client_state(ctx: Context, array: int, on: bool) -> None:
    slot = slot_of_array(ctx, array)
    if array == GL.PRIMITIVE_RESTART_NV:
        ctx.raster.primitive_restart = on
        return
    if slot is None:
        raise invalid_enum(array, "client array")
    vao = ctx.arrays.current
    vao.attribs[slot].enabled = on
    vao.changed()
    if slot == POINT_SIZES:  # fixed function must read them
        ctx.dirty |= Dirty.BUILTINS


register("enable_client_state", lambda ctx, array: set_client_state(ctx, array, True))
register("disable_client_state", lambda ctx, array: set_client_state(ctx, array, False))


@entry
def client_active_texture(ctx: Context, texture: int) -> None:
    unit = texture - GL.TEXTURE0
    if not 0 <= unit < 8:
        raise invalid_enum(texture, "texture unit")
    ctx.arrays.client_unit = unit


_SHORT = frozenset((GL.SHORT, GL.INT, GL.FLOAT, GL.DOUBLE, GL.HALF_FLOAT,
                    GL.INT_2_10_10_10_REV, GL.UNSIGNED_INT_2_10_10_10_REV))  # fmt: skip
_ES1 = frozenset((GL.BYTE, GL.FIXED))
_FLOATS = frozenset((GL.FLOAT, GL.DOUBLE, GL.HALF_FLOAT, GL.FIXED))
_COLOR = _SHORT | {GL.BYTE, GL.UNSIGNED_BYTE, GL.UNSIGNED_SHORT, GL.UNSIGNED_INT}


def _pointer(slot: int, sizes: tuple[int, ...], types: frozenset[int], normalized: bool) -> Any:
    def call(ctx: Context, size: int, type: int, stride: int, pointer: Pointer) -> None:
        if size not in sizes:
            raise invalid_value(f"{size} components")
        if type not in types and not (ctx.profile == "es1" and type in _ES1):
            raise invalid_enum(type, "array type")
        at = slot + ctx.arrays.client_unit if slot == VertAttrib.TEX0 else slot
        integers = normalized and type not in _FLOATS
        set_pointer(ctx, at, size, type, integers, stride, pointer)

    return call


register("vertex_pointer", _pointer(VertAttrib.POS, (2, 3, 4), _SHORT, False))
register("color_pointer", _pointer(VertAttrib.COLOR0, (3, 4, GL.BGRA), _COLOR, True))
register("secondary_color_pointer", _pointer(VertAttrib.COLOR1, (3, GL.BGRA), _COLOR, True))
register("tex_coord_pointer", _pointer(VertAttrib.TEX0, (1, 2, 3, 4), _SHORT, False))


@entry
def normal_pointer(ctx: Context, type: int, stride: int, pointer: Pointer) -> None:
    if type not in _SHORT | {GL.BYTE} and not (ctx.profile == "es1" and type in _ES1):
        raise invalid_enum(type, "array type")
    size = 4 if type in (GL.INT_2_10_10_10_REV, GL.UNSIGNED_INT_2_10_10_10_REV) else 3
    integers = type not in _FLOATS
    set_pointer(ctx, int(VertAttrib.NORMAL), size, type, integers, stride, pointer)


@entry
def fog_coord_pointer(ctx: Context, type: int, stride: int, pointer: Pointer) -> None:
    if type not in (GL.FLOAT, GL.DOUBLE, GL.HALF_FLOAT):
        raise invalid_enum(type, "array type")
    set_pointer(ctx, int(VertAttrib.FOG), 1, type, False, stride, pointer)


@entry
def edge_flag_pointer(ctx: Context, stride: int, pointer: Pointer) -> None:
    set_pointer(ctx, int(VertAttrib.EDGEFLAG), 1, GL.UNSIGNED_BYTE, False, stride, pointer)


def restarts_at(ctx: Context, i: int) -> bool:
    """Whether glArrayElement of that index restarts the primitive and reads nothing."""
    return ctx.raster.primitive_restart and i & 0xFFFFFFFF == ctx.raster.restart_index


@entry
def array_element(ctx: Context, i: int) -> None:
    """Emit one vertex from the enabled arrays, between glBegin and glEnd."""
    if restarts_at(ctx, i):
        implemented("PrimitiveRestartNV")(ctx)
        return
    if i < 0:
        raise invalid_value("a negative element")
    vao = ctx.arrays.current
    position: tuple[float, ...] | None = None
    for slot, attrib in enumerate(vao.attribs):
        if not attrib.enabled:
            continue
        binding = vao.bindings[attrib.binding]
        at = attrib.relative_offset + i * binding.stride
        size = element_bytes(attrib)
        if binding.buffer is not None:
            raw = binding.buffer.read_padded(binding.offset + at, size)
        elif binding.address:
            raw = binding.client_bytes(at, size).tobytes()
        else:
            raw = bytes(size)
        values = _decoded(attrib, raw)
        if slot in (VertAttrib.POS, VertAttrib.GENERIC0):
            position = values
        else:
            set_current(ctx, slot, values)
            if slot == VertAttrib.COLOR0:
                ctx.lighting.track_color(ctx)
    if position is not None:
        ctx.immediate.vertex(position)


def _decoded(attrib: Attrib, raw: bytes) -> tuple[float, ...]:
    """One element of an array, converted to the floats that a shader would read."""
    if attrib.type not in PLAIN_TYPES:
        word = int.from_bytes(raw[:4], "little")
        unpacked = unpack_word(attrib.type, attrib.normalized, word)
        return tuple(float(v) for v in unpacked[: attrib.size])
    values = np.frombuffer(raw, "<" + PLAIN_TYPES[attrib.type]).astype(np.float64)
    if attrib.type == GL.FIXED:
        values = values / 65536.0
    elif attrib.normalized and PLAIN_TYPES[attrib.type][0] in "iu":
        values = np.maximum(values / np.iinfo(PLAIN_TYPES[attrib.type]).max, -1.0)
    if attrib.bgra:
        values = values[[2, 1, 0, 3]]
    return tuple(values.tolist())


# GL_T2F_V3F and the other interleaved formats: texture, colour, normal, vertex; sizes in floats.
_INTERLEAVED: dict[int, str] = {
    GL.V2F: "v2",
    GL.V3F: "v3",
    GL.C4UB_V2F: "b4 v2",
    GL.C4UB_V3F: "b4 v3",
    GL.C3F_V3F: "c3 v3",
    GL.N3F_V3F: "n3 v3",
    GL.C4F_N3F_V3F: "c4 n3 v3",
    GL.T2F_V3F: "t2 v3",
    GL.T4F_V4F: "t4 v4",
    GL.T2F_C4UB_V3F: "t2 b4 v3",
    GL.T2F_C3F_V3F: "t2 c3 v3",
    GL.T2F_N3F_V3F: "t2 n3 v3",
    GL.T2F_C4F_N3F_V3F: "t2 c4 n3 v3",
    GL.T4F_C4F_N3F_V4F: "t4 c4 n3 v4",
}


@entry
def interleaved_arrays(ctx: Context, format: int, stride: int, pointer: Pointer) -> None:
    if format not in _INTERLEAVED:
        raise invalid_enum(format, "interleaved format")
    address, keep = address_of(pointer)
    check_pointer(ctx, stride, address)
    check_mode(ctx, GL.POINTS)
    parts = _INTERLEAVED[format].split()
    total = sum(4 if p[0] == "b" else 4 * int(p[1]) for p in parts)
    names = {"t": GL.TEXTURE_COORD_ARRAY, "c": GL.COLOR_ARRAY, "b": GL.COLOR_ARRAY,
             "n": GL.NORMAL_ARRAY, "v": GL.VERTEX_ARRAY}  # fmt: skip
    used = {names[p[0]] for p in parts}
    for array in {*names.values(), GL.EDGE_FLAG_ARRAY}:
        set_client_state(ctx, array, array in used)
    at = address or 0
    for part in parts:
        slot, size = slot_of_array(ctx, names[part[0]]), int(part[1])
        assert slot is not None
        bytes_type = part[0] == "b"
        kind = GL.UNSIGNED_BYTE if bytes_type else GL.FLOAT
        set_pointer(ctx, slot, size, kind, bytes_type, stride or total, at)
        ctx.arrays.current.bindings[slot].keep = keep
        at += 4 if bytes_type else 4 * size


_POINTERS: dict[int, int] = {
    GL.VERTEX_ARRAY_POINTER: GL.VERTEX_ARRAY,
    GL.NORMAL_ARRAY_POINTER: GL.NORMAL_ARRAY,
    GL.COLOR_ARRAY_POINTER: GL.COLOR_ARRAY,
    GL.SECONDARY_COLOR_ARRAY_POINTER: GL.SECONDARY_COLOR_ARRAY,
    GL.FOG_COORD_ARRAY_POINTER: GL.FOG_COORD_ARRAY,
    GL.TEXTURE_COORD_ARRAY_POINTER: GL.TEXTURE_COORD_ARRAY,
    GL.EDGE_FLAG_ARRAY_POINTER: GL.EDGE_FLAG_ARRAY,
    GL.INDEX_ARRAY_POINTER: GL.INDEX_ARRAY,
    GL.POINT_SIZE_ARRAY_POINTER_OES: GL.POINT_SIZE_ARRAY_OES,
}


def pointer_query(ctx: Context, pname: int) -> int | None:
    """The result of glGetPointerv for a client array, None for other names."""
    array = _POINTERS.get(pname)
    slot = slot_of_array(ctx, array) if array is not None else None
    return ctx.arrays.current.attribs[slot].pointer if slot is not None else None


POINTER_QUERIES.append(pointer_query)


def _array_gets() -> None:
    """Register queries of size, type, stride and buffer, for each array that has these
    parameters.
    """
    names = ("VERTEX", "NORMAL", "COLOR", "SECONDARY_COLOR", "FOG_COORD", "TEXTURE_COORD", "INDEX",
             "EDGE_FLAG")  # fmt: skip
    for name in names:

        def attrib(ctx: Context, name: str = name) -> Attrib:
            slot = slot_of_array(ctx, getattr(GL, f"{name}_ARRAY"))
            assert slot is not None
            return ctx.arrays.current.attribs[slot]

        def buffer(ctx: Context, attrib: Any = attrib) -> int:
            return name_of(ctx.arrays.current.bindings[attrib(ctx).binding].buffer)

        fields = {"TYPE": "type", "STRIDE": "stride", "SIZE": "size_or_order"}
        if name in ("NORMAL", "FOG_COORD", "INDEX", "EDGE_FLAG"):
            del fields["SIZE"]
        if name == "EDGE_FLAG":
            del fields["TYPE"]
        for suffix, field in fields.items():
            gets(
                {f"{name}_ARRAY_{suffix}": lambda c, a=attrib, f=field: getattr(a(c), f)},  # type: ignore[misc]
                profiles="compat",
            )
        gets({f"{name}_ARRAY_BUFFER_BINDING": buffer}, profiles="compat")


_array_gets()
gets({"CLIENT_ACTIVE_TEXTURE": lambda c: GL.TEXTURE0 + c.arrays.client_unit}, profiles="compat")
