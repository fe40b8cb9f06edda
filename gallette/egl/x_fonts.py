"""Glyphs of an X server's fonts as bitmaps, from which glXUseXFont makes display lists.

The server draws: all glyphs side by side into one pixmap of one bit, which is read back at once.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from Xlib import X
from Xlib import error as xerror

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.egl.constants import Error
from gallette.egl.errors import EglError

__all__ = ["Glyph", "glyphs"]


@lazy_dataclass(frozen=True)
class Glyph:
    """A bitmap (top row first), its origin in it, and the distance to the next glyph."""

    bits: npt.NDArray[np.bool_]
    left: int
    below: int
    advance: int


def glyphs(display: Any, font: int, first: int, count: int) -> list[Glyph]:
    """The glyphs of some characters of a font; those that it lacks are empty."""
    drawn = display.create_resource_object("font", font)
    try:
        about = drawn.query()
    except xerror.XError as error:
        raise EglError(Error.BAD_PARAMETER, f"no font: {error}") from error
    metrics = [_metrics(about, first + i) for i in range(count)]
    widths = [m.right_side_bearing - m.left_side_bearing if m else 0 for m in metrics]
    starts = np.concatenate(([0], np.cumsum(widths))).astype(int).tolist()
    above = max([m.ascent for m in metrics if m], default=0)
    height = above + max([m.descent for m in metrics if m], default=0)
    if starts[-1] <= 0 or height <= 0:
        return [_glyph(np.zeros((0, 0), np.bool_), m) for m in metrics]
    root = display.screen().root
    pixmap = root.create_pixmap(starts[-1], height, 1)
    context = pixmap.create_gc(foreground=0, font=drawn)
    pixmap.fill_rectangle(context, 0, 0, starts[-1], height)
    context.change(foreground=1)
    for i, about_it in enumerate(metrics):
        if about_it is not None:
            at = starts[i] - about_it.left_side_bearing
            pixmap.poly_text_16(context, at, above, [(0, [first + i])])
    picture = _bits(display, pixmap, starts[-1], height)
    context.free()
    pixmap.free()
    found = []
    for i, about_it in enumerate(metrics):
        part = picture[:, starts[i] : starts[i + 1]]
        if about_it is not None:
            part = part[above - about_it.ascent : above + about_it.descent]
        found.append(_glyph(part, about_it))
    return found


def _glyph(bits: npt.NDArray[np.bool_], metrics: Any) -> Glyph:
    if metrics is None:
        return Glyph(bits[:0, :0], 0, 0, 0)
    return Glyph(bits, -metrics.left_side_bearing, metrics.descent, metrics.character_width)


def _metrics(font: Any, character: int) -> Any:
    """A character's metrics in the font; None if the font lacks the character."""
    row, column = character >> 8, character & 255
    rows = range(font.min_byte1, font.max_byte1 + 1)
    columns = range(font.min_char_or_byte2, font.max_char_or_byte2 + 1)
    if rows == range(1):  # one row of any length
        row, column = 0, character
    if row not in rows or column not in columns:
        return None
    if not font.char_infos:  # all alike
        return font.max_bounds
    index = (row - rows.start) * len(columns) + column - columns.start
    return font.char_infos[index] if index < len(font.char_infos) else None


def _bits(display: Any, pixmap: Any, width: int, height: int) -> npt.NDArray[np.bool_]:
    info = display.display.info
    data = np.frombuffer(pixmap.get_image(0, 0, width, height, X.XYPixmap, 1).data, np.uint8)
    order: Literal["little", "big"] = "little" if info.bitmap_format_bit_order == 0 else "big"
    rows = np.unpackbits(data.reshape(height, -1), axis=1, bitorder=order)
    return np.asarray(rows[:, :width], np.bool_)
