"""Small charts for lessons, as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

__all__ = ["bars", "curves"]

COLORS = ((49, 101, 178), (214, 119, 46), (66, 148, 96), (150, 84, 160), (120, 120, 120))
_SIZE = (420, 260)
_LEFT, _TOP, _BOTTOM = 46, 14, 34


def curves(
    series: Sequence[tuple[str, npt.NDArray[Any]]],
    ticks: Sequence[tuple[float, str]],
    marks: Sequence[str],
) -> npt.NDArray[np.uint8]:
    """Lines over a common axis; `ticks` are heights with their text, `marks` stand below."""
    picture, draw = _canvas()
    low, high = ticks[0][0], ticks[-1][0]
    width, height = _SIZE[0] - _LEFT - 10, _SIZE[1] - _TOP - _BOTTOM
    _ticks(draw, ticks)
    for k, mark in enumerate(marks):
        x = _LEFT + width * k // max(len(marks) - 1, 1)
        draw.text((min(x, _SIZE[0] - 40) - 8, _SIZE[1] - _BOTTOM + 4), mark, fill=(60, 60, 60))
    for number, (name, values) in enumerate(series):
        color = COLORS[number % len(COLORS)]
        part = np.clip((values - low) / (high - low), 0, 1)
        along = _LEFT + np.arange(values.size) * width / max(values.size - 1, 1)
        points = np.stack((along, _TOP + height * (1.0 - part)), 1)
        draw.line(points.ravel().tolist(), fill=color, width=2)
        draw.text((_LEFT + 6 + 90 * number, _SIZE[1] - 14), name, fill=color)
    return np.asarray(picture)


def bars(
    names: Sequence[str], values: Sequence[float], ticks: Sequence[tuple[float, str]]
) -> npt.NDArray[np.uint8]:
    """One bar per name."""
    picture, draw = _canvas()
    high = ticks[-1][0]
    width, height = _SIZE[0] - _LEFT - 10, _SIZE[1] - _TOP - _BOTTOM
    _ticks(draw, ticks)
    step = width / max(len(names), 1)
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        x = _LEFT + step * k
        top = _TOP + height * (1 - min(value / high, 1.0))
        box = (x + step * 0.15, top, x + step * 0.85, _TOP + height)
        draw.rectangle(box, fill=COLORS[k % len(COLORS)])
        for row, word in enumerate(name.split("\n")):
            draw.text((x + 2, _SIZE[1] - _BOTTOM + 3 + 11 * row), word, fill=(40, 40, 40))
    return np.asarray(picture)


def _canvas() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    picture = Image.new("RGB", _SIZE, (252, 252, 250))
    return picture, ImageDraw.Draw(picture)


def _ticks(draw: ImageDraw.ImageDraw, ticks: Sequence[tuple[float, str]]) -> None:
    low, high = ticks[0][0], ticks[-1][0]
    height = _SIZE[1] - _TOP - _BOTTOM
    for value, text in ticks:
        y = _TOP + height * (1 - (value - low) / (high - low))
        draw.line((_LEFT, y, _SIZE[0] - 10, y), fill=(222, 222, 216))
        draw.text((4, y - 6), text, fill=(90, 90, 90))
