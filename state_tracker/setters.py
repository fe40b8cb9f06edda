"""Functions that set parameters of the table: those of one argument, and families by name.

glLineWidth sets one parameter; glFogf, glFogi and their vectors set the one that `pname` names.
Checks, conversions and dirty bits are in `parameters.txt`.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.getters import to_int
from gallette.state_tracker.parameters import PARAMETERS, Parameter

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Check = Callable[[Any], Any]
_ALL_OF = {
    "COMPARE": range(GL.NEVER, GL.ALWAYS + 1),
    "LOGIC": range(GL.CLEAR, GL.SET + 1),
}


def fractions(values: list[Any], gl_type: str) -> list[float]:
    """Components of a colour: integers are fractions of their range."""
    if gl_type == "int" and len(values) == 4:
        return [max(v / 2147483647.0, -1.0) for v in values]
    return [float(v) for v in values]


def components(kind: str) -> int:
    """The number of components of a kind of value."""
    return 4 if kind == "color" else int(kind) if kind.isdigit() else 1


def check_of(kind: str, name: str, wrong: str = "enum") -> Check:
    """The function that converts a value of the kind (as in the table's column `values`) to what is
    stored, or raises the error for an invalid one.
    """
    if kind in (">0", ">=0"):
        below = operator.le if kind == ">0" else operator.lt

        def positive(value: Any) -> Any:
            if below(value, 0):
                raise invalid_value(f"GL_{name} is {kind}, not {value}")
            return value

        return positive
    if kind.startswith("within"):
        low, high = (float(bound) for bound in kind.split()[1:3])
        also = [float(value) for value in kind.split()[3:]]

        def bounded(value: Any) -> Any:
            if not low <= value <= high and value not in also:
                raise invalid_value(f"GL_{name} is {kind}, not {value}")
            return value

        return bounded
    if kind in ("count", "flag"):

        def counted(value: Any) -> Any:
            number = to_int(value, False) if math.isfinite(value) else -1
            if number < 0:
                raise invalid_value(f"GL_{name} is not negative")
            return bool(number) if kind == "flag" else number

        return counted
    if kind in _CONVERSIONS:
        return _CONVERSIONS[kind]
    if kind.isdigit():
        return tuple
    allowed = frozenset(
        _ALL_OF.get(kind)
        or [int(word) if word.isdigit() else int(getattr(GL, word)) for word in kind.split(",")]
    )

    def chosen(value: Any) -> int:
        if type(value) is not int:
            value = to_int(float(value), False)
        if value not in allowed:
            if wrong == "value":
                raise invalid_value(f"{value} is no value of GL_{name}")
            raise invalid_enum(value, f"value of GL_{name}")
        return int(value)

    return chosen


_CONVERSIONS: dict[str, Check] = {
    "": lambda value: value,
    "bool": bool,
    "float": float,
    "int": lambda value: int(value) if math.isfinite(value) else 0,
    "uint": lambda value: value & 0xFFFFFFFF,
    "0..1": lambda value: min(max(0.0, float(value)), 1.0),  # 0 if it is no number
    "color": tuple,
}


def _setter(row: Parameter) -> Callable[[Context, Any], None]:
    """A function that checks a value, stores it, and marks derived state as dirty."""
    check, dirty = check_of(row.values, row.name, row.wrong), row.dirty
    ((holder, field),) = row.fields
    if holder in ("pack", "unpack"):  # which are values themselves

        def replace(ctx: Context, value: Any) -> None:
            value, state = check(value), getattr(ctx, holder)
            if getattr(state, field) != value:  # many programs say it before every transfer
                setattr(ctx, holder, dataclasses.replace(state, **{field: value}))
                ctx.stream.rows_are_plain(False)  # until an update finds that they are

        return replace
    if "[" in row.place:
        index = int(row.place.partition("[")[2].rstrip("]"))

        def put(ctx: Context, value: Any) -> None:
            getattr(getattr(ctx, holder), field)[index] = check(value)

        return put
    if not dirty:
        return lambda ctx, value: setattr(getattr(ctx, holder), field, check(value))

    def apply(ctx: Context, value: Any) -> None:
        value, owner = check(value), getattr(ctx, holder)
        if type(value) is float or getattr(owner, field) != value:
            setattr(owner, field, value)
            ctx.dirty |= dirty

    return apply


class _Family:
    """glFog and similar functions: the parameter that each value of `pname` sets."""

    def __init__(self, name: str, rows: list[Parameter]) -> None:
        self.what = f"parameter of gl{name}"
        self.of = {row.value: (row, components(row.values), _setter(row)) for row in rows}

    def _find(self, ctx: Context, pname: int) -> tuple[Parameter, int, Any]:
        found = self.of.get(pname)
        if found is None or ctx.profile not in found[0].profiles:
            raise invalid_enum(pname, self.what)
        return found

    def scalar(self, convert: Callable[[Any], Any]) -> Any:
        def call(ctx: Context, pname: int, param: float) -> None:
            _, count, apply = self._find(ctx, pname)
            if count > 1:
                raise invalid_enum(pname, self.what)
            apply(ctx, convert(param))

        return call

    def vector(self, gl_type: str) -> Any:
        def call(ctx: Context, pname: int, params: Pointer) -> None:
            row, count, apply = self._find(ctx, pname)
            values = read_array(params, gl_type, count).tolist()
            if row.values == "color":
                values = fractions(values, gl_type)
            apply(ctx, [float(v) for v in values] if count > 1 else float(values[0]))

        return call


def _register() -> None:
    families: dict[str, list[Parameter]] = {}
    for row in PARAMETERS:
        for name in row.by:
            if name == "Enable":
                continue
            if name in FUNCTIONS:
                register(FUNCTIONS[name].method, _setter(row))
            else:
                families.setdefault(name, []).append(row)
    for name, rows in families.items():
        family = _Family(name, rows)
        convert = float if f"{name}fv" in FUNCTIONS else lambda value: value
        for suffix, gl_type in (("f", "float"), ("i", "int")):
            register(FUNCTIONS[name + suffix].method, family.scalar(convert))
            if f"{name}{suffix}v" in FUNCTIONS:
                register(FUNCTIONS[f"{name}{suffix}v"].method, family.vector(gl_type))


_register()
