"""Evaluators: polynomial maps from one or two parameters to vertices and their attributes.

`glEvalCoord` emits a vertex with the values of the enabled maps; the current attribute values do
not change. Meshes are in `meshes`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, dtype_of, read_array, read_bytes
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, to_int
from gallette.state_tracker.optional.compatibility.list_functions import reads
from gallette.state_tracker.vertices.current_attribs import set_current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

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


class Map:
    """Control points `[u, (v,) component]` over a domain."""

    def __init__(self, points: Any, domain: tuple[float, ...]) -> None:
        self.points: Array = points.astype(np.float64)
        self.domain = domain
        self.key = domain, points.shape, points.tobytes()
        """Equal for maps that are alike: programs define the same ones for each frame."""


@lazy_dataclass(frozen=True)
class Grid:
    """The points at which glEvalPoint and glEvalMesh evaluate."""

    segments: tuple[int, ...] = (1, 1)
    domain: tuple[float, ...] = (0.0, 1.0, 0.0, 1.0)

    def coordinates(self, axis: int, numbers: Any) -> Array:
        """The parameters of points; the last one is the end of the domain, exactly."""
        low, high = self.domain[2 * axis : 2 * axis + 2]
        n = self.segments[axis]
        number = np.asarray(numbers, np.float64)
        with np.errstate(all="ignore"):
            return np.where(number == n, high, low + number * (high - low) / n)


class EvaluatorState:
    """All maps and both grids."""

    def __init__(self, ctx: Context) -> None:
        self.__dict__.update(dict.fromkeys(_ENABLES.values(), False))
        self.maps = {
            target: Map(np.array([first]).reshape(*[1] * dims, -1), (0.0, 1.0) * dims)
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


def bernstein(order: int, t: Array) -> list[Array]:
    """The Bernstein polynomials of degree `order - 1` at each `t`."""
    powers, rest = [np.ones_like(t)], [np.ones_like(t)]
    for _ in range(order - 1):
        powers.append(powers[-1] * t)
        rest.append(rest[-1] * (1.0 - t))
    n = order - 1
    return [math.comb(n, i) * powers[i] * rest[n - i] for i in range(order)]


def slope(order: int, t: Array) -> list[Array]:
    """The derivatives of the Bernstein polynomials of degree `order - 1` at each `t`."""
    if order == 1:
        return [np.zeros_like(t)]
    lower = bernstein(order - 1, t)
    steps = zip([np.zeros_like(t), *lower], [*lower, np.zeros_like(t)], strict=True)
    return [(order - 1) * (before - after) for before, after in steps]


def _sum(weights: list[Array], points: Array) -> Array:
    """For each point of an axis of parameters the sum of one weight for each `points[i]`.

    The terms are added in order, so that an edge is the same in each mesh that has it.
    """
    shape = -1, *[1] * (points.ndim - 1)
    result: Array = weights[0].reshape(shape) * points[0]
    for weight, point in zip(weights[1:], points[1:], strict=True):
        result = result + weight.reshape(shape) * point
    return result


def _at(found: Map, parameters: tuple[Array, ...], along: int = -1) -> Array:
    """The map, or its derivative along one parameter, for each pair of parameters."""
    result = found.points
    for axis in reversed(range(len(parameters))):
        low, high = found.domain[2 * axis : 2 * axis + 2]
        way = slope if axis == along else bernstein
        weights = way(found.points.shape[axis], (parameters[axis] - low) / (high - low))
        result = _sum(weights, result.swapaxes(0, axis)).swapaxes(0, axis)
    return result


def _surface_normal(found: Map, parameters: tuple[Array, ...]) -> Array:
    """GL_AUTO_NORMAL: the cross product of the partial derivatives."""
    du, dv = _at(found, parameters, 0), _at(found, parameters, 1)
    if found.points.shape[-1] == 4:  # project the surface first
        p = _at(found, parameters)
        du = du[..., :3] * p[..., 3:] - p[..., :3] * du[..., 3:]
        dv = dv[..., :3] * p[..., 3:] - p[..., :3] * dv[..., 3:]
    normal = np.cross(du[..., :3], dv[..., :3])
    length = np.sqrt((normal * normal).sum(-1, keepdims=True))
    return np.asarray(normal / np.where(length, length, 1.0))


def evaluate(ctx: Context, *parameters: Array) -> dict[VertAttrib, Array]:
    """The values of the enabled maps for each pair of parameters, in the order in which a vertex
    sets them.
    """
    state = ctx.evaluators
    maps = state.enabled(len(parameters))
    position = maps.pop(VertAttrib.POS, None)
    with np.errstate(all="ignore"):
        values = {slot: _at(m, parameters) for slot, (_, m) in maps.items()}
        if position is not None and len(parameters) == 2 and state.auto_normal:
            values[VertAttrib.NORMAL] = _surface_normal(position[1], parameters)
        if position is not None:
            values[VertAttrib.POS] = _at(position[1], parameters)
    return values


def _vertex(ctx: Context, *parameters: float) -> None:
    """glEvalCoord: a vertex of the primitive being specified."""
    found = evaluate(ctx, *(np.array([p], np.float64) for p in parameters))
    values = {slot: tuple(value.reshape(-1).tolist()) for slot, value in found.items()}
    position = values.pop(VertAttrib.POS, None)
    saved = {slot: ctx.arrays.values[slot] for slot in values}
    for slot, value in values.items():
        set_current(ctx, int(slot), value)
        if slot is VertAttrib.COLOR0:
            ctx.lighting.track_color(ctx)
    if position is not None:
        ctx.immediate.vertex(position)
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
    ctx.evaluators.maps[target] = Map(flat[_places(size, orders, strides)], domain)


@lru_cache(maxsize=64)
def _places(size: int, orders: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Where the components of control points are."""
    index = np.arange(size)
    for order, stride in zip(reversed(orders), reversed(strides), strict=True):
        index = np.arange(order).reshape(-1, *[1] * index.ndim) * stride + index[None]
    return index


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
        _vertex(ctx, float(read_array(u, t, 1)[0]))

    def _eval2v(ctx: Context, u: Pointer, t: str = _type) -> None:
        _vertex(ctx, *map(float, read_array(u, t, 2)))

    register(f"map1{_letter}", _map1)
    register(f"map2{_letter}", _map2)
    register(f"eval_coord1{_letter}", lambda ctx, u: _vertex(ctx, float(u)))
    register(f"eval_coord2{_letter}", lambda ctx, u, v: _vertex(ctx, float(u), float(v)))
    register(f"eval_coord1{_letter}v", _eval1v)
    register(f"eval_coord2{_letter}v", _eval2v)


def _grid1(ctx: Context, un: int, u1: float, u2: float) -> None:
    if un < 1:
        raise invalid_value("a grid has at least one segment")
    ctx.evaluators.grids[1] = Grid((un,), (float(u1), float(u2)))


def _grid2(ctx: Context, un: int, u1: float, u2: float, vn: int, v1: float, v2: float) -> None:
    if un < 1 or vn < 1:
        raise invalid_value("a grid has at least one segment")
    ctx.evaluators.grids[2] = Grid((un, vn), (float(u1), float(u2), float(v1), float(v2)))


for _letter in "fd":
    register(f"map_grid1{_letter}", _grid1)
    register(f"map_grid2{_letter}", _grid2)


@entry
def eval_point1(ctx: Context, i: int) -> None:
    _vertex(ctx, float(ctx.evaluators.grids[1].coordinates(0, i)))


@entry
def eval_point2(ctx: Context, i: int, j: int) -> None:
    grid = ctx.evaluators.grids[2]
    _vertex(ctx, float(grid.coordinates(0, i)), float(grid.coordinates(1, j)))


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
        "MAP1_GRID_DOMAIN": lambda c: list(c.evaluators.grids[1].domain[:2]),
        "MAP1_GRID_SEGMENTS": lambda c: c.evaluators.grids[1].segments[0],
        "MAP2_GRID_DOMAIN": lambda c: list(c.evaluators.grids[2].domain),
        "MAP2_GRID_SEGMENTS": lambda c: list(c.evaluators.grids[2].segments),
    },
    profiles="compat",
)
