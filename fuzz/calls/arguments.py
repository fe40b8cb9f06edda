"""Reads `arguments.txt`: which functions are called how often, and with which arguments.

Names, types and order of parameters come from the table of functions. Arguments are written as
Python, so that a call is a line of a program: `gl.bind_texture(GL.TEXTURE_2D, texture3)`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gallette.compiler.text_tables import grouped_rows
from gallette.state_tracker import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind, Param

EDGES = (-1, -4, -16, 1 << 16, 1 << 30, (1 << 31) - 1, -(1 << 31), 255, 4095, 65535)
WIDE = (*EDGES, 1 << 31, 1 << 32, (1 << 62) - 1, (1 << 62) - 16, -(1 << 62))
UNSIGNED = (0, 1, 7, 255, 256, 65535, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
REALS = (
    "0.0",
    "-0.0",
    "1.0",
    "-1.0",
    "0.5",
    "1e-45",
    "1e-7",
    "2.0",
    "-2.5",
    "31.5",
    "255.5",
    "1e3",
)
REALS += ("65520.0", "16777217.0", "2147483648.0", "1e20", "-1e38", "float('nan')", "float('inf')")
OTHERS = 0.12
"""how often an argument is one of the others"""
_FLOATS = ("float", "double", "clampf", "clampd")
_MASKS = {
    "uint": 32,
    "enum": 32,
    "bitfield": 32,
    "ushort": 16,
    "ubyte": 8,
    "boolean": 8,
    "uint64": 64,
}
"""bits of the types that have no sign"""
_DTYPES = {
    "float": "f4", "double": "f8", "int64": "i8", "uint64": "u8", "intptr": "i8", "sizeiptr": "i8",
    "uint": "u4", "enum": "u4", "void": "u8",
}  # fmt: skip
"""of arrays of single values; anything else is a 32-bit integer"""


@dataclass(frozen=True, slots=True)
class _Row:
    functions: re.Pattern[str]
    parameter: re.Pattern[str]
    second: str  # the second parameter of a pair of values
    likely: tuple[str, ...]
    others: tuple[str, ...]


def _sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group, row in grouped_rows(Path(__file__).with_name("arguments.txt")):
        found.setdefault(group, []).append(row)
    return found


_TEXT = _sections()
_GROUPS = {name: rest.split() for name, rest in (line.split(None, 1) for line in _TEXT["groups"])}


def _words(text: str) -> tuple[str, ...]:
    """The values of a cell: groups and repetitions written out."""
    found: list[str] = []
    for word in text.split():
        value, _, times = word.partition("*")
        inner = _words(" ".join(_GROUPS[value[1:]])) if value.startswith("$") else (value,)
        found += inner * int(times or 1)
    return tuple(found)


def group(name: str) -> list[str]:
    """The different values of a group."""
    return list(dict.fromkeys(_words(f"${name}")))


ENUMERATORS = sorted(GL.names())
"""all there are"""


@cache
def _rows() -> tuple[_Row, ...]:
    found = []
    for line in _TEXT["parameters"]:
        functions, parameter, likely, *others = (cell.strip() for cell in line.split(" | "))
        first, _, second = parameter.partition("=")
        found.append(
            _Row(
                re.compile(functions),
                re.compile(first),
                second,
                _words(likely),
                _words(" ".join(others)),
            )
        )
    return tuple(found)


@cache
def _row_of(method: str, name: str, type: str) -> _Row:
    for row in _rows():
        if row.functions.fullmatch(method):
            if row.parameter.fullmatch(name) or row.parameter.fullmatch(f":{type}"):
                return row
    raise AssertionError(f"no row for {type} {name} of {method}")


class Menu:
    """The functions of a context, by how often they are called."""

    def __init__(self, available: Iterable[str]) -> None:
        left = set(available)
        rows = [line.split() for line in _TEXT["functions"]]
        never = [re.compile(row[1]) for row in rows if row[0] == "never"]
        left = {n for n in left if not any(pattern.fullmatch(n) for pattern in never)}
        self._kinds: dict[str, tuple[list[list[str]], list[int]]] = {}
        for kind, *rest in rows:
            if kind == "never":
                continue
            fits = sorted(n for n in left if re.fullmatch(rest[1], n))
            left.difference_update(fits)
            if fits:
                groups, weights = self._kinds.setdefault(kind, ([], []))
                groups.append(fits)
                weights.append(int(rest[0]))

    @property
    def methods(self) -> list[str]:
        """All of them."""
        return [name for groups, _ in self._kinds.values() for some in groups for name in some]

    def choose(self, r: random.Random, kind: str) -> Function:
        """A "draw", or another "call"."""
        groups, weights = self._kinds[kind]
        return FUNCTIONS.method(r.choice(r.choices(groups, weights)[0]))


class Arguments:
    """Writes arguments; `name` gives the name of an object of some kind."""

    def __init__(self, r: random.Random, name: Callable[[str], str]) -> None:
        self.r, self._name = r, name

    def of(self, function: Function) -> list[str]:
        """Those of a call: outputs are left out, and so is the room for them."""
        given: dict[str, str] = {}
        params = [p for p in function.params if not p.kind.is_output and p.kind != Kind.CAPACITY]
        for param in params:
            if param.name in given:
                continue
            type = param.type + "*" * param.stars
            row = _row_of(function.method, param.name, type)
            word = self._word(row)
            if row.second and "=" in word:
                word, _, value = word.partition("=")
                if value.startswith("$"):
                    value = self.r.choice(_words(value))
                second = next(p for p in params if p.name == row.second)
                given[row.second] = self._argument(second, row, value)
            given[param.name] = self._argument(param, row, word)
        return [given[param.name] for param in params]

    def _word(self, row: _Row) -> str:
        return self.r.choice(row.others if row.others and self.r.random() < OTHERS else row.likely)

    def _argument(self, param: Param, row: _Row, word: str) -> str:
        kind, _, rest = word.partition(":")
        seed = self.r.randrange(100_000)
        if kind in ("floats", "ints", "uints", "longs", "doubles", "bytes"):
            return f"h.{kind}({seed}, {rest})" if param.stars else "0"
        if kind in ("names", "enums"):
            of, _, count = rest.partition(":")
            words = ("@" + of,) if kind == "names" else _words(f"${of}")
            some = ", ".join(self._spelt(self.r.choice(words)) for _ in range(int(count)))
            return f"np.array([{some}], 'u4')"
        if kind == "text":
            return repr(self.r.choice(("a", "main", "gl_Position", "v[1]", "x" * 300)))
        if param.stars and (param.stars > 1 or param.type != "void"):  # an array of such values
            several = ", ".join([self._spelt(word), *(self._spelt(self._word(row)) for _ in "12")])
            return f"h.array([{several}], {_DTYPES.get(param.type, 'i4')!r})"
        return self._fitting(param, self._spelt(word))

    def number(self, function: Function, param: Param) -> int | float:
        """One that is passed as it is, where objects have the smallest names."""
        row = _row_of(function.method, param.name, param.type)
        word = self._word(row).partition("=")[0]
        word = "0" if ":" in word else word
        text = "0" if word == "text" else self._fitting(param, self._spelt(word))
        found = eval(text, {"GL": GL})
        return float(found) if param.type in _FLOATS else int(found)

    @staticmethod
    def _fitting(param: Param, text: str) -> str:
        """Integers are whole, and types without a sign have none."""
        if param.type not in _FLOATS and re.fullmatch(r"-?[\d.]+(e-?\d+)?|float\(.*", text):
            text = text if text.lstrip("-").isdigit() else "1"
        bits = _MASKS.get(param.type)
        return str(int(text) & (1 << bits) - 1) if bits and text.startswith("-") else text

    def _spelt(self, word: str) -> str:
        """A single value as Python."""
        r = self.r
        if word.startswith("@"):
            return self._name(word[1:])
        if word == "any":
            return f"GL.{r.choice(ENUMERATORS)}"
        if word in ("edge", "wide", "unsigned"):
            return str(r.choice({"edge": EDGES, "wide": WIDE, "unsigned": UNSIGNED}[word]))
        if word == "unit":
            return repr(r.randrange(17) / 16)
        if word == "real":
            return r.choice(REALS) if r.random() < 0.5 else repr(r.randrange(-64, 65) / 16)
        return word if word[0] in "-0123456789" else f"GL.{word}"
