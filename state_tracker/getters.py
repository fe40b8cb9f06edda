"""glGet*: the table of parameters, what topics compute, and conversions between typed queries.

Stored values are lines of `parameters.txt`. Computed values are declared by their topic:
`gets({"NUM_EXTENSIONS": lambda ctx: len(ctx.limits.extensions)})`. A value is a bool, an int, a
float, or a list of them; `normalized` names are those whose floats map onto the whole integer range
in integer queries (colours, depths, normals).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.drawing.color_clamp import queried_color
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.parameters import PARAMETERS, profiles_of

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Getter = Callable[["Context"], Any]
IndexedGetter = Callable[["Context", int], Any]

_GETTERS: dict[int, Getter] = {}
_INDEXED: dict[int, tuple[Callable[[Context], int], IndexedGetter]] = {}
_PROFILES: dict[int, frozenset[str]] = {}
_NORMALIZED: set[int] = set()


def gets(
    table: dict[str, Getter],
    *,
    normalized: bool = False,
    profiles: str | frozenset[str] = "",
) -> None:
    """Declare simple queries; `profiles` is a value of the table's column `for`."""
    known = profiles_of(profiles) if isinstance(profiles, str) else profiles
    for name, getter in table.items():
        value = getattr(GL, name)
        if _PROFILES.setdefault(value, known) != known:  # under another name
            raise KeyError(f"GL_{name} (0x{value:04X}) is declared for other profiles too")
        _GETTERS[value] = getter
        if normalized:
            _NORMALIZED.add(value)


def gets_indexed(count: Callable[[Context], int], table: dict[str, IndexedGetter]) -> None:
    """Declare indexed queries (`glGetIntegeri_v`) with `count` valid indices."""
    for name, getter in table.items():
        _INDEXED[getattr(GL, name)] = (count, getter)


def compat_only(count: int | None = None) -> Callable[[Context], int]:
    """The number of units, `count` or all; other profiles do not have the query."""

    def units(ctx: Context) -> int:
        if not ctx.is_compat:
            raise invalid_enum(0, "indexed query")
        return count if count is not None else len(ctx.textures.units)

    return units


def _clamped(read: Getter) -> Getter:
    """A colour in the form that queries return."""
    return lambda ctx: queried_color(ctx, read(ctx))


for _row in PARAMETERS:
    if _row.name and _row.alone:
        _read = _clamped(_row.read) if _row.conversion == "color" else _row.read
        gets({_row.name: _read}, normalized=_row.conversion != "", profiles=_row.asked)
    if _row.indexed is not None:
        gets_indexed(_row.indexed[0], {_row.name: _row.indexed[1]})


def query(ctx: Context, pname: int) -> list[Any]:
    """The value of a simple query as a list."""
    getter = _GETTERS.get(pname)
    if getter is None or ctx.profile not in _PROFILES[pname]:
        raise invalid_enum(pname, "query")
    value = getter(ctx)
    return list(value) if isinstance(value, list | tuple) else [value]


def query_indexed(ctx: Context, pname: int, index: int) -> list[Any]:
    """The value of an indexed query as a list."""
    check_es(ctx, pname, "indexed query")
    found = _INDEXED.get(pname)
    if found is None:
        raise invalid_enum(pname, "indexed query")
    count, getter = found
    if not 0 <= index < count(ctx):
        raise invalid_value(f"index {index} is not below {count(ctx)}")
    value = getter(ctx, index)
    return list(value) if isinstance(value, list | tuple) else [value]


def to_int(value: Any, normalized: bool, bits: int = 32) -> int:
    """GL's conversion of state to an integer: rounding, or scaling for normalised values."""
    if not isinstance(value, float):  # masks keep their 32 bits, wider integers are clamped (2.2.2)
        return int(value) if value <= 0xFFFFFFFF else min(value, (1 << (bits - 1)) - 1)
    if value != value:
        return 0
    if normalized:
        return int(min(max(value, -1.0), 1.0) * 0x7FFFFFFF)  # 32 bits in all integer queries
    limit = float(1 << (bits - 1))
    clamped = min(max(value, -limit), limit - 1)
    return int(clamped + 0.5) if clamped >= 0 else -int(-clamped + 0.5)


def _integers(values: list[Any], pname: int, bits: int = 32) -> list[int]:
    normalized = pname in _NORMALIZED
    return [to_int(v, normalized, bits) for v in values]


@entry
def get_booleanv(ctx: Context, pname: int) -> list[int]:
    return [int(v != 0) for v in query(ctx, pname)]


@entry
def get_integerv(ctx: Context, pname: int) -> list[int]:
    return _integers(query(ctx, pname), pname)


@entry
def get_integer64v(ctx: Context, pname: int) -> list[int]:
    return _integers(query(ctx, pname), pname, 64)


@entry
def get_floatv(ctx: Context, pname: int) -> list[float]:
    return [float(v) for v in query(ctx, pname)]


@entry
def get_doublev(ctx: Context, pname: int) -> list[float]:
    return [float(v) for v in query(ctx, pname)]


@entry
def get_booleani_v(ctx: Context, pname: int, index: int) -> list[int]:
    return [int(v != 0) for v in query_indexed(ctx, pname, index)]


@entry
def get_integeri_v(ctx: Context, pname: int, index: int) -> list[int]:
    # Depth ranges of viewports are not scaled, unlike that of glDepthRange.
    return [to_int(v, False) for v in query_indexed(ctx, pname, index)]


@entry
def get_integer64i_v(ctx: Context, pname: int, index: int) -> list[int]:
    return [to_int(v, False, 64) for v in query_indexed(ctx, pname, index)]


@entry
def get_floati_v(ctx: Context, pname: int, index: int) -> list[float]:
    return [float(v) for v in query_indexed(ctx, pname, index)]


@entry
def get_doublei_v(ctx: Context, pname: int, index: int) -> list[float]:
    return [float(v) for v in query_indexed(ctx, pname, index)]
