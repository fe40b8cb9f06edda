"""Functions with 16.16 fixed-point arguments, and ES 1.1's own names for functions of floats.

Each calls its float version with numbers divided (or, for results, multiplied) by 65536. Enum
parameters, such as a fog mode, are passed unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import implemented, register
from gallette.state_tracker.getters import query, to_int

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

FIXED_ONE = 65536

# Parameters whose values are enums or booleans.
_NAMES = frozenset(
    (
        GL.FOG_MODE, GL.LIGHT_MODEL_TWO_SIDE, GL.TEXTURE_ENV_MODE, GL.COMBINE_RGB, GL.COMBINE_ALPHA,
        *(getattr(GL, f"SOURCE{i}_{k}") for i in range(3) for k in ("RGB", "ALPHA")),
        *(getattr(GL, f"OPERAND{i}_{k}") for i in range(3) for k in ("RGB", "ALPHA")),
        GL.COORD_REPLACE, GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER, GL.TEXTURE_WRAP_S,
        GL.TEXTURE_WRAP_T, GL.GENERATE_MIPMAP, GL.TEXTURE_CROP_RECT_OES, GL.TEXTURE_GEN_MODE,
    )
)  # fmt: skip


def _to_float(pname: int | None, value: int) -> float:
    return float(value) if pname in _NAMES else value / FIXED_ONE


def to_fixed(pname: int | None, value: float) -> int:
    """A query result: rounded, and clamped to 32 bits."""
    if pname in _NAMES:
        return int(value)
    return to_int(value * FIXED_ONE, False)


def _plain(name: str, twin: str) -> None:
    """Register a function whose numbers are passed by value."""
    function, inner = FUNCTIONS[name], implemented(twin)
    fixed = [p.type == "fixed" for p in function.params]
    which = next((i for i, p in enumerate(function.params) if p.name == "pname"), None)

    def call(ctx: Context, *args: Any) -> Any:
        pname = args[which] if which is not None else None
        values = (_to_float(pname, a) if f else a for a, f in zip(args, fixed, strict=True))
        return inner(ctx, *values)

    register(function.method, call)


def _counted(pname: int) -> int:
    return {GL.SPOT_DIRECTION: 3, GL.POINT_DISTANCE_ATTENUATION: 3}.get(pname, 4)


_FOURS = frozenset(
    (
        GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR, GL.EMISSION, GL.AMBIENT_AND_DIFFUSE, GL.POSITION,
        GL.SPOT_DIRECTION, GL.FOG_COLOR, GL.LIGHT_MODEL_AMBIENT, GL.TEXTURE_ENV_COLOR,
        GL.POINT_DISTANCE_ATTENUATION, GL.TEXTURE_CROP_RECT_OES,
    )
)  # fmt: skip


def _vector(name: str, twin: str, size: int = 0) -> None:
    """Register a function whose numbers are passed by pointer: the parameter's count, or `size`."""
    function, inner = FUNCTIONS[name], implemented(twin)
    which = next((i for i, p in enumerate(function.params) if p.name == "pname"), None)

    def call(ctx: Context, *args: Any) -> Any:
        *front, pointer = args
        pname = front[which] if which is not None else None
        count = size or (_counted(pname) if pname in _FOURS else 1)
        values = [_to_float(pname, v) for v in read_array(pointer, "fixed", count).tolist()]
        return inner(ctx, *front, values)

    register(function.method, call)


def _query(name: str, twin: str) -> None:
    function, inner = FUNCTIONS[name], implemented(twin)

    def call(ctx: Context, *args: Any) -> list[int]:
        pname = args[-1] if function.params[len(args) - 1].name == "pname" else None
        return [to_fixed(pname, v) for v in inner(ctx, *args)]

    register(function.method, call)


for _name in (
    "AlphaFunc",
    "ClearColor",
    "LineWidth",
    "PointSize",
    "PolygonOffset",
    "SampleCoverage",
):
    _plain(f"{_name}x", _name)
for _name in ("Frustum", "Ortho"):
    _plain(f"{_name}x", _name)
    register(FUNCTIONS[f"{_name}f"].method, implemented(_name))
for _name in ("ClearDepth", "Color4", "DepthRange", "Fog", "LightModel", "Light", "Material",
              "MultiTexCoord4", "Normal3", "PointParameter", "Rotate", "Scale", "TexEnv",
              "TexParameter", "Translate"):  # fmt: skip
    _plain(f"{_name}x", f"{_name}f")
for _name in ("Fog", "LightModel", "Light", "Material", "PointParameter", "TexEnv", "TexParameter"):
    _vector(f"{_name}xv", f"{_name}fv")
for _name in ("LoadMatrix", "MultMatrix"):
    _vector(f"{_name}x", f"{_name}f", 16)
for _name in ("GetLight", "GetMaterial", "GetTexEnv", "GetTexParameter"):
    _query(f"{_name}xv", f"{_name}fv")
_vector("ClipPlanex", "ClipPlane", 4)
_query("GetClipPlanex", "GetClipPlane")
register("get_clip_planef", implemented("GetClipPlane"))


def _clip_planef(ctx: Context, p: int, equation: Pointer) -> None:
    implemented("ClipPlane")(ctx, p, read_array(equation, "float", 4).tolist())


register("clip_planef", _clip_planef)


def _get_fixedv(ctx: Context, pname: int) -> list[int]:
    return [to_fixed(None, float(v)) for v in query(ctx, pname)]


register("get_fixedv", _get_fixedv)
