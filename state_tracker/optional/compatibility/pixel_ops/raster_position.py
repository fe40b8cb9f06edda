"""The current raster position: location and attributes for glDrawPixels and glBitmap.

A raster position is a vertex processed by fixed function: its window coordinates, colour, texture
coordinates and fog distance are stored, and whether it was inside the clip volume.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import InitVar
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.drawing.viewports import to_window
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.optional.compatibility.matrices import (
    TEXTURE_UNITS,
    coordinate_unit,
    inverse,
)

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.lighting import Light, Material

Vec = tuple[float, ...]
_ORIGIN: Vec = (0.0, 0.0, 0.0, 1.0)


@lazy_dataclass()
class RasterPosition:
    """Window coordinates (with clip w) and the associated data."""

    ctx: InitVar[Context]
    position: Vec = _ORIGIN
    valid: bool = True
    distance: float = 0.0
    color: Vec = (1.0, 1.0, 1.0, 1.0)
    secondary: Vec = (0.0, 0.0, 0.0, 1.0)
    index: float = 1.0
    unclipped: bool = False  # IBM_rasterpos_clip: valid outside of the clip volume, too
    texcoords: list[Vec] = field(default_factory=lambda: [_ORIGIN] * TEXTURE_UNITS)
    varyings: Any = field(init=False, compare=False)
    """Colours, fog distance and texture coordinates as one array, for all rectangles drawn here."""

    def __post_init__(self, ctx: Context) -> None:
        self.gather()

    def gather(self) -> None:
        """Derive `varyings`."""
        coordinates = itertools.chain(*self.texcoords)
        self.varyings = np.array([*self.color, *self.secondary, self.distance, *coordinates])


def set_from_object(ctx: Context, values: Vec) -> None:
    """glRasterPos: a vertex in object coordinates."""
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    with np.errstate(all="ignore"):  # coordinates may have any value
        _transform(ctx, values)


def _transform(ctx: Context, values: Vec) -> None:
    raster = ctx.raster_position
    point = np.array(values + (0.0, 0.0, 0.0, 1.0)[len(values) :], np.float64)
    eye = ctx.matrices.modelview[-1] @ point
    clip = ctx.matrices.projection[-1] @ eye
    raster.valid = raster.unclipped or _inside(ctx, eye, clip)
    if not raster.valid:
        return
    raster.position = to_window(ctx, clip)
    if ctx.lighting.fog_source == GL.FOG_COORD:
        raster.distance = float(ctx.arrays.values[VertAttrib.FOG][0])
    else:
        raster.distance = abs(float(eye[2]))
    raster.color, raster.secondary = _colors(ctx, eye)
    raster.index = float(ctx.arrays.values[VertAttrib.COLOR_INDEX][0])
    raster.texcoords = _texcoords(ctx, point, eye)
    raster.gather()
    ctx.rendering.raster_position()


def _inside(ctx: Context, eye: Any, clip: Any) -> bool:
    """Whether the point is inside the view volume and every user clip plane."""
    x, y, z, w = map(float, clip)
    nearest = 0.0 if ctx.raster.clip_depth == GL.ZERO_TO_ONE else -w
    if not (w > 0.0 and abs(x) <= w and abs(y) <= w):
        return False
    if not (ctx.raster.depth_clamp or nearest <= z <= w):
        return False
    planes = ctx.raster.clip_planes
    return all(
        float(np.dot(planes[i], eye)) >= 0.0
        for i in range(len(planes))
        if ctx.raster.clip_planes_enabled >> i & 1
    )


def set_from_window(ctx: Context, values: Vec) -> None:
    """glWindowPos: set window coordinates directly."""
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    raster, state = ctx.raster_position, ctx.arrays
    near, far = ctx.raster.depth_ranges[0]
    z = min(max(values[2] if len(values) > 2 else 0.0, 0.0), 1.0)
    raster.position = (values[0], values[1], near + z * (far - near), 1.0)
    raster.valid = True
    from_coordinate = ctx.lighting.fog_source == GL.FOG_COORD
    raster.distance = float(state.values[VertAttrib.FOG][0]) if from_coordinate else 0.0
    raster.color = _clamped(ctx, state.values[VertAttrib.COLOR0])
    raster.secondary = _clamped(ctx, state.values[VertAttrib.COLOR1])
    raster.index = float(state.values[VertAttrib.COLOR_INDEX][0])
    raster.texcoords = [state.values[VertAttrib.TEX0 + unit] for unit in range(TEXTURE_UNITS)]
    raster.gather()
    ctx.rendering.raster_position()


# -- fixed-function processing ---------------------------------------------------------------------


def _clamped(ctx: Context, color: Vec) -> Vec:
    if ctx.fragment.clamp_vertex_color == GL.FALSE:
        return tuple(float(v) for v in color)
    return tuple(min(max(float(v), 0.0), 1.0) for v in color)


def _colors(ctx: Context, eye: Any) -> tuple[Vec, Vec]:
    values, state = ctx.arrays.values, ctx.lighting
    if not state.enabled:
        return _clamped(ctx, values[VertAttrib.COLOR0]), _clamped(ctx, values[VertAttrib.COLOR1])
    normal = _eye_normal(ctx)
    if state.normalize:
        normal = _unit(normal)
    elif state.rescale_normal:
        normal = normal * ctx.matrices.normal_scale
    material = state.materials[0]
    ambient = np.array(material.ambient)
    primary = np.array(material.emission) + ambient * np.array(state.model_ambient)
    specular = np.zeros(4)
    for light in state.lights:
        if light.enabled:
            diffuse_part, specular_part = _lit(ctx, light, material, normal, eye)
            primary = primary + diffuse_part
            specular = specular + specular_part
    if state.color_control != GL.SEPARATE_SPECULAR_COLOR:
        primary, specular = primary + specular, np.zeros(4)
    primary[3] = material.diffuse[3]
    return _clamped(ctx, tuple(primary.tolist())), _clamped(ctx, (*specular[:3].tolist(), 1.0))


def _unit(vector: Any) -> Any:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _lit(ctx: Context, light: Light, material: Material, normal: Any, eye: Any) -> tuple[Any, Any]:
    """The diffuse (with ambient) and the specular part of one light."""
    position = np.array(light.position)
    attenuation = 1.0
    if position[3] == 0.0:
        to = _unit(position[:3])
    else:
        offset = position[:3] / position[3] - eye[:3] / (eye[3] or 1.0)
        distance = float(np.linalg.norm(offset))
        to = _unit(offset)
        k0, k1, k2 = (
            light.constant_attenuation,
            light.linear_attenuation,
            light.quadratic_attenuation,
        )
        attenuation = 1.0 / ((k0 + k1 * distance + k2 * distance * distance) or 1.0)
    if light.spot_cutoff != 180.0:
        spot = float(np.dot(-to, _unit(np.array(light.spot_direction))))
        attenuation *= spot**light.spot_exponent if spot >= light.spot_cos_cutoff else 0.0
    facing = max(float(np.dot(normal, to)), 0.0)
    viewer = -_unit(eye[:3]) if ctx.lighting.local_viewer else np.array([0.0, 0.0, 1.0])
    half = max(float(np.dot(normal, _unit(to + viewer))), 0.0)
    shine = 1.0 if material.shininess == 0.0 else math.pow(half, material.shininess)
    diffuse = np.array(material.ambient) * np.array(light.ambient)
    diffuse = diffuse + facing * np.array(material.diffuse) * np.array(light.diffuse)
    specular = np.array(material.specular) * np.array(light.specular) * shine
    return attenuation * diffuse, attenuation * specular * (facing > 0.0)


def _texcoords(ctx: Context, point: Any, eye: Any) -> list[Vec]:
    """Of all units at once: programs that draw text set the position for each line."""
    values, enabled = ctx.arrays.values, ctx.lighting.texgen_enabled
    given = [
        _generated(ctx, unit, point, eye) if any(enabled[unit]) else values[VertAttrib.TEX0 + unit]
        for unit in range(TEXTURE_UNITS)
    ]
    matrices = np.stack([stack[-1] for stack in ctx.matrices.texture[:TEXTURE_UNITS]])
    moved = matrices @ np.array(given, np.float64)[:, :, None]
    return list(map(tuple, moved[:, :, 0].tolist()))


def _generated(ctx: Context, unit: int, point: Any, eye: Any) -> list[float]:
    values = list(ctx.arrays.values[VertAttrib.TEX0 + unit])
    gen, enabled = ctx.lighting.texgen[unit], ctx.lighting.texgen_enabled[unit]
    reflection = _reflection(ctx, eye)
    m = 2.0 * float(np.linalg.norm(reflection + np.array([0.0, 0.0, 1.0]))) or 1.0
    for i, on in enumerate(enabled):
        if not on:
            continue
        mode = gen[i].mode
        if mode == GL.OBJECT_LINEAR:
            values[i] = float(np.dot(gen[i].object_plane, point))
        elif mode == GL.EYE_LINEAR:
            values[i] = float(np.dot(gen[i].eye_plane, eye))
        elif mode == GL.SPHERE_MAP and i < 2:
            values[i] = float(reflection[i]) / m + 0.5
        elif mode == GL.REFLECTION_MAP and i < 3:
            values[i] = float(reflection[i])
        elif mode == GL.NORMAL_MAP and i < 3:
            values[i] = float(_eye_normal(ctx)[i])
    return values


def _eye_normal(ctx: Context) -> Any:
    return inverse(ctx.matrices.modelview[-1])[:3, :3].T @ np.array(
        ctx.arrays.values[VertAttrib.NORMAL][:3], np.float64
    )


def _reflection(ctx: Context, eye: Any) -> Any:
    normal = _eye_normal(ctx)
    direction = _unit(eye[:3])
    return direction - 2.0 * normal * float(np.dot(normal, direction))


# -- entry points ----------------------------------------------------------------------------------

_TYPES = {"s": "short", "i": "int", "f": "float", "d": "double"}


def _register_families() -> None:
    for name, counts, store, suffixes in (
        ("raster_pos", (2, 3, 4), set_from_object, ("",)),
        ("window_pos", (2, 3), set_from_window, ("",)),
        ("window_pos", (4,), set_from_window, ("_mesa",)),
    ):
        for count in counts:
            for letter, gl_type in _TYPES.items():

                def by_value(ctx: Context, *values: Any, store: Any = store) -> None:
                    store(ctx, tuple(float(v) for v in values))

                def by_pointer(
                    ctx: Context, v: Pointer, n: int = count, t: str = gl_type, store: Any = store
                ) -> None:
                    store(ctx, tuple(float(x) for x in read_array(v, t, n)))

                for suffix in suffixes:
                    register(f"{name}{count}{letter}{suffix}", by_value)
                    register(f"{name}{count}{letter}v{suffix}", by_pointer)


_register_families()


def _texture_coordinates(ctx: Context) -> Vec:
    return ctx.raster_position.texcoords[coordinate_unit(ctx)]


gets(
    {
        "CURRENT_RASTER_TEXTURE_COORDS": _texture_coordinates,
    },
    profiles="compat",
)
