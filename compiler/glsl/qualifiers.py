"""The table of qualifiers, `qualifiers.txt`: from which language on, on what, in which stages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gallette.compiler.glsl import availability
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.limits import Limits
from gallette.compiler.nir.ir.modes import IN_PROSE
from gallette.compiler.text_tables import table_rows

_STAGES = frozenset(stage.value for stage in IN_PROSE)
_SPOKEN = {
    "global": "global variables",
    "plain": "variables without a storage qualifier",
    "const": "constants",
    "in": "inputs",
    "out": "outputs",
    "uniform": "uniforms",
    "buffer": "buffer variables",
    "shared": "shared variables",
    "local": "local variables",
    "param": "parameters",
    "field": "members of structures",
    "block": "blocks",
    "function": "functions",
    "subroutine": "subroutines",
    "default": "declarations without a variable",
}


@lazy_dataclass(frozen=True)
class Qualifier:
    """A row of the table for one of its names."""

    name: str
    when: str
    places: frozenset[str]
    stages: frozenset[str]
    least: int | None
    """the smallest value; None if it has none"""
    limit: str
    """the largest value, or if it begins with `<` the first one that is too large"""
    form: str
    """`x4` or `pow2`, if not every value is possible"""
    group: str
    """of those of a group only one counts"""
    exclusive: bool
    """whether several of the group are an error"""
    settles: bool
    """whether a shader has one value of the group"""

    def most(self, limits: Limits) -> int | None:
        """The largest value."""
        below = self.limit.startswith("<")
        factor, _, name = self.limit.lstrip("<").rpartition("*")
        if not name:
            return None
        value = int(name) if name.isdigit() else int(getattr(limits, name))
        return value * int(factor or 1) - below


def _read() -> Iterator[Qualifier]:
    names = when = ""
    for line in table_rows(Path(__file__).with_suffix(".txt")):
        row = [*(cell.strip() for cell in line.split("|")), "", "", "", ""]
        if row[0] or row[1]:
            when = " ".join([getattr(availability, word, word) for word in row[1].split()])
        names = row[0] or names
        stages = frozenset(row[3].split())
        without = frozenset(word[1:] for word in stages if word[0] == "-")
        span, _, form = row[4].partition(" ")
        least, _, limit = span.partition("..")
        for name in names.split():
            yield Qualifier(
                name,
                when,
                frozenset(row[2].split()),
                stages if stages and not without else _STAGES - without,
                int(least) if least else None,
                limit,
                form,
                row[5].rstrip("!="),
                row[5].endswith("!"),
                row[5].endswith("="),
            )


WORDS: dict[str, list[Qualifier]] = {}
"""qualifier -> its rows (it may have different meanings in different places)"""
LAYOUTS: dict[str, list[Qualifier]] = {}
"""layout identifier -> its rows; `location` is the first of the table"""
for _row in _read():
    _is_layout = _row.name == "location" or LAYOUTS
    (LAYOUTS if _is_layout else WORDS).setdefault(_row.name, []).append(_row)

KEYWORDS = {name: rows[0].when for name, rows in WORDS.items()}
KEYWORDS["layout"] = " ".join(
    dict.fromkeys(w for rows in LAYOUTS.values() for row in rows for w in row.when.split())
)
"""word -> the languages in which it is a keyword; `layout` is where some identifier is"""


def fitting(rows: list[Qualifier], place: str, stage: str) -> Qualifier | None:
    """The row for a place in a stage."""
    return next((row for row in rows if place in row.places and stage in row.stages), None)


def spoken(rows: list[Qualifier], place: str, stage: str) -> str:
    """A place in words, with the stage if stages differ."""
    kind, _, storage = place.partition("-")
    what = _SPOKEN.get(place) or {
        "block": f"'{storage}' blocks",
        "member": f"members of '{storage}' blocks",
        "default": f"'{storage}' without a variable",
    }.get(kind, f"'{place}' variables")
    differ = any(place in row.places and row.stages != _STAGES for row in rows)
    return f"{what} of {stage.replace('_', ' ')} shaders" if differ else what


def purpose(rows: list[Qualifier]) -> str:
    """What a qualifier is for, if that is short."""
    places = dict.fromkeys(place for row in rows for place in sorted(row.places))
    named = [_SPOKEN[place] for place in places if place in _SPOKEN]
    return f"it is for {', '.join(named)}" if len(named) < 4 else ""


def _group(name: str) -> frozenset[str]:
    return frozenset(row.name for rows in LAYOUTS.values() for row in rows if row.group == name)


PACKINGS, MATRIX_LAYOUTS, IMAGE_FORMATS = _group("packing"), _group("matrix"), _group("format")
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
