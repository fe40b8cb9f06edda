"""The layout qualifiers, read from `layouts.txt`: where and in which languages they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gallette.compiler.glsl import availability

__all__ = [
    "BLEND_MODES",
    "DEPTH_LAYOUTS",
    "IMAGE_FORMATS",
    "LAYOUTS",
    "MATRIX_LAYOUTS",
    "ONE_WORD",
    "PACKINGS",
    "PRIMITIVES",
    "Layout",
]


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout identifier in some places."""

    name: str
    least: int | None
    """the smallest value; None if it has none"""
    when: str
    places: frozenset[str]
    stages: frozenset[str]
    group: str
    """of those of a group only one counts"""


def _read() -> Iterator[Layout]:
    text = Path(__file__).with_name("layouts.txt").read_text("ascii")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        names, when, places, stages, group = (*(x.strip() for x in line.split("|")), "", "")[:5]
        when = " ".join([getattr(availability, word, word) for word in when.split()])
        for entry in names.split():
            name, valued, least = entry.partition("=")
            value = int(least or 0) if valued else None
            where = frozenset(places.split())
            yield Layout(name, value, when, where, frozenset(stages.split()), group)


LAYOUTS: dict[str, list[Layout]] = {}
"""name -> its rows (a name may have different meanings in different places)"""
for _row in _read():
    LAYOUTS.setdefault(_row.name, []).append(_row)


def _group(name: str) -> frozenset[str]:
    return frozenset(row.name for rows in LAYOUTS.values() for row in rows if row.group == name)


PACKINGS, MATRIX_LAYOUTS = _group("packing"), _group("matrix")
DEPTH_LAYOUTS, IMAGE_FORMATS = _group("depth!"), _group("format!")
ONE_WORD = frozenset(("r32f", "r32i", "r32ui"))
"""formats of images for atomic operations, and in GLSL ES for images both read and written"""
BLEND_MODES = [name for name in LAYOUTS if name.startswith("blend_support_")][:-1]
"""layouts for modes of blending, in the order of `ShaderInfo.blend_equations_advanced`"""
PRIMITIVES = {
    "points": 1,
    "lines": 2,
    "lines_adjacency": 4,
    "triangles": 3,
    "triangles_adjacency": 6,
}
"""geometry input primitives: vertices"""
