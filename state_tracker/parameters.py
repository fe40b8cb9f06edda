"""The parameters of OpenGL: `parameters.txt`, read once.

A line of the table has a value's place in the context, the function that sets it and its check, the
state derived from it, its attribute groups and its profiles. Queries, glEnable, the simple setters
and the attribute stack follow from that (`getters`, `enables`, `setters`,
`compatibility.attrib_stack`); computed values are declared by their topics.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.topics import lines_of_topics

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Read = Callable[["Context"], Any]
ReadAt = Callable[["Context", int], Any]

PROFILES: dict[str, frozenset[str]] = {
    "": frozenset(("core", "compat", "es", "es1")),
    "compat": frozenset(("compat", "es1")),
    "desktop": frozenset(("core", "compat", "es1")),
    "es": frozenset(("es", "es1")),
    "es1": frozenset(("es1",)),
}
"""what a word of a column `for` means; OpenGL ES 1 is the compatibility profile in small"""


@lazy_dataclass(frozen=True)
class Parameter:
    """One line of the table."""

    name: str
    """what glGet calls it, without GL_; "" if glGet does not know it"""
    read: Read
    indexed: tuple[Callable[[Context], int], ReadAt] | None
    """how many values it has, and how one of them is read"""
    alone: bool
    """whether queries without an index know it"""
    place: str
    fields: tuple[tuple[str, str], ...]
    """holder in the context and attribute, of each place"""
    by: tuple[str, ...]
    values: str
    wrong: str
    dirty: int
    groups: tuple[int, ...]
    profiles: frozenset[str]
    asked: frozenset[str]
    conversion: str

    @property
    def value(self) -> int:
        """The parameter's enumerator, `pname` of glGet."""
        return int(getattr(GL, self.name))


def _reader(place: str) -> Read:
    """The function that reads a value from a context."""
    if place.startswith("GL."):
        constant = int(getattr(GL, place[3:]))
        return lambda ctx: constant
    try:
        number = literal_eval(place)
    except (ValueError, SyntaxError):
        pass
    else:
        return lambda ctx: number
    path, _, at = place.partition("[")
    get = attrgetter(path.replace("glsl.", "limits.glsl_limits."))
    if not at:
        return get
    first, colon, last = at.rstrip("]").partition(":")
    if not colon:
        index = int(first)
        return lambda ctx: get(ctx)[index]
    part = slice(int(first) if first else None, int(last) if last else None)
    return lambda ctx: get(ctx)[part]


def _indexed(place: str, count: str) -> tuple[Callable[[Context], int], ReadAt]:
    """The number of values at a place with "[]", and the function that reads one of them."""
    path, field = place.split("[]")
    values = _reader(path)
    number = _reader(count) if count else lambda ctx: len(values(ctx))
    if not field:
        return number, lambda ctx, index: values(ctx)[index]
    get = attrgetter(field[1:])
    return number, lambda ctx, index: get(values(ctx)[index])


def _list(readers: list[Read]) -> Read:
    return lambda ctx: tuple(read(ctx) for read in readers)


def _first(read: ReadAt) -> Read:
    return lambda ctx: read(ctx, 0)


def _needing(read: Read, needed: Read) -> Read:
    return lambda ctx: read(ctx) if needed(ctx) else 0


def profiles_of(words: str) -> frozenset[str]:
    """The profiles in a column `for`, which are words separated by commas."""
    return frozenset().union(*(PROFILES[word] for word in words.split(",")))


def _fields(place: str) -> tuple[str, str]:
    holder, _, field = place.partition("[")[0].rpartition(".")
    return holder, field


def _parameter(line: str) -> Parameter:
    name, where, *columns = line.split()
    of = dict(column.split("=", 1) for column in columns)
    places = where.split(",")
    indexed = _indexed(where, of.get("count", "")) if "[]" in where else None
    if indexed is not None:
        read = _first(indexed[1])
    else:
        read = _reader(where) if len(places) == 1 else _list([_reader(each) for each in places])
    if "needs" in of:
        read = _needing(read, _reader(of["needs"]))
    return Parameter(
        name.removeprefix("-"),
        read,
        indexed,
        "only" not in of,
        where,
        tuple(map(_fields, places)),
        tuple(of.get("by", "").split(",")) if "by" in of else (),
        of.get("values", ""),
        of.get("wrong", "enum"),
        sum(getattr(Dirty, bit) for bit in of["dirty"].split(",")) if "dirty" in of else 0,
        tuple(int(getattr(GL, f"{group}_BIT")) for group in of.get("in", "").split(",") if group),
        profiles_of(of.get("for", "")),
        profiles_of(of.get("asked", of.get("for", ""))),
        of.get("as", ""),
    )


PARAMETERS: tuple[Parameter, ...] = tuple(
    _parameter(line)
    for line in (
        *table_rows(Path(__file__).with_name("parameters.txt")),
        *lines_of_topics("parameters.txt"),
    )
)
