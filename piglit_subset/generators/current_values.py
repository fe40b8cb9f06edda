"""Entry points that set a current value: colours, normals, coordinates, attributes, positions.

The entry points and the meaning of their arguments are read from the table of GL functions, so that
every spelling of `glColor3b...glColor4usv` is called once. A test sets the value with each and
queries it; values that are only visible in an image are drawn with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gallette.piglit_subset.generators.common import templates
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function

_CALL = re.compile(r"(\d)(N?)(ub|us|ui|[bsifd])(v?)$")
_BITS = {"b": 8, "s": 16, "i": 32, "ub": 8, "us": 16, "ui": 32}
_PACKED = "GL_UNSIGNED_INT_2_10_10_10_REV"


@dataclass(frozen=True, slots=True)
class Value:
    """A current value: the prefix of its setters, its query, and the expected result."""

    setter: str
    query: str
    place: str
    what: str
    sizes: tuple[int, ...]
    normalized: bool = False
    first: str = ""  # arguments before the value
    before: str = ""  # a command before all others
    shown: int = 4


_VALUES = (
    Value("Color", "CURRENT_COLOR", "color", "current colour", (3, 4), normalized=True),
    Value("SecondaryColor", "CURRENT_SECONDARY_COLOR", "secondary-color",
          "current secondary colour", (3,), normalized=True, shown=3),
    Value("Normal", "CURRENT_NORMAL", "normal", "current normal", (3,), normalized=True, shown=3),
    Value("TexCoord", "CURRENT_TEXTURE_COORDS", "texture-coordinate",
          "current texture coordinates", (1, 2, 3, 4)),
    Value("MultiTexCoord", "CURRENT_TEXTURE_COORDS", "multi-texture-coordinate",
          "current texture coordinates of a unit", (1, 2, 3, 4), first="GL_TEXTURE1",
          before="call glActiveTexture GL_TEXTURE1"),
    Value("RasterPos", "CURRENT_RASTER_POSITION", "raster-position",
          "current raster position, transformed", (2, 3, 4), before="ortho"),
    Value("WindowPos", "CURRENT_RASTER_POSITION", "window-position",
          "current raster position as it is", (2, 3)),
)  # fmt: skip


def tests() -> Iterator[str]:
    for value in _VALUES:
        for size in value.sizes:
            yield _current(value, size)
    for value in _VALUES:
        if f"{value.setter}P{value.sizes[0]}ui" in FUNCTIONS:
            yield _packed(value)
    yield from _scalars()
    for size in (2, 3, 4):
        yield _vertices(size)
    yield templates("current_values").rectangles()
    yield from _attributes()


def _test(place: str, purpose: str, lines: list[str], require: str = "GL COMPAT >= 2.1") -> str:
    return str(templates("current_values").calls(place, purpose, require, lines))


def _spellings(prefix: str, size: int) -> Iterator[tuple[Function, str, bool, bool]]:
    """The entry points without a suffix: (function, type letters, normalised, by pointer)."""
    for name in FUNCTIONS:
        match = _CALL.fullmatch(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if match and int(match[1]) == size:
            yield FUNCTIONS[name], match[3], bool(match[2]), bool(match[4])


def _arguments(letters: str, size: int, normalized: bool) -> tuple[list[str], list[float]]:
    """The arguments to pass, and the values they stand for."""
    if letters in "fd":
        values = [0.25, 0.5, 0.75, 1.0][:size] if normalized else [2.5, 3.5, 0.5, 1.0][:size]
        return [str(v) for v in values], values
    if not normalized:
        small = [3, 5, 1, 1][:size]
        return [str(v) for v in small], [float(v) for v in small]
    bits = _BITS[letters]
    top = (1 << bits) - 1 if letters[0] == "u" else (1 << bits - 1) - 1
    low = 0 if letters[0] == "u" else -top - 1
    raw = [top, low, (top + 1) // 2, top][:size]
    return [str(v) for v in raw], [max(v / top, -1.0) for v in raw]


def _expected(value: Value, values: list[float]) -> str:
    whole = [*values, *[0.0, 0.0, 0.0, 1.0][len(values) :]]
    if value.setter in ("RasterPos", "WindowPos"):
        # The depth range is 0 to 1; `ortho` looks along -z with -1 near, and w divides.
        z = whole[2]
        depth = min(max(z, 0.0), 1.0) if value.setter == "WindowPos" else (1 - z) / 2
        whole = [whole[0], whole[1], depth, 1.0]
    return " ".join(f"{v:.6g}" for v in whole[: value.shown])


def _line(function: Function, first: str, numbers: list[str], pointer: bool) -> str:
    shown = f"({' '.join(numbers)})" if pointer else " ".join(numbers)
    return " ".join(f"call {function.c_name} {first} {shown}".split())


def _current(value: Value, size: int) -> str:
    lines = [value.before] if value.before else []
    # Another value first, so that a call without effect is detected.
    away = _line(FUNCTIONS[f"{value.setter}{size}f"], value.first, ["0.125"] * size, False)
    for function, letters, _, pointer in _spellings(value.setter, size):
        numbers, values = _arguments(letters, size, value.normalized)
        lines += [away, _line(function, value.first, numbers, pointer)]
        lines.append(f"check glGetFloatv GL_{value.query} ~ {_expected(value, values)}")
    return _test(
        f"gl-1.4/current-values/{value.place}-{size}",
        f"Every gl{value.setter}{size} sets the {value.what}",
        lines,
    )


def _packed(value: Value) -> str:
    lines = [value.before] if value.before else []
    word, plain = 1 | 2 << 10 | 3 << 20 | 1 << 30, [1.0, 2.0, 3.0, 1.0]
    if value.normalized:
        word, plain = 1023 | 0 << 10 | 512 << 20 | 3 << 30, [1.0, 0.0, 0.5, 1.0]
    for size in value.sizes:
        for pointer in (False, True):
            function = FUNCTIONS[f"{value.setter}P{size}ui{'v' * pointer}"]
            lines.append(_line(function, f"{value.first} {_PACKED}", [str(word)], pointer))
            expected = _expected(value, plain[:size])
            lines.append(f"check glGetFloatv GL_{value.query} ~ {expected}")
    return _test(
        f"gl-3.3/current-values/{value.place}-packed",
        f"The {value.what}, packed into one word",
        lines,
        "GL COMPAT >= 3.3",
    )


def _scalars() -> Iterator[str]:
    """Tests of fog coordinate, colour index and edge flag."""
    for setter, query, place in (
        ("FogCoord", "CURRENT_FOG_COORD", "fog-coordinate"),
        ("Index", "CURRENT_INDEX", "index"),
    ):
        lines = []
        names = [n for n in FUNCTIONS if re.fullmatch(rf"{setter}(ub|[sifd])v?", n)]
        for number, name in enumerate(names, 2):
            lines.append(_line(FUNCTIONS[name], "", [str(number)], name.endswith("v")))
            lines.append(f"check glGetFloatv GL_{query} = {number}")
        purpose = f"Every gl{setter} sets its current value"
        yield _test(f"gl-1.4/current-values/{place}", purpose, lines)
    yield templates("current_values").edge_flag()


def _vertices(size: int) -> str:
    corners = ((0, 0), (16, 0), (16, 16), (0, 16))
    draws = []
    for function, _, _, pointer in _spellings("Vertex", size):
        places = [[str(v) for v in (x, y, 0, 1)[:size]] for x, y in corners]
        vertices = [_line(function, "", place, pointer) for place in places]
        draws.append(["call glBegin GL_QUADS", *vertices, "call glEnd"])
    return str(templates("current_values").vertices(size, draws))


# -- generic attributes ----------------------------------------------------------------------------


def _attributes() -> Iterator[str]:
    for kind, letter, query, what in (
        ("VertexAttrib", "f", "glGetVertexAttribfv", "floats"),
        ("VertexAttribI", "i", "glGetVertexAttribIiv", "integers"),
        ("VertexAttribL", "d", "glGetVertexAttribLdv", "doubles"),
    ):
        for size in (1, 2, 3, 4):
            lines = []
            for function, letters, normalized, pointer in _spellings(kind, size):
                numbers, values = _arguments("d" if letter == "d" else letters, size, normalized)
                asked = query.replace("Iiv", "Iuiv") if letters[0] == "u" else query
                shown = [f"{v:.6g}" for v in values]
                if letter != "d":
                    shown += ["0", "0", "0", "1"][size:]
                lines.append(f"call gl{kind}{size}{letter} 1{' 9' * size}")
                lines.append(_line(function, "1", numbers, pointer))
                lines.append(f"check {asked} 1 GL_CURRENT_VERTEX_ATTRIB ~ {' '.join(shown)}")
            place = f"gl-4.1/vertex-attributes/current-{what}-{size}"
            purpose = f"Every gl{kind}{size} sets a generic attribute's current value"
            yield _test(place, purpose, lines, "GL >= 4.1")
    lines = []
    word = 1023 | 0 << 10 | 1023 << 20 | 3 << 30
    for size in (1, 2, 3, 4):
        for pointer in (False, True):
            function = FUNCTIONS[f"VertexAttribP{size}ui{'v' * pointer}"]
            for unit, whole in ((0, (1023, 0, 1023, 3)), (1, (1, 0, 1, 1))):
                shown = [str(v) for v in (*whole[:size], *(0, 0, 0, 1)[size:])]
                lines.append(_line(function, f"1 {_PACKED} {unit}", [str(word)], pointer))
                check = f"check glGetVertexAttribfv 1 GL_CURRENT_VERTEX_ATTRIB ~ {' '.join(shown)}"
                lines.append(check)
    purpose = "Every glVertexAttribP unpacks a word into an attribute's current value"
    yield _test("gl-3.3/vertex-attributes/current-packed", purpose, lines, "GL >= 3.3")
