"""Glyphs of an X server's fonts as bitmaps, from which glXUseXFont makes display lists.

The server draws: all glyphs side by side into one pixmap of one bit, which is read back at once.
"""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.egl.constants import Error
from gallette.egl.errors import EglError
from gallette.egl.xcb import Connection

_QUERY_FONT, _CREATE_PIXMAP, _FREE_PIXMAP = 47, 53, 54
_CREATE_GC, _CHANGE_GC, _FREE_GC, _FILL, _GET_IMAGE, _TEXT = 55, 56, 60, 70, 73, 75
_FOREGROUND, _FONT = 1 << 2, 1 << 14
_XY_PIXMAP = 1
_BIT_ORDER = 31  # where a server says it of itself


class _Metrics(NamedTuple):
    """The protocol's CHARINFO, less the attributes of its font's own."""

    left: int
    right: int
    advance: int
    ascent: int
    descent: int


class _Font:
    """The protocol's answer about a font."""

    def __init__(self, reply: bytes):
        self.widest = _Metrics(*struct.unpack_from("5h", reply, 24))
        first_column, last_column = struct.unpack_from("HH", reply, 40)
        properties, first_row, last_row = struct.unpack_from("HxBB", reply, 46)
        self.columns = range(first_column, last_column + 1)
        self.rows = range(first_row, last_row + 1)
        (self.count,) = struct.unpack_from("I", reply, 56)
        self._reply, self._begin = reply, 60 + 8 * properties

    def metrics(self, character: int) -> _Metrics | None:
        """A character's; None if the font lacks the character."""
        row, column = character >> 8, character & 255
        if self.rows == range(1):  # one row of any length
            row, column = 0, character
        if row not in self.rows or column not in self.columns:
            return None
        if not self.count:  # all alike
            return self.widest
        at = (row - self.rows.start) * len(self.columns) + column - self.columns.start
        if at >= self.count:
            return None
        return _Metrics(*struct.unpack_from("5h", self._reply, self._begin + 12 * at))


@lazy_dataclass(frozen=True)
class Glyph:
    """A bitmap (top row first), its origin in it, and the distance to the next glyph."""

    bits: npt.NDArray[np.bool_]
    left: int
    below: int
    advance: int


def glyphs(server: Connection, number: int, first: int, count: int) -> list[Glyph]:
    """The glyphs of some characters of a font; those that it lacks are empty."""
    reply = server.ask(_QUERY_FONT, 0, "I", number)
    if reply is None:
        raise EglError(Error.BAD_PARAMETER, f"{number:#x} is no font")
    font = _Font(reply)
    metrics = [font.metrics(first + i) for i in range(count)]
    widths = [m.right - m.left if m else 0 for m in metrics]
    starts = np.concatenate(([0], np.cumsum(widths))).astype(int).tolist()
    above = max([m.ascent for m in metrics if m], default=0)
    height = above + max([m.descent for m in metrics if m], default=0)
    if starts[-1] <= 0 or height <= 0:
        return [_glyph(np.zeros((0, 0), np.bool_), m) for m in metrics]
    pixmap, context = server.number(), server.number()
    size = starts[-1], height
    server.tell(_CREATE_PIXMAP, 1, "IIHH", pixmap, server.screen.root, *size)
    chosen = _FOREGROUND | _FONT, 0, number
    server.tell(_CREATE_GC, 0, "IIIII", context, pixmap, *chosen)
    server.tell(_FILL, 0, "IIhhHH", pixmap, context, 0, 0, *size)
    server.tell(_CHANGE_GC, 0, "III", context, _FOREGROUND, 1)
    for i, about_it in enumerate(metrics):
        if about_it is not None:
            at = starts[i] - about_it.left, above
            text = struct.pack(">BBH", 1, 0, first + i)  # one character, moved by nothing
            server.tell(_TEXT, 0, "IIhh", pixmap, context, *at, data=text)
    picture = _bits(server, pixmap, *size)
    server.tell(_FREE_GC, 0, "I", context)
    server.tell(_FREE_PIXMAP, 0, "I", pixmap)
    found = []
    for i, about_it in enumerate(metrics):
        part = picture[:, starts[i] : starts[i + 1]]
        if about_it is not None:
            part = part[above - about_it.ascent : above + about_it.descent]
        found.append(_glyph(part, about_it))
    return found


def _glyph(bits: npt.NDArray[np.bool_], metrics: _Metrics | None) -> Glyph:
    if metrics is None:
        return Glyph(bits[:0, :0], 0, 0, 0)
    return Glyph(bits, -metrics.left, metrics.descent, metrics.advance)


def _bits(server: Connection, pixmap: int, width: int, height: int) -> npt.NDArray[np.bool_]:
    reply = server.ask(_GET_IMAGE, _XY_PIXMAP, "IhhHHI", pixmap, 0, 0, width, height, 1)
    if reply is None:
        raise EglError(Error.BAD_PARAMETER, "the font cannot be drawn")
    order: Literal["little", "big"] = "big" if server.setup[_BIT_ORDER] else "little"
    stride = 4 * struct.unpack_from("I", reply, 4)[0] // height
    data = np.frombuffer(reply, np.uint8, height * stride, 32)
    rows = np.unpackbits(data.reshape(height, stride), axis=1, bitorder=order)
    return np.asarray(rows[:, :width], np.bool_)
