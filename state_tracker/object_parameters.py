"""Parameters of objects that glGet does not know: of a light, a material, a texture coordinate.

`glLight{f,i}`, their vectors and their queries follow from rows, as the setters of the context's
own parameters follow from `parameters.txt`, whose kinds of values these rows use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.getters import to_int
from gallette.state_tracker.setters import check_of, components, fractions

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Values = tuple[float, ...]


@lazy_dataclass(frozen=True)
class ObjectParameter:
    """One parameter of an object."""

    name: str
    """what calls name it by, without GL_"""
    field: str
    values: str
    """a kind of value, as in the column `values` of parameters.txt, or `within LOW HIGH` and values
    that are allowed beside that range"""
    transform: Callable[[Context, Values], Values] | None = None
    """turns the given values into those that are stored"""
    asked: bool = True
    """whether queries know it"""


def _store(ctx: Context, owner: Any, row: ObjectParameter, value: Any) -> None:
    setattr(owner, row.field, value)


def object_parameters(
    family: str,
    find: Callable[[Context, int], Any],
    rows: Iterable[ObjectParameter],
    *,
    dirty: int,
    types: str = "fi",
    store: Callable[[Context, Any, ObjectParameter, Any], None] = _store,
    asks: Callable[[Context, int], Any] | None = None,
) -> None:
    """Register gl`family` and glGet`family` in all their forms.

    `find` returns the object that the first argument names, `asks` that of queries if it differs.
    """
    table = {int(getattr(GL, row.name)): row for row in rows}
    checks = {pname: check_of(row.values, row.name) for pname, row in table.items()}
    what = f"parameter of gl{family}"

    def look_up(pname: int) -> ObjectParameter:
        if pname not in table:
            raise invalid_enum(pname, what)
        return table[pname]

    def put(ctx: Context, owner: Any, pname: int, value: Any) -> None:
        value, row = checks[pname](value), table[pname]
        value = row.transform(ctx, value) if row.transform else value
        same = store is _store and getattr(owner, row.field) == value
        store(ctx, owner, row, value)
        if not same:  # many programs set all parameters before every draw
            ctx.dirty |= dirty

    def scalar(ctx: Context, which: int, pname: int, param: float) -> None:
        owner, row = find(ctx, which), look_up(pname)
        if components(row.values) > 1:
            raise invalid_enum(pname, what)
        put(ctx, owner, pname, float(param))

    def vector(gl_type: str) -> Any:
        def call(ctx: Context, which: int, pname: int, params: Pointer) -> None:
            owner, row = find(ctx, which), look_up(pname)
            count = components(row.values)
            values = read_array(params, gl_type, count).tolist()
            if row.values == "color":
                values = fractions(values, gl_type)
            put(ctx, owner, pname, [float(v) for v in values] if count > 1 else float(values[0]))

        return call

    def read(ctx: Context, which: int, pname: int) -> list[float]:
        owner, row = (asks or find)(ctx, which), look_up(pname)
        if not row.asked:
            raise invalid_enum(pname, what)
        value = getattr(owner, row.field)
        return list(value) if components(row.values) > 1 else [float(value)]

    def read_integers(ctx: Context, which: int, pname: int) -> list[int]:
        values = read(ctx, which, pname)
        return [to_int(v, table[pname].values == "color") for v in values]

    names = {"f": "float", "i": "int", "d": "double"}
    for letter in types:
        register(FUNCTIONS[f"{family}{letter}"].method, scalar)
        register(FUNCTIONS[f"{family}{letter}v"].method, vector(names[letter]))
        getter = read_integers if letter == "i" else read
        register(FUNCTIONS[f"Get{family}{letter}v"].method, getter)
