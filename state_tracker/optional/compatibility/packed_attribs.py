"""Compatibility attributes as one packed word: glVertexP3ui, glColorP4uiv and related functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum
from gallette.state_tracker.entry_points.memory import read_array
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.vertices.current_attribs import set_current, unpack_word

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_TYPES = (GL.INT_2_10_10_10_REV, GL.UNSIGNED_INT_2_10_10_10_REV)


def _values(type: int, normalized: bool, count: int, word: Any, pointer: bool) -> tuple[float, ...]:
    if type not in _TYPES:
        raise invalid_enum(type, "packed attribute type")
    raw = int(read_array(word, "uint", 1)[0]) if pointer else word
    return unpack_word(type, normalized, raw)[:count]


def _family(name: str, counts: tuple[int, ...], slot: VertAttrib, normalized: bool) -> None:
    for count in counts:
        for pointer in (False, True):

            def call(
                ctx: Context, type: int, word: Any, count: int = count, pointer: bool = pointer
            ) -> None:
                values = _values(type, normalized, count, word, pointer)
                if slot is VertAttrib.POS:
                    ctx.immediate.vertex(values)
                    return
                set_current(ctx, int(slot), values)
                if slot is VertAttrib.COLOR0:
                    ctx.lighting.track_color(ctx)

            register(f"{name}_p{count}ui{'v' if pointer else ''}", call)


_family("vertex", (2, 3, 4), VertAttrib.POS, False)
_family("tex_coord", (1, 2, 3, 4), VertAttrib.TEX0, False)
_family("normal", (3,), VertAttrib.NORMAL, True)
_family("color", (3, 4), VertAttrib.COLOR0, True)
_family("secondary_color", (3,), VertAttrib.COLOR1, True)


def _multi_family() -> None:
    for count in (1, 2, 3, 4):
        for pointer in (False, True):

            def call(
                ctx: Context, target: int, type: int, word: Any, count: int = count,
                pointer: bool = pointer,
            ) -> None:  # fmt: skip
                if not 0 <= target - GL.TEXTURE0 < 8:
                    raise invalid_enum(target, "texture unit")
                values = _values(type, False, count, word, pointer)
                set_current(ctx, int(VertAttrib.TEX0) + target - GL.TEXTURE0, values)

            register(f"multi_tex_coord_p{count}ui{'v' if pointer else ''}", call)


_multi_family()
