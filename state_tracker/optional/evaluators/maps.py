"""Evaluators: polynomial maps from one or two parameters to vertices and their attributes.

`glEvalCoord` emits a vertex with the values of the enabled maps; the current attribute values do
not change. Grids (`glMapGrid`, `glEvalMesh`) are loops over `glEvalCoord`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.compatibility.list_functions import reads
from gallette.state_tracker.drawing.draw import check_mode
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
    out_of_memory,
)
from gallette.state_tracker.entry_points.memory import Pointer, dtype_of, read_array, read_bytes
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, to_int
from gallette.state_tracker.vertices.current_attribs import set_current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["EvaluatorState"]

MAX_ORDER = 30
Array = npt.NDArray[np.float64]

# Per kind of map: components of a control point, the attribute, the value of the single first
# point.
_KINDS: tuple[tuple[str, int, VertAttrib | None, tuple[float, ...]], ...] = (
    ("COLOR_4", 4, VertAttrib.COLOR0, (1.0, 1.0, 1.0, 1.0)),
    ("INDEX", 1, VertAttrib.COLOR_INDEX, (1.0,)),
    ("NORMAL", 3, VertAttrib.NORMAL, (0.0, 0.0, 1.0)),
    ("TEXTURE_COORD_1", 1, VertAttrib.TEX0, (0.0,)),
    ("TEXTURE_COORD_2", 2, VertAttrib.TEX0, (0.0, 0.0)),
    ("TEXTURE_COORD_3", 3, VertAttrib.TEX0, (0.0, 0.0, 0.0)),
    ("TEXTURE_COORD_4", 4, VertAttrib.TEX0, (0.0, 0.0, 0.0, 1.0)),
    ("VERTEX_3", 3, VertAttrib.POS, (0.0, 0.0, 0.0)),
    ("VERTEX_4", 4, VertAttrib.POS, (0.0, 0.0, 0.0, 1.0)),
)
_MAPS: dict[int, tuple[int, int, VertAttrib | None, tuple[float, ...]]] = {
    getattr(GL, f"MAP{dims}_{name}"): (dims, size, slot, first)
    for dims in (1, 2)
    for name, size, slot, first in _KINDS
}
_ENABLES = {
    getattr(GL, f"MAP{dims}_{name}"): f"map{dims}_{name.lower()}"
    for dims in (1, 2)
    for name, *_ in _KINDS
}
"""attributes of `EvaluatorState`, set by glEnable (`parameters.txt`)"""


@reads(r"Map[12][fd]")
def control_points(ctx: Context, args: dict[str, Any]) -> int:
    """The number of values up to the last control point; 0 for an invalid map."""
    if args["target"] not in _MAPS:
        return 0
    found = _MAPS[args["target"]][1]
    for way in ("u", "v") if "ustride" in args else ("",):
        order = args[f"{way}order"]
        if not 1 <= order <= MAX_ORDER:
            return 0
        found += (order - 1) * args[f"{way}stride"]
    return int(max(found, 0))


@dataclass(slots=True)
class Map:
    """Control points `[u, (v,) component]` over a domain."""

    points: Array
    domain: tuple[float, ...]


@dataclass(slots=True)
class Grid:
    """The points at which glEvalPoint and glEvalMesh evaluate."""

    segments: list[int] = field(default_factory=lambda: [1, 1])
    domain: list[float] = field(default_factory=lambda: [0.0, 1.0, 0.0, 1.0])


class EvaluatorState:
    """All maps and both grids."""

    def __init__(self, ctx: Context) -> None:
        self.__dict__.update(dict.fromkeys(_ENABLES.values(), False))
        self.maps = {
            target: Map(np.array(first).reshape(*[1] * dims, -1), (0.0, 1.0) * dims)
            for target, (dims, _, _, first) in _MAPS.items()
        }
        self.grids = {1: Grid(), 2: Grid()}
        self.auto_normal = False

    def enabled(self, dims: int) -> dict[VertAttrib, tuple[int, Map]]:
        """The enabled map of each attribute; if there are several, the one with more components."""
        found: dict[VertAttrib, tuple[int, Map]] = {}
        for target, (of, _, slot, _) in _MAPS.items():
            if of == dims and slot is not None and getattr(self, _ENABLES[target]):
                found[slot] = (target, self.maps[target])
        return found


def bernstein(order: int, t: float) -> Array:
    """The Bernstein polynomials of degree `order - 1` at `t`."""
    n = order - 1
    return np.array([math.comb(n, i) * t**i * (1.0 - t) ** (n - i) for i in range(order)])


def slope(order: int, t: float) -> Array:
    """The derivatives of the Bernstein polynomials of degree `order - 1` at `t`."""
    if order == 1:
        return np.zeros(1)
    lower = bernstein(order - 1, t)
    result = np.zeros(order)
    result[:-1] -= lower
    result[1:] += lower
    return np.asarray(result * (order - 1))


def _parameter(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low)


def _at(found: Map, parameters: tuple[float, ...]) -> Array:
    result = found.points
    for axis, value in enumerate(parameters):
        low, high = found.domain[2 * axis : 2 * axis + 2]
        weights = bernstein(result.shape[0], _parameter(value, low, high))
        result = np.tensordot(weights, result, 1)
    return result


def _surface_normal(found: Map, u: float, v: float) -> tuple[float, ...]:
    """GL_AUTO_NORMAL: the cross product of the partial derivatives."""
    pu = _parameter(u, *found.domain[:2])
    pv = _parameter(v, *found.domain[2:])
    rows, columns = found.points.shape[:2]
    bu, bv = bernstein(rows, pu), bernstein(columns, pv)
    du = np.tensordot(bv, np.tensordot(slope(rows, pu), found.points, 1), 1)
    dv = np.tensordot(slope(columns, pv), np.tensordot(bu, found.points, 1), 1)
    if found.points.shape[-1] == 4:  # project the surface first
        p = _at(found, (u, v))
        du = du[:3] * p[3] - p[:3] * du[3]
        dv = dv[:3] * p[3] - p[:3] * dv[3]
    normal = np.cross(du[:3], dv[:3])
    length = float(np.linalg.norm(normal))
    x, y, z = (normal / length if length else normal).tolist()
    return float(x), float(y), float(z)


def _evaluate(ctx: Context, *parameters: float) -> None:
    state = ctx.evaluators
    maps = state.enabled(len(parameters))
    position = maps.pop(VertAttrib.POS, None)
    values = {slot: tuple(_at(m, parameters).tolist()) for slot, (_, m) in maps.items()}
    if position is not None and len(parameters) == 2 and state.auto_normal:
        values[VertAttrib.NORMAL] = _surface_normal(position[1], *parameters)
    saved = {slot: ctx.arrays.values[slot] for slot in values}
    for slot, value in values.items():
        set_current(ctx, int(slot), value)
        if slot is VertAttrib.COLOR0:
            ctx.lighting.track_color(ctx)
    if position is not None:
        ctx.immediate.vertex(tuple(_at(position[1], parameters).tolist()))
    for slot, value in saved.items():
        set_current(ctx, int(slot), value)


# -- entry points ----------------------------------------------------------------------------------


def _define(ctx: Context, target: int, dims: int, domain: tuple[float, ...],
            strides: tuple[int, ...], orders: tuple[int, ...], points: Pointer,
            gl_type: str) -> None:  # fmt: skip
    if target not in _MAPS or _MAPS[target][0] != dims:
        raise invalid_enum(target, "evaluator")
    size = _MAPS[target][1]
    if any(domain[2 * i] == domain[2 * i + 1] for i in range(dims)):
        raise invalid_value("an empty domain")
    if any(s < size for s in strides) or any(not 1 <= o <= MAX_ORDER for o in orders):
        raise invalid_value("bad stride or order of a map")
    if points is None:
        return
    if ctx.textures.active:
        raise invalid_operation("maps belong to texture unit 0")
    dtype = dtype_of(gl_type)
    count = sum((o - 1) * s for o, s in zip(orders, strides, strict=True)) + size
    if isinstance(points, list | tuple):
        flat = np.array(points, dtype).reshape(-1)
    else:
        flat = read_bytes(points, count * dtype.itemsize).view(dtype)
    index = np.arange(size)
    for order, stride in zip(reversed(orders), reversed(strides), strict=True):
        index = np.arange(order).reshape(-1, *[1] * index.ndim) * stride + index[None]
    found = ctx.evaluators.maps[target]
    found.points, found.domain = flat[index].astype(np.float64), domain


for _letter, _type in (("f", "float"), ("d", "double")):

    def _map1(
        ctx: Context, target: int, u1: float, u2: float, stride: int, order: int, points: Pointer,
        t: str = _type,
    ) -> None:  # fmt: skip
        _define(ctx, target, 1, (u1, u2), (stride,), (order,), points, t)

    def _map2(
        ctx: Context, target: int, u1: float, u2: float, ustride: int, uorder: int,
        v1: float, v2: float, vstride: int, vorder: int, points: Pointer, t: str = _type,
    ) -> None:  # fmt: skip
        domain = (u1, u2, v1, v2)
        _define(ctx, target, 2, domain, (ustride, vstride), (uorder, vorder), points, t)

    def _eval1v(ctx: Context, u: Pointer, t: str = _type) -> None:
        _evaluate(ctx, float(read_array(u, t, 1)[0]))

    def _eval2v(ctx: Context, u: Pointer, t: str = _type) -> None:
        _evaluate(ctx, *map(float, read_array(u, t, 2)))

    register(f"map1{_letter}", _map1)
    register(f"map2{_letter}", _map2)
    register(f"eval_coord1{_letter}", lambda ctx, u: _evaluate(ctx, float(u)))
    register(f"eval_coord2{_letter}", lambda ctx, u, v: _evaluate(ctx, float(u), float(v)))
    register(f"eval_coord1{_letter}v", _eval1v)
    register(f"eval_coord2{_letter}v", _eval2v)


def _grid1(ctx: Context, un: int, u1: float, u2: float) -> None:
    if un < 1:
        raise invalid_value("a grid has at least one segment")
    grid = ctx.evaluators.grids[1]
    grid.segments[0], grid.domain[:2] = un, [float(u1), float(u2)]


def _grid2(ctx: Context, un: int, u1: float, u2: float, vn: int, v1: float, v2: float) -> None:
    if un < 1 or vn < 1:
        raise invalid_value("a grid has at least one segment")
    grid = ctx.evaluators.grids[2]
    grid.segments[:], grid.domain[:] = [un, vn], [float(u1), float(u2), float(v1), float(v2)]


for _letter in "fd":
    register(f"map_grid1{_letter}", _grid1)
    register(f"map_grid2{_letter}", _grid2)


def _coordinate(grid: Grid, axis: int, i: int) -> float:
    low, high = grid.domain[2 * axis : 2 * axis + 2]
    n = grid.segments[axis]
    return high if i == n else low + i * (high - low) / n


@entry
def eval_point1(ctx: Context, i: int) -> None:
    _evaluate(ctx, _coordinate(ctx.evaluators.grids[1], 0, i))


@entry
def eval_point2(ctx: Context, i: int, j: int) -> None:
    grid = ctx.evaluators.grids[2]
    _evaluate(ctx, _coordinate(grid, 0, i), _coordinate(grid, 1, j))


MOST_POINTS = 1 << 18
"""Limit on the points of one mesh: each is evaluated on its own, and a call may ask for
billions.
"""


def _check_mesh(points: int) -> None:
    if points > MOST_POINTS:
        raise out_of_memory(f"a mesh of {points} points; {MOST_POINTS} are evaluated at most")


@entry
def eval_mesh1(ctx: Context, mode: int, i1: int, i2: int) -> None:
    if mode not in (GL.POINT, GL.LINE):
        raise invalid_enum(mode, "evaluator mesh mode")
    check_mode(ctx, GL.POINTS)
    if VertAttrib.POS not in ctx.evaluators.enabled(1):
        return
    _check_mesh(i2 + 1 - i1)
    ctx.immediate.begin(GL.POINTS if mode == GL.POINT else GL.LINE_STRIP)
    for i in range(i1, i2 + 1):
        eval_point1(ctx, i)
    ctx.immediate.end()


@entry
def eval_mesh2(ctx: Context, mode: int, i1: int, i2: int, j1: int, j2: int) -> None:
    if mode not in (GL.POINT, GL.LINE, GL.FILL):
        raise invalid_enum(mode, "evaluator mesh mode")
    check_mode(ctx, GL.POINTS)
    if VertAttrib.POS not in ctx.evaluators.enabled(2):
        return
    us, vs = range(i1, i2 + 1), range(j1, j2 + 1)
    _check_mesh(max(i2 + 1 - i1, 0) * max(j2 + 1 - j1, 0) * (1 if mode == GL.POINT else 2))
    strips: list[tuple[int, list[tuple[int, int]]]] = []
    if mode == GL.POINT:
        strips.append((GL.POINTS, [(i, j) for i in us for j in vs]))
    elif mode == GL.LINE:
        strips += [(GL.LINE_STRIP, [(i, j) for i in us]) for j in vs]
        strips += [(GL.LINE_STRIP, [(i, j) for j in vs]) for i in us]
    else:
        strips += [(GL.QUAD_STRIP, [(i, k) for i in us for k in (j, j + 1)]) for j in range(j1, j2)]
    for primitive, points in strips:
        ctx.immediate.begin(primitive)
        for i, j in points:
            eval_point2(ctx, i, j)
        ctx.immediate.end()


def _get_map(ctx: Context, target: int, query: int) -> list[float]:
    if target not in _MAPS:
        raise invalid_enum(target, "evaluator")
    found = ctx.evaluators.maps[target]
    if query == GL.COEFF:
        return [float(v) for v in found.points.reshape(-1)]
    if query == GL.ORDER:
        return [float(n) for n in found.points.shape[:-1]]
    if query == GL.DOMAIN:
        return list(found.domain)
    raise invalid_enum(query, "evaluator query")


def _sized(ctx: Context, target: int, query: int, room: int) -> list[float]:
    values = _get_map(ctx, target, query)
    if 4 * len(values) > room:
        raise invalid_operation(f"{room} bytes are too few for {len(values)} values")
    return values


register("get_mapfv", _get_map)
register("get_mapdv", _get_map)
register("get_mapiv", lambda c, t, q: [to_int(v, False) for v in _get_map(c, t, q)])
register("getn_mapfv", _sized)
register("getn_mapiv", lambda c, t, q, n: [to_int(v, False) for v in _sized(c, t, q, n)])
register("getn_mapdv", lambda c, t, q, n: _sized(c, t, q, n // 2))

gets(
    {
        "MAX_EVAL_ORDER": lambda c: MAX_ORDER,
        "MAP1_GRID_DOMAIN": lambda c: c.evaluators.grids[1].domain[:2],
        "MAP1_GRID_SEGMENTS": lambda c: c.evaluators.grids[1].segments[0],
        "MAP2_GRID_DOMAIN": lambda c: c.evaluators.grids[2].domain,
        "MAP2_GRID_SEGMENTS": lambda c: c.evaluators.grids[2].segments,
    },
    profiles="compat",
)
