"""Current values of vertex attributes: every `glVertexAttrib*` value function.

An attribute without an array reads its current value. In the compatibility profile, setting generic
attribute 0 between glBegin and glEnd emits a vertex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.pipe.codecs import unpack
from gallette.pipe.formats import FORMATS
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.vertices.vertex_arrays import generic

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def set_current(ctx: Context, slot: int, values: tuple[float, ...], kind: str = "float") -> None:
    """Set the value of an attribute without an array, padded with (0, 0, 0, 1)."""
    state = ctx.arrays
    full = values + ((0, 0, 0, 1) if kind != "float" else (0.0, 0.0, 0.0, 1.0))[len(values) :]
    if ctx.immediate.busy:
        ctx.immediate.current(slot, full, kind)
    state.values[slot] = full
    if state.types[slot] != kind:
        state.types[slot] = kind
        ctx.group.epoch += 1  # layouts of vertex arrays depend on the formats of current values
    ctx.dirty |= Dirty.CURRENT_ATTRIBS


LARGEST = {
    "b": 127.0, "s": 32767.0, "i": 2147483647.0,
    "ub": 255.0, "us": 65535.0, "ui": 4294967295.0,
}  # fmt: skip
"""The values that stand for 1.0, by the letters of functions."""
GL_TYPES = {
    "b": "byte", "s": "short", "i": "int", "ub": "ubyte", "us": "ushort", "ui": "uint",
    "f": "float", "d": "double",
}  # fmt: skip


def _attrib_family(kind: str, count: int, letter: str, normalized: bool, pointer: bool) -> Any:
    """Define one `glVertexAttrib*` function; `kind` is the type in the shader."""
    gl_type, scale = GL_TYPES[letter], LARGEST.get(letter, 1.0)

    def convert(raw: Any) -> tuple[Any, ...]:
        if kind in ("int", "uint"):
            return tuple(int(v) for v in raw)
        if normalized:
            return tuple(max(float(v) / scale, -1.0) for v in raw)
        return tuple(float(v) for v in raw)

    def from_pointer(ctx: Context, index: int, value: Pointer) -> None:
        raw = read_array(value, gl_type, count)
        _set_generic(ctx, index, convert(raw), kind)

    def from_values(ctx: Context, index: int, *values: Any) -> None:
        _set_generic(ctx, index, convert(values), kind)

    return from_pointer if pointer else from_values


def _set_generic(ctx: Context, index: int, values: tuple[Any, ...], kind: str) -> None:
    slot = generic(ctx, index)
    if index == 0 and ctx.is_compat and ctx.immediate.active:
        ctx.immediate.vertex(values, kind)
        return
    set_current(ctx, slot, values, kind)


def _handle_of_values(ctx: Context, index: int, x: int) -> None:
    """Set a handle as two words."""
    _set_generic(ctx, index, (x & 0xFFFFFFFF, x >> 32 & 0xFFFFFFFF), "uint")


def _handle_from_pointer(ctx: Context, index: int, v: Pointer) -> None:
    _handle_of_values(ctx, index, int(read_array(v, "uint64", 1)[0]))


def _register_families() -> None:
    for count in (1, 2, 3, 4):
        for letter in "sfd":
            for pointer in (False, True):
                name = f"vertex_attrib{count}{letter}{'v' if pointer else ''}"
                register(name, _attrib_family("float", count, letter, False, pointer))
        for letter, kind in (("i", "int"), ("ui", "uint")):
            for pointer in (False, True):
                name = f"vertex_attrib_i{count}{letter}{'v' if pointer else ''}"
                register(name, _attrib_family(kind, count, letter, False, pointer))
        for pointer in (False, True):
            name = f"vertex_attrib_l{count}d{'v' if pointer else ''}"
            register(name, _attrib_family("double", count, "d", False, pointer))
    for letter in ("b", "i", "ub", "us", "ui"):
        register(f"vertex_attrib4{letter}v", _attrib_family("float", 4, letter, False, True))
    for letter in ("b", "s", "i", "ub", "us", "ui"):
        register(f"vertex_attrib4n{letter}v", _attrib_family("float", 4, letter, True, True))
    register("vertex_attrib_l1ui64_arb", _handle_of_values)
    register("vertex_attrib_l1ui64v_arb", _handle_from_pointer)
    register("vertex_attrib4nub", _attrib_family("float", 4, "ub", True, False))
    for letter, kind in (("b", "int"), ("s", "int"), ("ub", "uint"), ("us", "uint")):
        register(f"vertex_attrib_i4{letter}v", _attrib_family(kind, 4, letter, False, True))


_register_families()


def unpack_word(type: int, normalized: bool, word: int) -> tuple[float, ...]:
    """The four components of a 2_10_10_10_REV word."""
    values: list[float] = []
    for shift, bits in ((0, 10), (10, 10), (20, 10), (30, 2)):
        raw = (word >> shift) & ((1 << bits) - 1)
        if type == GL.INT_2_10_10_10_REV:
            signed = raw - (1 << bits) if raw >> (bits - 1) else raw
            if not normalized:
                values.append(float(signed))
            else:
                values.append(max(signed / ((1 << (bits - 1)) - 1), -1.0))
        else:
            values.append(raw / ((1 << bits) - 1) if normalized else float(raw))
    return tuple(values)


def _packed_family(count: int, pointer: bool) -> Any:
    def set_word(ctx: Context, index: int, type: int, normalized: int, value: Any) -> None:
        floats = type == GL.UNSIGNED_INT_10F_11F_11F_REV and count <= 3
        if type not in (GL.INT_2_10_10_10_REV, GL.UNSIGNED_INT_2_10_10_10_REV) and not floats:
            raise invalid_enum(type, "packed attribute type")
        word = int(read_array(value, "uint", 1)[0]) if pointer else value
        if floats:
            raw = np.array([[[word]]], "<u4").view(np.uint8)
            texel = unpack(FORMATS["R11G11B10_FLOAT"], raw)
            _set_generic(ctx, index, tuple(texel.reshape(-1)[:count].tolist()), "float")
            return
        unpacked = unpack_word(type, bool(normalized), word)
        _set_generic(ctx, index, unpacked[:count], "float")

    return set_word


for _count in (1, 2, 3, 4):
    register(f"vertex_attrib_p{_count}ui", _packed_family(_count, False))
    register(f"vertex_attrib_p{_count}uiv", _packed_family(_count, True))
