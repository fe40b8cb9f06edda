"""Figures made from numbers of a run, as SVG whose colours are those of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np

from gallette.lessons.page import Drawing, shown

WIDTH = 640
LETTER = 7.2  # the width of a letter of 13 px, at most
_KINDS = ("a", "b", "c", "d", "e")
"""Classes of series; the style sheet has their colours."""


def _svg(height: float, parts: Sequence[str], words: str, caption: str) -> Drawing:
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}">'
    return Drawing(head + "".join(parts) + "</svg>", words, caption)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return (
        f'<text class="{kind}" x="{x:.4g}" y="{y:.4g}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{x:.4g}" y="{y:.4g}" width="{max(width, 1):.4g}" '
        f'height="{height:g}" rx="3"/>'
    )


def _beside(names: Iterable[str]) -> float:
    """The width of a column of names: that of the longest, but at most half of the figure."""
    return min(max((len(name) for name in names), default=0) * LETTER + 8, WIDTH / 2)


def _fitting(text: str, room: float) -> str:
    """The text, truncated to the available width."""
    most = max(int(room / LETTER), 1)
    return text if len(text) <= most else text[: most - 1] + "…"


def bars(values: Mapping[str, float], caption: str = "", unit: str = "") -> Drawing:
    """A bar for each name, with its value beside it; the longest has the full width."""
    most = max((abs(v) for v in values.values()), default=0) or 1
    parts = []
    left = _beside(values)
    room = WIDTH - left - 100  # for the value
    for row, (name, value) in enumerate(values.items()):
        y, wide = 8 + 30 * row, room * abs(value) / most
        parts.append(_text(left, y + 16, _fitting(name, left), "", "end"))
        parts.append(_rect(_KINDS[0], left + 10, y, wide, 22))
        parts.append(_text(left + 18 + wide, y + 16, f"{shown(value)}{unit}", "faint"))
    words = ", ".join(f"{name} {shown(value)}{unit}" for name, value in values.items())
    return _svg(12 + 30 * len(values), parts, words, caption)


def curves(
    series: Mapping[str, Sequence[float]],
    ticks: Sequence[tuple[float, str]],
    marks: Sequence[str] = (),
    caption: str = "",
) -> Drawing:
    """Lines over a common axis; `ticks` are heights with their text, `marks` are labels below."""
    left, top, width, height = 60, 30, WIDTH - 80, 190
    low, high = ticks[0][0], ticks[-1][0]
    parts = []
    for value, text in ticks:
        y = top + height * (1 - (value - low) / (high - low))
        parts.append(f'<path class="rule" d="M{left} {y:.1f} h{width}"/>')
        parts.append(_text(left - 8, y + 4, text, "faint", "end"))
    for k, mark in enumerate(marks):
        parts.append(_text(left + width * k / max(len(marks) - 1, 1), 240, mark, "faint", "middle"))
    for k, (name, values) in enumerate(series.items()):
        kind = _KINDS[k % len(_KINDS)]
        share = np.clip((np.asarray(values, float) - low) / (high - low), 0, 1)
        along = left + np.arange(share.size) * width / max(share.size - 1, 1)
        points = " ".join(
            f"{x:.1f},{top + height * (1 - v):.1f}" for x, v in zip(along, share, strict=True)
        )
        parts.append(f'<polyline class="line {kind}" points="{points}"/>')
        parts.append(_rect(kind, left + 140 * k, 4, 14, 14))
        parts.append(_text(left + 20 + 140 * k, 16, name))
    ends = ", ".join(
        f"{n} from {shown(float(v[0]))} to {shown(float(v[-1]))}" for n, v in series.items()
    )
    return _svg(250, parts, ends, caption)


def number_line(points: Sequence[tuple[str, float, str]], caption: str = "") -> Drawing:
    """Values on a line, to scale: (label, value, class)."""
    values = [value for _, value, _ in points]
    low, high = min(values), max(values)
    reach = (high - low) or 1.0
    parts = ['<path class="arrow" d="M20 70 h600 m-6 -5 l6 5 l-6 5"/>']
    for row, (label, value, kind) in enumerate(points):
        x = 60 + 500 * (value - low) / reach
        up = row % 2 == 0
        y = 34 if up else 112
        parts.append(f'<path class="arrow" d="M{x:.1f} 70 V{40 if up else 98}"/>')
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="70" r="6"/>')
        anchor = "start" if x < 130 else "end" if x > 500 else "middle"
        parts.append(_text(x, y, label, "", anchor))
    words = ", ".join(f"{label} at {value:.9g}" for label, value, _ in points)
    return _svg(130, parts, words, caption)


def spans(
    rows: Sequence[tuple[str, float, float, str]], axis: str = "", caption: str = ""
) -> Drawing:
    """Ranges one below the other: (name, first, last, class)."""
    low = min(first for _, first, _, _ in rows)
    reach = (max(last for _, _, last, _ in rows) - low) or 1
    parts = []
    left = _beside([name for name, _, _, _ in rows])
    room = WIDTH - left - 24
    for row, (name, first, last, kind) in enumerate(rows):
        y = 6 + 20 * row
        parts.append(_text(left, y + 12, _fitting(name, left), "", "end"))
        x, wide = left + 10 + room * (first - low) / reach, room * (last - first) / reach
        parts.append(_rect(kind, x, y, max(wide, 4), 14))
    height = 10 + 20 * len(rows)
    if axis:
        height += 18
        parts.append(_text(left + 10, height - 6, axis, "faint"))
    words = "; ".join(f"{n} from {shown(a)} to {shown(b)}" for n, a, b, _ in rows)
    return _svg(height, parts, words, caption)


def steps(values: Sequence[tuple[str, int]], caption: str = "", bad_at: int = -1) -> Drawing:
    """A count over time: its value after each of these events."""
    most = max(count for _, count in values) or 1
    wide = (WIDTH - 40) / len(values)
    parts = []
    for i, (event, count) in enumerate(values):
        height = 84 * count / most
        kind = "bad" if i == bad_at else "good" if count else "box"
        parts.append(_rect(kind, 20 + wide * i, 96 - height, wide - 6, height + 2))
        parts.append(_text(20 + wide * (i + 0.5), 90 - height, str(count), "", "middle"))
        for row, word in enumerate(_broken(event, int(wide / 7))):
            parts.append(_text(20 + wide * (i + 0.5), 116 + 15 * row, word, "faint", "middle"))
    words = ", then ".join(f"{event}: {count}" for event, count in values)
    return _svg(165, parts, words, caption)


def _broken(text: str, most: int) -> list[str]:
    """A text in lines of at most this many letters, with words kept whole."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[:3]


def cells(
    rows: Sequence[tuple[str, Sequence[tuple[str, str, float]]]], words: str, caption: str = ""
) -> Drawing:
    """Rows of boxes side by side, as in a picture of registers: (title, (text, class, share)...).

    Each row is as wide as the others; a box takes its share of it.
    """
    parts = []
    for row, (title, boxes) in enumerate(rows):
        y = 6 + 44 * row
        parts.append(_text(4, y + 22, title, "faint"))
        x, total = 150.0, sum(share for _, _, share in boxes)
        for text, kind, share in boxes:
            wide = 480 * share / total
            parts.append(_rect(kind, x, y, wide - 2, 34))
            parts.append(_text(x + 8, y + 22, _fitting(text, wide - 10)))
            x += wide
    return _svg(10 + 44 * len(rows), parts, words, caption)
